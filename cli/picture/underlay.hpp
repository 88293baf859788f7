#pragma once

#include <cstdint>
#include <string>

#include <tutti/network/network.hpp>

#include "cli/picture/drawn_schedule.hpp"

/// Schedules drawn on the network that they run on.
namespace tutti::cli {

/// How to draw a schedule on a network.
struct UnderlayOptions {
  std::string size = "1MiB";
  std::string alpha = "0";
  std::string gamma = "0";
  std::uint32_t ports = 1;
  std::string routes = "automatic";
  std::string place = "order";
};

/// The load of every link, as an SVG document.
[[nodiscard]] std::string draw_load(const DrawnSchedule& drawn, const Network& network,
                                    const UnderlayOptions& options);

/// The timeline of a simulation, as an SVG document.
[[nodiscard]] std::string draw_timeline(const DrawnSchedule& drawn, const Network& network,
                                        const UnderlayOptions& options);

}  // namespace tutti::cli
