#pragma once

#include <string>

namespace tutti {

/// The text of a system error number, with the cure if a limit of this process is the cause: "Too
/// many open files: raise the limit (ulimit -n), which is 256".
[[nodiscard]] std::string system_reason(int error);

/// The cure for a lack of descriptors: "raise the limit (ulimit -n), which is 256".
[[nodiscard]] std::string raise_descriptor_limit();

}  // namespace tutti
