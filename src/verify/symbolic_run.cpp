#include "verify/symbolic_run.hpp"

namespace tutti {

class SymbolicRun::Walk {
 public:
  explicit Walk(std::span<const Placement::Piece> pieces) : pieces_(pieces) {}

  [[nodiscard]] const Placement::Piece& piece() const { return pieces_[piece_]; }
  [[nodiscard]] Chunk chunk() const { return Chunk{piece().chunks.first.index() + offset_}; }
  [[nodiscard]] bool done() const { return piece_ == pieces_.size(); }
  void next() {
    if (++offset_ < piece().chunks.count) return;
    offset_ = 0;
    ++piece_;
  }

 private:
  std::span<const Placement::Piece> pieces_;
  std::size_t piece_ = 0;
  std::uint64_t offset_ = 0;
};

SymbolicRun::SymbolicRun(const Schedule& schedule, const Messages& messages, Aliasing aliasing)
    : schedule_(schedule), messages_(messages) {
  const Contract& contract = schedule.contract;
  ranks_.reserve(contract.ranks);
  for (std::uint32_t r = 0; r < contract.ranks; ++r) {
    const Rank self{r};
    const Program& program = schedule.program(self);
    PerRank& rank =
        ranks_.emplace_back(PerRank{.placement = place(program, contract, self, aliasing),
                                    .memory = {program, contract, self, aliasing},
                                    .values = {}});
    rank.values.assign(rank.memory.size(), Symbols::nothing);
    const ChunkSeries input = contract.input(self);
    for (std::uint64_t i = 0; i < input.count; ++i) {
      rank.values[rank.memory(Buffer::input, input[i])] = symbols_.contribution(self, input[i]);
    }
    copy(rank, rank.placement.before());
  }
}

void SymbolicRun::make(Rank self, std::size_t step_index, Findings& findings) {
  PerRank& rank = ranks_[self];
  const Step step = schedule_.program(self)[step_index];
  const std::span<const std::uint32_t> senders = messages_.counterparts(self, step_index);

  std::vector<Walk> sources;
  for (std::size_t k = 0; k < senders.size(); ++k) {
    sources.emplace_back(ranks_[step.peers[k]].placement.pieces(senders[k]));
  }
  std::vector<Symbol> operands;
  for (Walk target(rank.placement.pieces(step_index)); !target.done(); target.next()) {
    const Chunk chunk = target.chunk();
    operands.clear();
    const auto take = [&](const PerRank& from, Buffer buffer, Variant variant,
                          const Findings::Place& reader) {
      const Symbol value = from.values[from.memory(buffer, chunk, variant)];
      if (value == Symbols::nothing) {
        const std::string what = variant == Variant{}
                                     ? "its " + std::string(name(buffer))
                                     : "variant " + std::to_string(variant.index());
        findings.add(Violation::Kind::unwritten, reader,
                     "reads " + what + ", which was never written");
      }
      operands.push_back(value);
    };
    const auto take_own = [&](Variant variant) {
      take(rank, target.piece().from, variant,
           {.rank = self, .round = step.round, .step = step_index, .chunk = chunk});
    };
    for (std::size_t k = 0; k < senders.size(); ++k) {
      if (step.own == k) take_own(step.own_variant);
      const Rank peer = step.peers[k];
      const Step sent = schedule_.program(peer)[senders[k]];
      take(ranks_[peer], sources[k].piece().from, sent.variant,
           {.rank = peer, .round = sent.round, .step = senders[k], .chunk = chunk});
      sources[k].next();
    }
    if (step.own == senders.size()) take_own(step.own_variant);
    for (const Variant source : step.sources) take_own(source);
    rank.values[rank.memory(target.piece().to, chunk, step.variant)] =
        operands.size() == 1 ? operands.front() : symbols_.fold(operands);
  }
}

Symbol SymbolicRun::at(Rank rank, Buffer buffer, Chunk chunk, Variant variant) const {
  const PerRank& own = ranks_[rank];
  return own.values[own.memory(buffer, chunk, variant)];
}

void SymbolicRun::copy_aside() {
  for (PerRank& rank : ranks_) copy(rank, rank.placement.aside());
}

void SymbolicRun::copy(PerRank& rank, std::span<const Placement::Copy> copies) {
  for (Walk walk(copies); !walk.done(); walk.next()) {
    rank.values[rank.memory(walk.piece().to, walk.chunk())] =
        rank.values[rank.memory(walk.piece().from, walk.chunk())];
  }
}

}  // namespace tutti
