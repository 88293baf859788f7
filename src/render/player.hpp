#pragma once

#include <string_view>

/// The HTML, CSS and JavaScript of the player, from src/render/player, compiled in.
namespace tutti::render {

/// The page template, with {name} placeholders for its parts.
[[nodiscard]] std::string_view player_page();
[[nodiscard]] std::string_view player_style();
[[nodiscard]] std::string_view player_script();

}  // namespace tutti::render
