#pragma once

#include <string>

namespace tutti::cli {

/// The absolute path of the running program. Throws unsupported if it is not known.
[[nodiscard]] std::string own_program();

}  // namespace tutti::cli
