#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include <tutti/error.hpp>
#include <tutti/schedule/bounds.hpp>
#include <tutti/schedule/figures.hpp>
#include <tutti/schedule/schedule_file.hpp>
#include <tutti/schedule/schedule_json.hpp>
#include <tutti/schedule/trace.hpp>

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
  /// `algorithm` is null for a schedule that comes from a file.
  Story(const Algorithm* algorithm, const Schedule& schedule, Colour colour)
      : algorithm_(algorithm),
        schedule_(schedule),
        contract_(schedule.contract),
        painter_(colour),
        trace_(schedule),
        rows_(rows_of(schedule)),
        shows_tables_(!rows_.empty() && contract_.ranks * rows_.size() <= most_cells) {}

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
  using Holdings = std::vector<std::vector<Symbol>>;  // By rank and row.
  using Row = std::pair<Chunk, Variant>;

  /// The chunks, each with those other variants that some rank makes of it.
  [[nodiscard]] static std::vector<Row> rows_of(const Schedule& schedule) {
    std::vector<Row> rows;
    if (schedule.contract.chunks > most_cells) return rows;
    for (std::uint64_t c = 0; c < schedule.contract.chunks; ++c)
      rows.emplace_back(Chunk{c}, Variant{});
    for (const Program& program : schedule.programs) {
      if (program.is_plain()) continue;
      for (const Step step : program) {
        for (const ChunkRange& range : step.chunks) {
          for (std::uint64_t i = 0; step.makes() && i < range.count; ++i) {
            rows.emplace_back(Chunk{range.first.index() + i}, step.variant);
          }
        }
      }
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
  }

  [[nodiscard]] static std::string letter(Rank rank) {
    std::string text = contribution_name(rank, Chunk{0});
    text.pop_back();  // The chunk,
    if (text.back() == '.') text.pop_back();
    return text;
  }

  void tell_head() const {
    std::printf("%s: %s\n", painter_.bold(schedule_.name).c_str(),
                algorithm_ == nullptr ? std::string(name(contract_.collective)).c_str()
                                      : std::string(algorithm_->summary).c_str());
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
    const bool plain = std::ranges::all_of(schedule_.programs, &Program::is_plain);
    const std::string variants =
        plain ? "" : "\n2' is variant 1 of chunk 2, 2'' variant 2; 0: 2 = 2 + 2' is a local step";
    if (!is_reduction(contract_.collective)) {
      return "b2 is chunk 2 as rank b brought it" + variants;
    }
    return variants.empty() ? sums_legend() : sums_legend() + variants;
  }

  [[nodiscard]] static std::string sums_legend() {
    return "b2 is rank b's contribution to chunk 2, Σ2 the whole sum; "
           "0 → 1: 2+ adds chunk 2 to what rank 1 has, 0 → 1: 2 replaces it";
  }

  [[nodiscard]] Holdings holdings() const {
    Holdings held(contract_.ranks);
    if (!shows_tables_) return held;
    for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
      for (const auto& [chunk, variant] : rows_) {
        held[r].push_back(trace_.held(Rank{r}, chunk, variant));
      }
    }
    return held;
  }

  /// Primes say which variant it is, up to three of them.
  [[nodiscard]] static std::string primes(Variant variant) {
    constexpr std::uint16_t most = 3;
    std::string text(std::min(variant.index(), most), '\'');
    if (variant.index() > most) text = "'" + std::to_string(variant.index());
    return text;
  }

  /// "0-3,8", or "0-3,8'" of variant 1.
  [[nodiscard]] static std::string in_words(const Step& step, Variant variant) {
    std::string text;
    for (const ChunkRange& range : step.chunks) {
      if (!text.empty()) text += ",";
      text += std::to_string(range.first.index());
      if (range.count > 1) text += "-" + std::to_string(range.end().index() - 1);
    }
    return text + primes(variant);
  }

  /// "0: 4 = 4 + 4'" of a local step.
  [[nodiscard]] static std::string local_words(std::uint32_t rank, const Step& step) {
    std::string text = std::to_string(rank) + ": " + in_words(step, step.variant) + " =";
    for (std::size_t i = 0; i < step.sources.size(); ++i) {
      text += (i == 0 ? " " : " + ") + in_words(step, step.sources[i]);
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
                          in_words(step, step.variant) + (step.operands() > 1 ? "+" : ""));
        }
      }
    }
    std::sort(moves.begin(), moves.end(), [](const std::string& a, const std::string& b) {
      return std::stoul(a) != std::stoul(b) ? std::stoul(a) < std::stoul(b) : a < b;
    });
    // Local steps come after the messages of their round.
    for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
      for (const Step step : schedule_.program(Rank{r})) {
        if (step.round != round || step.kind != Step::Kind::local) continue;
        moves.push_back(local_words(r, step));
      }
    }
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
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        widest = std::max(widest, width(cell(held[r][i], rows_[i].first)));
      }
      widths.push_back(widest);
    }
    std::size_t label = 0;
    for (const Row& row : rows_) label = std::max(label, label_of(row).size());
    std::string line(label, ' ');
    for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
      line += "  " + pad_right(heading(Rank{r}), widths[r]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", painter_.dim(line).c_str());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      line = painter_.dim(pad_right(label_of(rows_[i]), label));
      for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
        const bool is_new = !before.empty() && !before[r].empty() && before[r][i] != held[r][i];
        const std::string text = pad_right(cell(held[r][i], rows_[i].first), widths[r]);
        const std::string painted = is_new                    ? painter_.green(text)
                                    : text.rfind("Σ", 0) == 0 ? painter_.bold(text)
                                                              : text;
        line += "  " + painted;
      }
      line.erase(line.find_last_not_of(' ') + 1);
      std::printf("%s\n", line.c_str());
    }
  }

  [[nodiscard]] static std::string label_of(const Row& row) {
    return "chunk " + std::to_string(row.first.index()) + primes(row.second);
  }

  [[nodiscard]] static std::string heading(Rank rank) {
    return std::to_string(rank.index()) + " (" + letter(rank) + ")";
  }

  void tell_end() const {
    tell_bytes();
    if (!is_reduction(contract_.collective) || contract_.may_repeat()) return;
    std::printf("It adds%s:\n",
                algorithm_ == nullptr ? "" : (" " + std::string(algorithm_->order)).c_str());
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

  const Algorithm* algorithm_;
  const Schedule& schedule_;
  const Contract& contract_;
  Painter painter_;
  Trace trace_;
  std::vector<Row> rows_;
  bool shows_tables_;
};

