#pragma once

#include <set>
#include <string>
#include <string_view>

/// The colours and letters of all drawings, in light and in dark.
namespace tutti::render {

/// How many colours series have, one after the other: "series-0" … "series-6". They stay apart for
/// those who do not tell red from green, and in grey.
inline constexpr std::size_t series_colours = 7;

/// How many steps "heat-0" … "heat-6" have, from idle to busiest.
inline constexpr std::size_t heat_steps = 7;

/// How many colours ranks have: "rank-0" … "rank-15".
inline constexpr std::size_t rank_colours = 16;

/// The rules for the classes named. A colour's class paints the inside: "ink"; with "-line" after
/// it, the outline: "ink-line". A class that no rule is for is only a name to find an element by.
[[nodiscard]] std::string style_sheet(const std::set<std::string, std::less<>>& classes);

}  // namespace tutti::render
