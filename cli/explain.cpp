#include <algorithm>
#include <cstdio>
#include <memory>

#include <tutti/bounds.hpp>
#include <tutti/figures.hpp>
#include <tutti/schedule_json.hpp>
#include <tutti/trace.hpp>

#include "cli/commands.hpp"
#include "cli/console/built_schedule.hpp"
#include "cli/console/exit_code.hpp"
#include "cli/console/options.hpp"

namespace tutti::cli {
namespace {

/// Beyond this many cells a table of who holds what is no longer read by anybody.
constexpr std::uint64_t most_cells = 400;

/// Tells a schedule round by round.
class Story {
 public:
  Story(const Algorithm& algorithm, const Schedule& schedule, Colour colour)
      : algorithm_(algorithm),
        schedule_(schedule),
        contract_(schedule.contract),
        painter_(colour),
        trace_(schedule),
        shows_tables_(contract_.ranks * contract_.chunks <= most_cells) {}

  void tell() {
    tell_head();
    if (shows_tables_) print_holdings({});
    while (trace_.round() < schedule_.rounds()) {
      const auto before = holdings();
      trace_.advance();
      std::printf("\n%s\n", painter_
                                .bold("round " + std::to_string(trace_.round()) + " of " +
                                      std::to_string(schedule_.rounds()))
                                .c_str());
      print_moves(trace_.round() - 1);
      if (shows_tables_) print_holdings(before);
    }
    tell_end();
  }

 private:
  using Holdings = std::vector<std::vector<Symbol>>;

  [[nodiscard]] static std::string letter(Rank rank) {
    std::string text = contribution_name(rank, Chunk{0});
    text.pop_back();  // The chunk,
    if (text.back() == '.') text.pop_back();
    return text;
  }

  void tell_head() const {
    std::printf("%s: %s\n", painter_.bold(schedule_.name).c_str(),
                std::string(algorithm_.summary).c_str());
    std::printf("%u ranks, %llu chunk%s, %u round%s", contract_.ranks,
                static_cast<unsigned long long>(contract_.chunks), contract_.chunks == 1 ? "" : "s",
                schedule_.rounds(), schedule_.rounds() == 1 ? "" : "s");
    if (has_root(contract_.collective)) std::printf(", root %u", contract_.root.index());
    std::printf("\n%s\n", painter_.dim(legend()).c_str());
    if (!shows_tables_) {
      std::printf("%s\n", painter_
                              .dim("(too many chunks and ranks to show who holds what: only the "
                                   "messages follow)")
                              .c_str());
    }
  }

  [[nodiscard]] std::string legend() const {
    if (contract_.collective == Collective::alltoall) {
      return "b7 is the block that rank b brings in chunk 7: chunk s·p + d goes from rank s to "
             "rank d";
    }
    if (!is_reduction(contract_.collective)) return "b2 is chunk 2 as rank b brought it";
    return "b2 is rank b's contribution to chunk 2, Σ2 the whole sum; "
           "0 → 1: 2+ adds chunk 2 to what rank 1 has, 0 → 1: 2 replaces it";
  }

  [[nodiscard]] Holdings holdings() const {
    Holdings held(contract_.ranks);
    if (!shows_tables_) return held;
    for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
      for (std::uint64_t c = 0; c < contract_.chunks; ++c) {
        held[r].push_back(trace_.held(Rank{r}, Chunk{c}));
      }
    }
    return held;
  }

  [[nodiscard]] static std::string in_words(const Step& step) {
    std::string text;
    for (const ChunkRange& range : step.chunks) {
      if (!text.empty()) text += ",";
      text += std::to_string(range.first.index());
      if (range.count > 1) text += "-" + std::to_string(range.end().index() - 1);
    }
    return text;
  }

  /// "0 → 1: 4+" for each message, several to a line.
  void print_moves(std::uint32_t round) const {
    std::vector<std::string> moves;
    for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
      for (const Step step : schedule_.program(Rank{r})) {
        if (step.round != round || step.kind != Step::Kind::receive) continue;
        for (const Rank peer : step.peers) {
          moves.push_back(std::to_string(peer.index()) + " → " + std::to_string(r) + ": " +
                          in_words(step) + (step.operands() > 1 ? "+" : ""));
        }
      }
    }
    std::sort(moves.begin(), moves.end(), [](const std::string& a, const std::string& b) {
      return std::stoul(a) != std::stoul(b) ? std::stoul(a) < std::stoul(b) : a < b;
    });
    std::size_t widest = 0;
    for (const std::string& move : moves) widest = std::max(widest, width(move));
    constexpr std::size_t line_width = 96;
    const std::size_t per_line = std::max<std::size_t>(1, line_width / (widest + 3));
    for (std::size_t i = 0; i < moves.size(); ++i) {
      const bool last = (i + 1) % per_line == 0 || i + 1 == moves.size();
      std::printf("%s%s", i % per_line == 0 ? "  " : "   ",
                  last ? (moves[i] + "\n").c_str() : pad_right(moves[i], widest).c_str());
    }
  }

