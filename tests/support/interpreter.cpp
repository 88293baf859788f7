#include "support/interpreter.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace tutti::test {
namespace {

using Fault = Outcome::Fault;

using Element = std::uint64_t (*)(std::uint64_t, std::uint64_t);

std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) { return a + b; }
std::uint64_t union_of(std::uint64_t a, std::uint64_t b) { return a | b; }
/// Gives a different result for every order and every bracketing.
std::uint64_t mix_of(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t mixed = (a ^ (a >> 29)) * 0x9E3779B97F4A7C15U + (b ^ (b >> 31)) * 3;
  return mixed ^ (mixed >> 32);
}

/// A barrier's contributions may count twice, so they are combined by OR, not added.
Element exact(const Contract& contract) {
  return contract.collective == Collective::barrier ? union_of : sum_of;
}

void fold_into(Value& sum, const Value& other, Element fold) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const auto a = static_cast<std::uint64_t>(sum[i]);
    const auto b = static_cast<std::uint64_t>(other[i]);
    sum[i] = static_cast<std::int64_t>(fold(a, b));
  }
}

/// Calls f(chunk) for each chunk of the step, in order.
template <class F>
void for_each_chunk(const Step& step, F f) {
  for (const ChunkRange& range : step.chunks) {
    for (std::uint64_t i = 0; i < range.count; ++i) f(range.first.index() + i);
  }
}

/// Calls f(variant) for each variant that the rank itself reads.
template <class F>
void for_each_source(const Step& step, F f) {
  if (step.kind == Step::Kind::send) f(step.variant);
  if (step.kind == Step::Kind::receive && step.own) f(step.own_variant);
  if (step.kind != Step::Kind::local) return;
  for (const Variant source : step.sources) f(source);
}

/// A chunk in one of its variants.
using Cell = std::pair<std::uint64_t, Variant>;

/// What waiting steps block on one rank.
class Waiting {
 public:
  explicit Waiting(std::size_t ranks) : sends_to_(ranks), receives_from_(ranks) {}

  [[nodiscard]] bool holds_up(const Step& step) const {
    const bool sends = step.kind == Step::Kind::send;
    const std::vector<bool>& peers = sends ? sends_to_ : receives_from_;
    bool held = false;
    for (const Rank peer : step.peers) held = held || peers[peer];
    for_each_chunk(step, [&](std::uint64_t chunk) {
      for_each_source(step, [&](Variant source) {
        held = held || written_.contains({chunk, source});
      });
      const Cell made(chunk, step.variant);
      held = held || (!sends && (written_.contains(made) || read_.contains(made)));
    });
    return held;
  }

  void add(const Step& step) {
    const bool sends = step.kind == Step::Kind::send;
    for (const Rank peer : step.peers) (sends ? sends_to_ : receives_from_)[peer] = true;
    for_each_chunk(step, [&](std::uint64_t chunk) {
      for_each_source(step, [&](Variant source) { read_.insert({chunk, source}); });
      if (!sends) written_.insert({chunk, step.variant});
    });
  }

 private:
  std::set<Cell> read_;
  std::set<Cell> written_;
  std::vector<bool> sends_to_;
  std::vector<bool> receives_from_;
};

class Interpreter {
 public:
  Interpreter(const Schedule& schedule, const Holdings& inputs, Element fold)
      : schedule_(schedule),
        p_(schedule.programs.size()),
        fold_(fold),
        outcome_{.fault = Fault::none, .where = {}, .holdings = inputs},
        next_(p_, 0),
        done_(p_),
        beside_(p_),
        queues_(p_ * p_) {
    for (std::size_t r = 0; r < p_; ++r) done_[r].resize(schedule.programs[r].size(), false);
  }

  Outcome run(Pace pace) {
    check_sense();
    bool advanced = true;
    while (advanced && outcome_.fault == Fault::none) {
      advanced = false;
      for (std::size_t r = 0; r < p_; ++r) advanced = advance(r) || advanced;
      // Running in order is always right; looking ahead is needed only if all ranks are blocked.
      if (advanced || pace == Pace::in_order) continue;
      for (std::size_t r = 0; r < p_; ++r) advanced = look_ahead(r) || advanced;
    }
    if (outcome_.fault == Fault::none) check_end();
    return std::move(outcome_);
  }

 private:
  using Message = std::vector<Value>;

