#pragma once

#include <string_view>

/// What makes a drawing play in a browser. It is written in the browser's own languages, in
/// src/render/player, and compiled in.
namespace tutti::render {

/// The page, with names in braces where the parts of it belong.
[[nodiscard]] std::string_view player_page();
[[nodiscard]] std::string_view player_style();
[[nodiscard]] std::string_view player_script();

}  // namespace tutti::render
