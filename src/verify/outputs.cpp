#include "verify/outputs.hpp"

namespace tutti {
namespace {

using Kind = Violation::Kind;

class OutputCheck {
 public:
  OutputCheck(const SymbolicRun& run, Findings& findings)
      : run_(run),
        contract_(run.schedule().contract),
        symbols_(run.symbols()),
        findings_(findings),
        sums_(is_reduction(contract_.collective) ? contract_.chunks : 0),
        in_rank_order_(is_reduction(contract_.collective) && !contract_.may_repeat()) {}

  void check(Rank rank) {
    const ChunkSeries output = contract_.output(rank);
    for (std::uint64_t i = 0; i < output.count; ++i) {
      const Chunk chunk = output[i];
      const Symbol held = run_.at(rank, Buffer::output, chunk);
      const std::string wrong = fault(held, chunk);
      if (!wrong.empty()) {
        findings_.add(Kind::wrong_output, {.rank = rank, .chunk = chunk}, wrong);
      } else if (is_reduction(contract_.collective) && !contract_.may_repeat()) {
        check_agreement(rank, chunk, held);
      }
    }
  }

  [[nodiscard]] bool in_rank_order() const { return in_rank_order_; }

 private:
  /// The first correct sum of a chunk that was found on a rank.
  struct Sum {
    Symbol held;
    Rank rank;
    bool right = false;
  };

  /// Why a value is wrong as an output; empty if it is correct.
  std::string fault(Symbol held, Chunk chunk) {
    if (held == Symbols::nothing) return "was never written";
    const std::optional<Rank> origin = contract_.origin(chunk);
    if (origin) {
      const bool right = symbols_.is_contribution(held) && symbols_.rank(held) == *origin &&
                         symbols_.chunk(held) == chunk;
      if (right) return "";
      return "holds " + shortened(held) + ", not " + contribution_name(*origin, chunk);
    }
    // Most ranks end with the same symbol, which has to be checked only once.
    const Sum& first = sums_[chunk.index()];
    return first.held == held && first.right ? "" : fault_of_sum(held, chunk);
  }

  std::string fault_of_sum(Symbol held, Chunk chunk) const {
    // With one contribution more than allowed, at least one must be repeated.
    const bool may_repeat = contract_.may_repeat();
    const std::uint64_t limit = may_repeat ? most_walked : std::uint64_t{contract_.ranks} * 2 + 1;
    std::vector<std::uint32_t> times(contract_.ranks, 0);
    for (const Symbol leaf : symbols_.leaves(held, limit)) {
      if (symbols_.chunk(leaf) != chunk) {
        return "holds " + shortened(held) + ", which contains chunk " +
               std::to_string(symbols_.chunk(leaf).index());
      }
      ++times[symbols_.rank(leaf)];
    }
    std::string missing;
    std::string repeated;
    for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
      if (times[r] == 0) missing += " " + contribution_name(r, chunk);
      if (times[r] > 1) repeated += " " + contribution_name(r, chunk);
    }
    if (!missing.empty()) return "holds " + shortened(held) + " and lacks" + missing;
    if (!repeated.empty() && !may_repeat) {
      return "holds " + shortened(held) + ", which repeats" + repeated;
    }
    return "";
  }

  void check_agreement(Rank rank, Chunk chunk, Symbol held) {
    Sum& first = sums_[chunk.index()];
    if (!first.right) {
      first = {.held = held, .rank = rank, .right = true};
      in_rank_order_ = in_rank_order_ && is_in_rank_order(held);
    }
    if (first.held == held) return;
    findings_.add(Kind::disagreement, {.rank = rank, .chunk = chunk},
                  "adds " + shortened(held) + " where rank " + std::to_string(first.rank) +
                      " adds " + shortened(first.held));
  }

  /// Requires: the sum is correct.
  [[nodiscard]] bool is_in_rank_order(Symbol held) const {
    if (contract_.ranks == 1) return true;
    const std::span<const Symbol> operands = symbols_.operands(held);
    for (std::uint32_t r = 0; r < operands.size(); ++r) {
      if (!symbols_.is_contribution(operands[r]) || symbols_.rank(operands[r]) != r) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::string shortened(Symbol symbol) const {
    constexpr std::size_t most = 200;
    std::string text = to_string(symbols_, symbol);
    if (text.size() > most) text = text.substr(0, most) + "…";
    return text;
  }

  static constexpr std::uint64_t most_walked = 1 << 22;

  const SymbolicRun& run_;
  const Contract& contract_;
  const Symbols& symbols_;
  Findings& findings_;
  std::vector<Sum> sums_;  // By chunk; reductions only.
  bool in_rank_order_;     // For all sums checked so far.
};

}  // namespace

bool check_outputs(const SymbolicRun& run, Findings& findings) {
  OutputCheck check(run, findings);
  for (std::uint32_t r = 0; r < run.schedule().contract.ranks; ++r) check.check(r);
  return check.in_rank_order();
}

}  // namespace tutti