  bool fail(Fault fault, std::size_t rank, std::size_t step) {
    outcome_.fault = fault;
    outcome_.where = "rank " + std::to_string(rank) + " step " + std::to_string(step);
    return false;
  }

  void check_sense() {
    for (std::size_t r = 0; r < p_; ++r) {
      for (std::size_t i = 0; i < schedule_.programs[r].size(); ++i) {
        if (!makes_sense(schedule_.programs[r][i])) fail(Fault::nonsense, r, i);
      }
    }
  }

  /// Runs the rank's steps in order until one must wait. Returns whether it ran any.
  bool advance(std::size_t rank) {
    bool any = false;
    std::size_t& next = next_[rank];
    for (; next < done_[rank].size(); ++next) {
      if (done_[rank][next]) continue;
      if (!try_step(rank, next)) return any;
      any = true;
    }
    return any;
  }

  /// Runs steps that neither conflict with an earlier waiting step nor overtake one between the
  /// same two ranks. Returns whether it ran any.
  bool look_ahead(std::size_t rank) {
    bool any = false;
    Waiting waiting(p_);
    for (std::size_t i = next_[rank]; i < done_[rank].size(); ++i) {
      if (done_[rank][i]) continue;
      const Step step = schedule_.programs[rank][i];
      if (!waiting.holds_up(step) && try_step(rank, i)) {
        any = true;
      } else {
        waiting.add(step);
      }
    }
    return any;
  }

  std::deque<Message>& queue(std::size_t from, std::size_t to) { return queues_[from * p_ + to]; }

  [[nodiscard]] bool makes_sense(const Step& step) const {
    for (const Rank peer : step.peers) {
      if (peer >= p_) return false;
    }
    for (const ChunkRange& range : step.chunks) {
      const std::uint64_t chunks = schedule_.contract.chunks;
      if (range.first.index() > chunks || range.count > chunks - range.first.index()) return false;
    }
    if (step.kind == Step::Kind::local) return step.peers.empty() && !step.sources.empty();
    return !step.peers.empty() && step.own.value_or(0) <= step.peers.size();
  }

  /// Runs a step, unless it must wait for a message.
  bool try_step(std::size_t rank, std::size_t i) {
    if (outcome_.fault != Fault::none) return false;
    const bool done = try_kind(rank, i);
    if (done) done_[rank][i] = true;
    return done;
  }

  bool try_kind(std::size_t rank, std::size_t i) {
    switch (schedule_.programs[rank][i].kind) {
      case Step::Kind::send:
        return try_send(rank, i);
      case Step::Kind::receive:
        return try_receive(rank, i);
      case Step::Kind::local:
        break;
    }
    return try_local(rank, i);
  }

  bool try_local(std::size_t rank, std::size_t i) {
    const Step step = schedule_.programs[rank][i];
    std::vector<Message> operands;
    for (const Variant source : step.sources) {
      if (!collect(rank, step, source, operands.emplace_back())) {
        return fail(Fault::read_of_nothing, rank, i);
      }
    }
    make(rank, step, operands);
    return true;
  }

  /// The rank's value of a chunk.
  std::optional<Value>& cell(std::size_t rank, std::uint64_t chunk, Variant variant) {
    return variant == Variant{} ? outcome_.holdings[rank][chunk] : beside_[rank][{chunk, variant}];
  }

  void make(std::size_t rank, const Step& step, const std::vector<Message>& operands) {
    std::size_t i = 0;
    for_each_chunk(step, [&](std::uint64_t chunk) {
      Value sum = operands.front()[i];
      for (std::size_t k = 1; k < operands.size(); ++k) fold_into(sum, operands[k][i], fold_);
      cell(rank, chunk, step.variant) = std::move(sum);
      ++i;
    });
  }

  bool try_send(std::size_t rank, std::size_t i) {
    const Step step = schedule_.programs[rank][i];
    Message message;
    if (!collect(rank, step, step.variant, message)) return fail(Fault::read_of_nothing, rank, i);
    for (const Rank peer : step.peers) queue(rank, peer).push_back(message);
    return true;
  }

  /// Reads the current versions of the step's chunks; false if the rank lacks one.
  bool collect(std::size_t rank, const Step& step, Variant variant, Message& message) {
    bool complete = true;
    for_each_chunk(step, [&](std::uint64_t chunk) {
      const std::optional<Value>& held = cell(rank, chunk, variant);
      complete = complete && held.has_value();
      message.push_back(held.value_or(Value{}));
    });
    return complete;
  }

