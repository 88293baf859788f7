#pragma once

#include <cstdint>
#include <vector>

#include <tutti/schedule/schedule.hpp>
#include <tutti/schedule/symbols.hpp>

#include "schedule/messages.hpp"
#include "verify/order.hpp"
#include "verify/symbolic_run.hpp"

namespace tutti::web {

/// A version of a chunk that a rank made.
struct Change {
  Rank rank{};
  Chunk chunk{};
  Variant variant{};
  Symbol symbol{};
};

/// A symbolic run, round by round, as the changes of each round. Unlike Trace it also runs damaged
/// schedules. Requires: every send meets a receive of the same chunks in the same round.
class SymbolicPlay {
 public:
  explicit SymbolicPlay(const Schedule& schedule);

  [[nodiscard]] const Symbols& symbols() const { return run_.symbols(); }
  /// The contribution of a rank to a chunk of its input.
  [[nodiscard]] Symbol input(Rank rank, Chunk chunk) const;
  /// Runs the next round.
  [[nodiscard]] std::vector<Change> advance();

 private:
  const Schedule& schedule_;
  Messages messages_;
  SymbolicRun run_;
  std::vector<Event> events_;
  std::size_t next_ = 0;
  std::uint32_t round_ = 0;
};

}  // namespace tutti::web
