#pragma once

#include <cstdint>
#include <memory>

#include <tutti/export.hpp>
#include <tutti/schedule/schedule.hpp>
#include <tutti/schedule/symbols.hpp>

namespace tutti {

/// A schedule run on symbols, round by round, to see what every rank holds in between.
class TUTTI_API Trace {
 public:
  /// Throws invalid_argument with the first violation unless verify() passes the schedule, which
  /// must outlive the trace.
  explicit Trace(const Schedule& schedule);
  ~Trace();
  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;

  /// How many rounds have been run.
  [[nodiscard]] std::uint32_t round() const;
  /// Runs the next round. Requires: round() < schedule.rounds().
  void advance();

  /// The present version of a chunk, or of another variant of it, on a rank; Symbols::nothing if
  /// the rank has none.
  [[nodiscard]] Symbol held(Rank rank, Chunk chunk, Variant variant = {}) const;
  [[nodiscard]] const Symbols& symbols() const;

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace tutti