  bool try_receive(std::size_t rank, std::size_t at) {
    const Step step = schedule_.programs[rank][at];
    if (!all_there(rank, step)) return false;
    std::vector<Message> operands;
    for (std::size_t k = 0; k <= step.peers.size(); ++k) {
      if (step.own == k && !collect(rank, step, step.own_variant, operands.emplace_back())) {
        return fail(Fault::read_of_nothing, rank, at);
      }
      if (k == step.peers.size()) break;
      std::deque<Message>& from = queue(step.peers[k], rank);
      operands.push_back(std::move(from.front()));
      from.pop_front();
    }
    if (!fit(operands, step)) return fail(Fault::misfit, rank, at);
    make(rank, step, operands);
    return true;
  }

  /// Whether every peer's message has arrived; a peer named twice must have sent two.
  [[nodiscard]] bool all_there(std::size_t rank, const Step& step) {
    for (std::size_t k = 0; k < step.peers.size(); ++k) {
      const auto first = step.peers.begin();
      const auto before = std::count(first, first + static_cast<std::ptrdiff_t>(k), step.peers[k]);
      const std::size_t arrived = queue(step.peers[k], rank).size();
      if (arrived <= static_cast<std::size_t>(before)) return false;
    }
    return true;
  }

  [[nodiscard]] static bool fit(const std::vector<Message>& operands, const Step& step) {
    const Message& one = operands.front();
    return std::all_of(operands.begin(), operands.end(), [&](const Message& other) {
      return other.size() == step.chunk_count() &&
             std::equal(one.begin(), one.end(), other.begin(), other.end(),
                        [](const Value& a, const Value& b) { return a.size() == b.size(); });
    });
  }

  void check_end() {
    for (std::size_t r = 0; r < p_; ++r) {
      if (next_[r] != schedule_.programs[r].size()) {
        fail(Fault::stuck, r, next_[r]);
        return;
      }
    }
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      if (!queues_[i].empty()) fail(Fault::leftovers, i % p_, next_[i % p_]);
    }
  }

  const Schedule& schedule_;
  std::size_t p_;
  Element fold_;
  Outcome outcome_;
  std::vector<std::size_t> next_;        // By rank: the first step that is not done.
  std::vector<std::vector<bool>> done_;  // By rank and step.
  std::vector<std::map<Cell, std::optional<Value>>> beside_;  // By rank: variants other than 0.
  std::vector<std::deque<Message>> queues_;                   // From rank · p + to rank.
};

constexpr std::int64_t bits_per_element = 62;

/// The bit of one rank, in enough elements for all ranks of a barrier.
Value bit_of(std::uint32_t rank, std::uint32_t ranks) {
  Value bits(static_cast<std::size_t>(ranks / bits_per_element) + 1, 0);
  bits[static_cast<std::size_t>(rank / bits_per_element)] = std::int64_t{1}
                                                            << rank % bits_per_element;
  return bits;
}

/// The chunks that a rank starts with: the first and the number. By definition, not by Contract.
struct Brought {
  std::uint64_t first;
  std::uint64_t count;
};

Brought brought(const Contract& contract, std::uint32_t rank) {
  const std::uint64_t block = contract.chunks / contract.ranks;
  switch (contract.collective) {
    case Collective::broadcast:
    case Collective::scatter:
      return {0, rank == contract.root ? contract.chunks : 0};
    case Collective::gather:
    case Collective::allgather:
    case Collective::alltoall:
      return {rank * block, block};
    default:
      return {0, contract.chunks};
  }
}

/// Chunk `chunk` of every rank folded into one.
Value total(const Contract& contract, const Holdings& inputs, std::uint64_t chunk) {
  Value sum = inputs[0][chunk].value();
  for (std::uint32_t r = 1; r < contract.ranks; ++r) {
    fold_into(sum, inputs[r][chunk].value(), exact(contract));
  }
  return sum;
}

