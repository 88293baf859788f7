#include "web/facade/symbolic_play.hpp"

#include "verify/findings.hpp"

namespace tutti::web {

SymbolicPlay::SymbolicPlay(const Schedule& schedule)
    : schedule_(schedule),
      messages_(schedule),
      run_(schedule, messages_, Aliasing::out_of_place),
      events_(order_by_round(schedule)) {}

Symbol SymbolicPlay::input(Rank rank, Chunk chunk) const {
  return run_.at(rank, Buffer::input, chunk);
}

std::vector<Change> SymbolicPlay::advance() {
  std::vector<Change> changes;
  Findings ignored;  // A damaged schedule may read what was never written.
  for (; next_ < events_.size(); ++next_) {
    const auto& [rank, index] = events_[next_];
    const Step step = schedule_.program(rank)[index];
    if (step.round != round_) break;
    run_.make(rank, index, ignored);
    for (const Placement::Piece& piece : run_.placement(rank).pieces(index)) {
      for (std::uint64_t i = 0; i < piece.chunks.count; ++i) {
        const Chunk chunk{piece.chunks.first.index() + i};
        changes.push_back({.rank = rank,
                           .chunk = chunk,
                           .variant = step.variant,
                           .symbol = run_.at(rank, piece.to, chunk, step.variant)});
      }
    }
  }
  ++round_;
  return changes;
}

}  // namespace tutti::web
