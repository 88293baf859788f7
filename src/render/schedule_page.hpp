#pragma once

#include <string>

#include "render/caption.hpp"
#include "render/storyboard.hpp"

namespace tutti::render {

/// An HTML page that plays the schedule round by round. It is self-contained: it fetches nothing
/// and works offline.
[[nodiscard]] std::string schedule_page(const Storyboard& story, const Caption& caption);

}  // namespace tutti::render
