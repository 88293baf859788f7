#pragma once

namespace tutti::test {

/// From the fault to the error, and from the error to the first correct result.
constexpr double notice_s = 1;
constexpr double recover_s = 1;

}  // namespace tutti::test
