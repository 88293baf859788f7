#pragma once

#include <string>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/network/network.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule.hpp>
#include <tutti/sim/simulation.hpp>

/// Schedules, networks and simulations as pictures and text, as `tutti draw` and `tutti explain`
/// write them. Each function throws unsupported if the drawing would be too large to read, and
/// invalid_argument with the first violation if the schedule is wrong.
namespace tutti {

/// The title of a drawing and the lines below it. An empty title stands for the name of the
/// subject.
struct DrawingText {
  std::string title{};
  std::vector<std::string> lines{};
};

/// One picture per round: what every rank holds after it, and arrows for its messages. An SVG
/// document.
[[nodiscard]] TUTTI_API std::string draw_rounds(const Schedule& schedule,
                                                const DrawingText& text = {});
/// A self-contained HTML page that plays the schedule round by round.
[[nodiscard]] TUTTI_API std::string draw_player(const Schedule& schedule,
                                                const DrawingText& text = {});
/// The schedule in words, round by round. `summary` and `order` are those of its algorithm.
[[nodiscard]] TUTTI_API std::string explain(const Schedule& schedule,
                                            const std::string& summary = {},
                                            const std::string& order = {});

/// A network. An SVG document.
[[nodiscard]] TUTTI_API std::string draw_network(const Network& network,
                                                 const DrawingText& text = {});
/// A network with the load that one run of the schedule puts on its links.
[[nodiscard]] TUTTI_API std::string draw_load(const Schedule& schedule, const Layout& layout,
                                              const Network& network, Routes& routes,
                                              const DrawingText& text = {});

/// A simulation over time: the messages and reductions of each rank. An SVG document.
/// Requires: SimulationSettings::records was set.
[[nodiscard]] TUTTI_API std::string draw_timeline(const Simulation& simulation,
                                                  const Network& network,
                                                  const DrawingText& text = {});

}  // namespace tutti
