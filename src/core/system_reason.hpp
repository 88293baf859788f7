#pragma once

#include <string>

namespace tutti {

/// Why the system refused something, by its error number; with the cure where a limit of this
/// process is the cause: "Too many open files: raise the limit (ulimit -n), which is 256".
[[nodiscard]] std::string system_reason(int error);

/// The cure alone where descriptors are short: "raise the limit (ulimit -n), which is 256".
[[nodiscard]] std::string raise_descriptor_limit();

}  // namespace tutti
