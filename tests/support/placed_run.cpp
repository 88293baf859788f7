#include "support/placed_run.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "support/interpreter.hpp"

namespace tutti::test {
namespace {

/// The memory of one rank: a cell for each chunk in each buffer.
class Cells {
 public:
  Cells(const Contract& contract, std::uint32_t rank, Aliasing aliasing)
      : contract_(contract),
        rank_(rank),
        in_place_(aliasing == Aliasing::in_place),
        cells_(4 * contract.chunks) {}

  std::optional<Value>& operator()(Buffer buffer, Chunk chunk, Variant variant = {}) {
    if (variant != Variant{}) return beside_[{chunk, variant}];
    if (in_place_ && buffer == Buffer::input) return cell_of_input(chunk);
    return cell(buffer, chunk.index());
  }

 private:
  std::optional<Value>& cell(Buffer buffer, std::uint64_t chunk) {
    return cells_[static_cast<std::size_t>(buffer) * contract_.chunks + chunk];
  }

  /// In place, an input chunk has the place of its output chunk, if there is one.
  std::optional<Value>& cell_of_input(Chunk chunk) {
    const std::uint64_t p = contract_.ranks;
    if (contract_.collective == Collective::alltoall) {
      return cell(Buffer::output, chunk.index() % p * p + rank_);
    }
    const bool overwritten = contract_.output(rank_).contains(chunk);
    return cell(overwritten ? Buffer::output : Buffer::input, chunk.index());
  }

  Contract contract_;
  std::uint32_t rank_;
  bool in_place_;
  Holding cells_;
  std::map<std::pair<Chunk, Variant>, std::optional<Value>> beside_;
};

class PlacedRun {
 public:
  PlacedRun(const Schedule& schedule, Aliasing aliasing, const Holdings& inputs)
      : schedule_(schedule) {
    for (std::uint32_t r = 0; r < schedule.contract.ranks; ++r) {
      placements_.push_back(place(schedule.programs[r], schedule.contract, r, aliasing));
      Cells& cells = memory_.emplace_back(schedule.contract, r, aliasing);
      for (std::uint64_t chunk = 0; chunk < schedule.contract.chunks; ++chunk) {
        if (inputs[r][chunk]) cells(Buffer::input, Chunk{chunk}) = inputs[r][chunk];
      }
    }
    find_senders();
  }

  std::string run(Random& random) {
    const std::uint32_t rounds = schedule_.rounds();
    std::vector<std::uint32_t> copy_rounds;  // By rank: when it makes copies of any time.
    for (std::size_t r = 0; r < placements_.size(); ++r) {
      copy(r, placements_[r].before());
      copy_rounds.push_back(random.below(rounds + 1));
    }
    for (std::uint32_t round = 0; round <= rounds && fault_.empty(); ++round) {
      for (std::size_t r = 0; r < placements_.size(); ++r) {
        if (copy_rounds[r] == round) copy(r, placements_[r].aside());
      }
      std::vector<Receive> receives = receives_of(round, Step::Kind::receive);
      random.shuffle(receives);
      for (const Receive& each : receives) make(each);
      for (const Receive& each : receives_of(round, Step::Kind::local)) make(each);
    }
    return fault_;
  }

  Outcome outcome() {
    Outcome end;
    for (std::uint32_t r = 0; r < schedule_.contract.ranks; ++r) {
      Holding& held = end.holdings.emplace_back(schedule_.contract.chunks);
      for (std::uint64_t chunk = 0; chunk < schedule_.contract.chunks; ++chunk) {
        held[chunk] = memory_[r](Buffer::output, Chunk{chunk});
      }
    }
    return end;
  }

 private:
  /// A receive, or a local step, which has no senders.
  struct Receive {
    std::uint32_t rank;
    std::size_t step;
    std::vector<std::size_t> senders;  // The matching step of each peer.
  };

  void find_senders() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>> sends;
    for_each_step([&](std::uint32_t rank, std::size_t i, const Step& step) {
      if (step.kind != Step::Kind::send) return;
      for (const Rank peer : step.peers) sends[{rank, peer}].push_back(i);
    });
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> met;
    for_each_step([&](std::uint32_t rank, std::size_t i, const Step& step) {
      if (step.kind == Step::Kind::send) return;
      Receive& receive = receives_.emplace_back(Receive{.rank = rank, .step = i, .senders = {}});
      for (const Rank peer : step.peers) {
        const std::pair way(peer, rank);
        receive.senders.push_back(sends.at(way).at(met[way]++));
      }
    });
  }

