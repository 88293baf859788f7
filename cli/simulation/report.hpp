#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tutti/network/network.hpp>
#include <tutti/schedule/schedule_source.hpp>
#include <tutti/sim/simulation.hpp>

namespace tutti::cli {

/// One simulation and what it was of.
struct SimReport {
  std::string name;
  Contract contract{};
  std::uint64_t size = 0;
  Simulation simulation{};
  std::optional<double> part_of_optimum{};
};

/// "73.2 %", or "" where the optimum is not known.
[[nodiscard]] std::string percent(std::optional<double> part);

/// For people: when it ends, the busiest links, and what the time consists of.
[[nodiscard]] std::string report_text(const SimReport& report, const Network& network);

/// The same and all details, as JSON.
[[nodiscard]] std::string report_json(const SimReport& report, const Network& network);

}  // namespace tutti::cli