struct Options {
  std::string name;
  std::string file;
  ProblemOptions problem;
  Colour colour = Colour::automatic;
  bool json = false;
};

}  // namespace

void add_explain(Command tutti) {
  const Command command =
      tutti.command("explain", "who sends what to whom, round by round, and what each rank holds");
  auto options = std::make_shared<Options>();
  const Option name = command.option("algorithm", options->name, "such as allreduce/ring");
  command.option("--file", options->file, "a schedule in JSON, in place of an algorithm")
      .text("FILE")
      .excludes(name);
  options->problem.add(command);
  add_colour(command, options->colour);
  command.flag("--json", options->json, "the schedule as JSON (docs/schedule-json.md)");
  command.action([options] {
    if (options->name.empty() && options->file.empty()) {
      throw Error(ErrorCode::invalid_argument,
                  "explain what? Name an algorithm, or add --file FILE.");
    }
    const Algorithm* const algorithm =
        options->file.empty() ? &algorithm_named(options->name) : nullptr;
    const Schedule schedule =
        algorithm == nullptr ? load_schedule(options->file)
                             : built_schedule(*algorithm, options->problem.problem(*algorithm));
    if (options->json) {
      std::fputs(to_json(schedule).c_str(), stdout);
    } else {
      Story(algorithm, schedule, options->colour).tell();
    }
    return success;
  });
}

}  // namespace tutti::cli