  template <class F>
  void for_each_step(F f) const {
    for (std::uint32_t r = 0; r < schedule_.programs.size(); ++r) {
      for (std::size_t i = 0; i < schedule_.programs[r].size(); ++i) {
        f(r, i, schedule_.programs[r][i]);
      }
    }
  }

  /// In the order of the programs.
  [[nodiscard]] std::vector<Receive> receives_of(std::uint32_t round, Step::Kind kind) const {
    std::vector<Receive> found;
    for (const Receive& each : receives_) {
      const Step step = schedule_.programs[each.rank][each.step];
      if (step.round == round && step.kind == kind) found.push_back(each);
    }
    return found;
  }

  [[nodiscard]] static const Placement::Piece& piece_with(const Placement& placement,
                                                          std::size_t step, Chunk chunk) {
    for (const Placement::Piece& piece : placement.pieces(step)) {
      if (piece.chunks.first <= chunk && chunk < piece.chunks.end()) return piece;
    }
    throw std::logic_error("no piece of the step has its chunk");
  }

  void make(const Receive& receive) {
    const Step step = schedule_.programs[receive.rank][receive.step];
    for (const Placement::Piece& piece : placements_[receive.rank].pieces(receive.step)) {
      for (std::uint64_t i = 0; i < piece.chunks.count; ++i) {
        const Chunk chunk{piece.chunks.first.index() + i};
        std::vector<Value> operands;
        if (step.own) take(receive.rank, piece.from, chunk, step.own_variant, operands);
        for (const Variant source : step.sources) {
          take(receive.rank, piece.from, chunk, source, operands);
        }
        for (std::size_t k = 0; k < step.peers.size(); ++k) {
          const std::uint32_t peer = step.peers[k];
          const Buffer from = piece_with(placements_[peer], receive.senders[k], chunk).from;
          const Variant sent = schedule_.programs[peer][receive.senders[k]].variant;
          take(peer, from, chunk, sent, operands);
        }
        memory_[receive.rank](piece.to, chunk, step.variant) = sum(operands);
      }
    }
  }

  void take(std::uint32_t rank, Buffer buffer, Chunk chunk, Variant variant,
            std::vector<Value>& operands) {
    const std::optional<Value>& held = memory_[rank](buffer, chunk, variant);
    if (held) {
      operands.push_back(*held);
    } else {
      fault_ = "rank " + std::to_string(rank) + " reads chunk " + std::to_string(chunk.index()) +
               " in its " + std::string(name(buffer)) + ", which is empty";
    }
  }

  [[nodiscard]] Value sum(const std::vector<Value>& operands) const {
    if (operands.empty()) return {};
    Value total = operands.front();
    const bool barrier = schedule_.contract.collective == Collective::barrier;
    for (std::size_t k = 1; k < operands.size(); ++k) {
      for (std::size_t i = 0; i < std::min(total.size(), operands[k].size()); ++i) {
        total[i] = barrier ? total[i] | operands[k][i] : total[i] + operands[k][i];
      }
    }
    return total;
  }

  void copy(std::size_t rank, std::span<const Placement::Copy> copies) {
    for (const Placement::Copy& each : copies) {
      for (std::uint64_t i = 0; i < each.chunks.count; ++i) {
        const Chunk chunk{each.chunks.first.index() + i};
        memory_[rank](each.to, chunk) = memory_[rank](each.from, chunk);
      }
    }
  }

  const Schedule& schedule_;
  std::vector<Placement> placements_;
  std::vector<Cells> memory_;
  std::vector<Receive> receives_;
  std::string fault_;
};

}  // namespace

std::string fault_in_memory(const Schedule& schedule, Aliasing aliasing, std::uint64_t seed) {
  Random random(seed);
  const Contract& contract = schedule.contract;
  const Holdings inputs = random_inputs(contract, Layout::equal(contract.chunks, 1), random);
  PlacedRun run(schedule, aliasing, inputs);
  const std::string fault = run.run(random);
  return fault.empty() ? difference(run.outcome(), reference(contract, inputs)) : fault;
}

}  // namespace tutti::test