/// Whether a chunk is in the output of a rank.
bool wanted_at(const Contract& contract, std::uint32_t rank, std::uint64_t chunk) {
  switch (contract.collective) {
    case Collective::gather:
    case Collective::reduce:
      return rank == contract.root;
    case Collective::scatter:
    case Collective::reduce_scatter:
      return chunk / (contract.chunks / contract.ranks) == rank;
    case Collective::alltoall:
      return chunk % contract.ranks == rank;
    default:
      return true;
  }
}

/// The expected value of an output chunk.
Value final_value(const Contract& contract, const Holdings& inputs, std::uint64_t chunk) {
  switch (contract.collective) {
    case Collective::broadcast:
    case Collective::scatter:
      return inputs[contract.root][chunk].value();
    case Collective::gather:
    case Collective::allgather:
    case Collective::alltoall:
      return inputs[chunk / (contract.chunks / contract.ranks)][chunk].value();
    default:
      return total(contract, inputs, chunk);
  }
}

}  // namespace

std::string_view name(Outcome::Fault fault) {
  constexpr std::array<std::string_view, 6> names{
      "none", "nonsense", "stuck", "leftovers", "misfit", "read of nothing",
  };
  return names.at(static_cast<std::size_t>(fault));
}

Holdings random_inputs(const Contract& contract, const Layout& layout, Random& random) {
  Holdings inputs(contract.ranks, Holding(contract.chunks));
  for (std::uint32_t r = 0; r < contract.ranks; ++r) {
    const auto [first, count] = brought(contract, r);
    for (std::uint64_t chunk = first; chunk < first + count; ++chunk) {
      if (contract.collective == Collective::barrier) {
        inputs[r][chunk] = bit_of(r, contract.ranks);
        continue;
      }
      Value value(layout.size(Chunk{chunk}));
      for (std::int64_t& each : value) each = static_cast<std::int64_t>(random.bits() >> 24);
      inputs[r][chunk] = std::move(value);
    }
  }
  return inputs;
}

Holdings reference(const Contract& contract, const Holdings& inputs) {
  Holdings outputs(contract.ranks, Holding(contract.chunks));
  for (std::uint64_t chunk = 0; chunk < contract.chunks; ++chunk) {
    const Value value = final_value(contract, inputs, chunk);
    for (std::uint32_t r = 0; r < contract.ranks; ++r) {
      if (wanted_at(contract, r, chunk)) outputs[r][chunk] = value;
    }
  }
  return outputs;
}

Outcome interpret(const Schedule& schedule, const Holdings& inputs, Pace pace) {
  return Interpreter(schedule, inputs, exact(schedule.contract)).run(pace);
}

std::string difference(const Outcome& outcome, const Holdings& wanted) {
  if (outcome.fault != Fault::none) {
    return std::string(name(outcome.fault)) + " at " + outcome.where;
  }
  for (std::size_t r = 0; r < wanted.size(); ++r) {
    for (std::size_t chunk = 0; chunk < wanted[r].size(); ++chunk) {
      if (wanted[r][chunk] && outcome.holdings[r][chunk] != wanted[r][chunk]) {
        return "rank " + std::to_string(r) + " ends with a wrong chunk " + std::to_string(chunk);
      }
    }
  }
  return "";
}

std::string fault_in_meaning(const Schedule& schedule, std::uint64_t seed, Pace pace) {
  Random random(seed);
  const Contract& contract = schedule.contract;
  const Holdings inputs = random_inputs(contract, Layout::equal(contract.chunks, 1), random);
  return difference(interpret(schedule, inputs, pace), reference(contract, inputs));
}

std::string difference_in_bits(const Schedule& schedule, std::uint64_t seed) {
  const Contract& contract = schedule.contract;
  if (contract.collective == Collective::barrier) return "";
  Random random(seed);
  const Holdings inputs = random_inputs(contract, Layout::equal(contract.chunks, 1), random);
  const Outcome outcome = Interpreter(schedule, inputs, mix_of).run(Pace::by_dependence);
  for (std::uint64_t chunk = 0; chunk < contract.chunks; ++chunk) {
    std::optional<Value> first;
    for (std::uint32_t r = 0; r < contract.ranks; ++r) {
      if (!wanted_at(contract, r, chunk)) continue;
      if (!first) first = outcome.holdings[r][chunk];
      if (outcome.holdings[r][chunk] == first) continue;
      return "rank " + std::to_string(r) + " has other bits in chunk " + std::to_string(chunk);
    }
  }
  return "";
}

}  // namespace tutti::test
