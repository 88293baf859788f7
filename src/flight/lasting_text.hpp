#pragma once

#include <string_view>

namespace tutti {

/// Interns a text: returns a zero-terminated copy that is never freed, so that a signal handler may
/// read it at any time. Equal texts share one copy.
[[nodiscard]] const char* lasting_text(std::string_view text);

}  // namespace tutti
