#pragma once

#include <span>
#include <string>
#include <string_view>

#include <tutti/collective.hpp>
#include <tutti/export.hpp>
#include <tutti/schedule/problem.hpp>
#include <tutti/schedule/schedule.hpp>
#include <tutti/schedule/schedule_traits.hpp>

namespace tutti {

/// How many dimensions of a shape an algorithm heeds: none, or from `least` to `most`.
struct DimensionRange {
  std::uint32_t least = 0;
  std::uint32_t most = 0;
};

/// A way to do a collective: a pure function from a problem to a schedule.
struct Algorithm {
  /// At once the source file, the command-line argument, the golden file and the anchor in the
  /// documentation: "allreduce/ring".
  std::string_view name;
  Collective collective;
  std::string_view summary;
  /// In which order contributions are added; empty where nothing is.
  std::string_view order;
  DimensionRange dimensions;
  /// Of its schedules for all problems together.
  ScheduleTraits traits{};
  /// How many chunks it cuts the data into.
  std::uint64_t (*chunks)(const Problem& problem);
  /// The part of one rank, built alone in time and memory proportional to its own steps.
  /// Requires: refusal(problem) is empty and self is one of its ranks. See program().
  Program (*build)(const Problem& problem, Rank self);
  /// Which problems of its dimensions it has a schedule for; null is all of them. `limits` says the
  /// same in words: "a power of two ranks".
  bool (*supports)(const Problem& problem) = nullptr;
  std::string_view limits{};

  [[nodiscard]] bool needs_shape() const { return dimensions.most > 0; }

  /// Why it has no schedule for this problem, and what to ask instead; empty if it has one.
  [[nodiscard]] TUTTI_API std::string refusal(const Problem& problem) const;

  /// What its schedule for the problem achieves. Throws unsupported with the refusal.
  [[nodiscard]] TUTTI_API Contract contract(const Problem& problem) const;
  /// The part of `self`. Throws unsupported with the refusal.
  [[nodiscard]] TUTTI_API Program program(const Problem& problem, Rank self) const;
  /// The parts of all ranks. Throws unsupported with the refusal.
  [[nodiscard]] TUTTI_API Schedule schedule(const Problem& problem) const;
};

/// Every algorithm, grouped by collective. Being in this table enrols an algorithm in every test,
/// command and document.
[[nodiscard]] TUTTI_API std::span<const Algorithm> algorithms();

/// Those for one collective.
[[nodiscard]] TUTTI_API std::span<const Algorithm> algorithms(Collective collective);

/// The algorithm of that name. Throws invalid_argument that suggests the nearest name.
[[nodiscard]] TUTTI_API const Algorithm& algorithm(std::string_view name);

}  // namespace tutti
