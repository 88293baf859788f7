#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/schedule/contract.hpp>
#include <tutti/schedule/program.hpp>

namespace tutti {

/// A collective algorithm as data: what each rank sends, receives and reduces.
///
/// A value: it holds no pointer, socket or clock, so the one object can be verified, priced,
/// simulated, drawn and executed, and two can be compared with ==.
struct Schedule {
  /// The display name: "allreduce/ring".
  std::string name;
  /// The result that it must achieve.
  Contract contract;
  /// programs[r] is the program of rank r.
  std::vector<Program> programs;

  /// The number of rounds.
  [[nodiscard]] TUTTI_API std::uint32_t rounds() const;

  [[nodiscard]] const Program& program(Rank rank) const { return programs[rank]; }

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

}  // namespace tutti
