#pragma once

#include <set>
#include <string>
#include <string_view>

/// The colours and fonts of all drawings, light and dark.
namespace tutti::render {

/// The number of colours of series: "series-0" … "series-6". They can be told apart by colour-blind
/// readers and in grey.
inline constexpr std::size_t series_colours = 7;

/// The number of steps "heat-0" … "heat-6", from idle to busiest.
inline constexpr std::size_t heat_steps = 7;

/// The number of colours of ranks: "rank-0" … "rank-15".
inline constexpr std::size_t rank_colours = 16;

/// The CSS rules of the given classes. The class of a colour fills a shape: "ink"; with the suffix
/// "-line" it colours the outline: "ink-line". A class without a rule only names elements.
[[nodiscard]] std::string style_sheet(const std::set<std::string, std::less<>>& classes);

}  // namespace tutti::render