  [[nodiscard]] std::string cell(Symbol held, Chunk chunk) const {
    const Symbols& symbols = trace_.symbols();
    if (held == Symbols::nothing) return "·";
    const std::uint64_t terms = symbols.contributions(held);
    const bool sums = is_reduction(contract_.collective);
    if (sums && terms >= contract_.ranks && contract_.ranks > 1) {
      return "Σ" + std::to_string(chunk.index());
    }
    std::vector<Symbol> leaves = symbols.leaves(held, contract_.ranks);
    std::sort(leaves.begin(), leaves.end(),
              [&](Symbol a, Symbol b) { return symbols.rank(a) < symbols.rank(b); });
    const auto named = [&](Symbol leaf) {
      return contribution_name(symbols.rank(leaf), symbols.chunk(leaf));
    };
    constexpr std::size_t most_terms = 4;
    if (leaves.size() > most_terms) {
      return named(leaves.front()) + "+…+" + named(leaves.back()) + " (" +
             std::to_string(leaves.size()) + ")";
    }
    std::string text;
    for (const Symbol leaf : leaves) text += (text.empty() ? "" : "+") + named(leaf);
    return text;
  }

  /// One column per rank, one line per chunk; what is new since `before` stands out.
  void print_holdings(const Holdings& before) const {
    const Holdings held = holdings();
    std::vector<std::size_t> widths;
    for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
      std::size_t widest = heading(Rank{r}).size();
      for (std::uint64_t c = 0; c < contract_.chunks; ++c) {
        widest = std::max(widest, width(cell(held[r][c], Chunk{c})));
      }
      widths.push_back(widest);
    }
    const std::size_t label = 6 + std::to_string(contract_.chunks - 1).size();
    std::string line(label, ' ');
    for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
      line += "  " + pad_right(heading(Rank{r}), widths[r]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", painter_.dim(line).c_str());
    for (std::uint64_t c = 0; c < contract_.chunks; ++c) {
      line = painter_.dim(pad_right("chunk " + std::to_string(c), label));
      for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
        const bool is_new = !before.empty() && !before[r].empty() && before[r][c] != held[r][c];
        const std::string text = pad_right(cell(held[r][c], Chunk{c}), widths[r]);
        const std::string painted = is_new                    ? painter_.green(text)
                                    : text.rfind("Σ", 0) == 0 ? painter_.bold(text)
                                                              : text;
        line += "  " + painted;
      }
      line.erase(line.find_last_not_of(' ') + 1);
      std::printf("%s\n", line.c_str());
    }
  }

  [[nodiscard]] static std::string heading(Rank rank) {
    return std::to_string(rank.index()) + " (" + letter(rank) + ")";
  }

  void tell_end() const {
    tell_bytes();
    if (algorithm_.order.empty() || contract_.may_repeat()) return;
    std::printf("It adds %s:\n", std::string(algorithm_.order).c_str());
    constexpr std::uint64_t most_shown = 3;
    const Rank reader = has_root(contract_.collective) ? contract_.root : Rank{0};
    for (std::uint64_t c = 0; c < std::min(contract_.chunks, most_shown); ++c) {
      const bool own = contract_.output(reader).contains(Chunk{c});
      const Rank holder = own ? reader : Rank{static_cast<std::uint32_t>(c % contract_.ranks)};
      std::string sum = to_string(trace_.symbols(), trace_.held(holder, Chunk{c}));
      constexpr std::size_t longest = 160;
      if (sum.size() > longest) sum = sum.substr(0, longest) + "…";
      std::printf("  Σ%llu = %s\n", static_cast<unsigned long long>(c), sum.c_str());
    }
  }

  void tell_bytes() const {
    // One byte a chunk; in alltoall the chunks of all ranks are numbered.
    const bool pairs = contract_.collective == Collective::alltoall;
    const std::uint64_t data = pairs ? contract_.ranks : contract_.chunks;
    const Figures figures = count(schedule_, Layout::equal(contract_.chunks, 1));
    std::printf("\n%s: every rank ends with what %s promises, whatever the order of events. ",
                painter_.bold("Proved").c_str(), std::string(name(contract_.collective)).c_str());
    std::printf("%s message%s", with_commas(figures.messages).c_str(),
                figures.messages == 1 ? "" : "s");
    if (contract_.collective != Collective::barrier) {
      const Bounds least = bounds(contract_.collective, contract_.ranks, data);
      std::printf("; no rank sends more than %.3g times the data (%.3g is the least possible)",
                  static_cast<double>(figures.most_sent) / static_cast<double>(data),
                  static_cast<double>(least.most_sent) / static_cast<double>(data));
    }
    std::printf(".\n");
  }

  const Algorithm& algorithm_;
  const Schedule& schedule_;
  const Contract& contract_;
  Painter painter_;
  Trace trace_;
  bool shows_tables_;
};

struct Options {
  std::string name;
  ProblemOptions problem;
  Colour colour = Colour::automatic;
  bool json = false;
};

}  // namespace

void add_explain(Command tutti) {
  const Command command =
      tutti.command("explain", "who sends what to whom, round by round, and what each rank holds");
  auto options = std::make_shared<Options>();
  command.option("algorithm", options->name, "such as allreduce/ring").required();
  options->problem.add(command);
  add_colour(command, options->colour);
  command.flag("--json", options->json, "the schedule as JSON (docs/schedule-json.md)");
  command.action([options] {
    const Algorithm& algorithm = algorithm_named(options->name);
    const Schedule schedule = built_schedule(algorithm, options->problem.problem(algorithm));
    if (options->json) {
      std::fputs(to_json(schedule).c_str(), stdout);
    } else {
      Story(algorithm, schedule, options->colour).tell();
    }
    return success;
  });
}

}  // namespace tutti::cli
