#pragma once

#include <string>

#include "render/caption.hpp"
#include "render/storyboard.hpp"

namespace tutti::render {

/// A page that plays the story round by round in a browser. It holds all it needs: nothing is
/// fetched, so it works from a disk and in years to come.
[[nodiscard]] std::string schedule_page(const Storyboard& story, const Caption& caption);

}  // namespace tutti::render
