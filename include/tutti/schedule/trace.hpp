#pragma once

#include <cstdint>
#include <memory>

#include <tutti/export.hpp>
#include <tutti/schedule/schedule.hpp>
#include <tutti/schedule/symbols.hpp>

namespace tutti {

/// Runs a schedule on symbols, round by round, to show what every rank holds after each round.
class TUTTI_API Trace {
 public:
  /// Throws invalid_argument with the first violation if verify() fails. The schedule must outlive
  /// the trace.
  explicit Trace(const Schedule& schedule);
  ~Trace();
  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;

  /// The number of rounds that have run.
  [[nodiscard]] std::uint32_t round() const;
  /// Runs the next round. Requires: round() < schedule.rounds().
  void advance();

  /// The current version of a variant of a chunk on a rank; Symbols::nothing if the rank has none.
  [[nodiscard]] Symbol held(Rank rank, Chunk chunk, Variant variant = {}) const;
  [[nodiscard]] const Symbols& symbols() const;

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace tutti
