#pragma once

#include <string_view>

namespace tutti {

/// The text with a zero at its end, at a place where it stays as long as the program: a signal
/// handler may read it at any moment. Equal texts have one place, and none is ever given back.
[[nodiscard]] const char* lasting_text(std::string_view text);

}  // namespace tutti
