#pragma once

#include <string>

namespace tutti::test {

/// Expects `text` to equal tests/golden/<name>, byte for byte. With TUTTI_UPDATE_GOLDEN=1 in the
/// environment the file is written instead.
void expect_golden(const std::string& name, const std::string& text);

}  // namespace tutti::test
