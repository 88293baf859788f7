#include "render/story.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <tutti/schedule/figures.hpp>
#include <tutti/schedule/trace.hpp>

#include "core/columns.hpp"
#include "core/quantity.hpp"
#include "render/volume.hpp"

namespace tutti::render {
namespace {

/// Larger tables of the chunks that ranks hold are left out: they are not readable.
constexpr std::uint64_t most_cells = 400;

/// Writes the text.
class Story {
 public:
  Story(const Schedule& schedule, const StorySubject& subject, const Paint& paint)
      : subject_(subject),
        schedule_(schedule),
        contract_(schedule.contract),
        paint_(paint),
        trace_(schedule),
        rows_(rows_of(schedule)),
        shows_tables_(!rows_.empty() && contract_.ranks * rows_.size() <= most_cells) {}

  [[nodiscard]] std::string text() {
    add_head();
    if (shows_tables_) add_holdings({});
    while (trace_.round() < schedule_.rounds()) {
      const auto before = holdings();
      trace_.advance();
      text_ += "\n" +
               paint_.bold("round " + std::to_string(trace_.round()) + " of " +
                           std::to_string(schedule_.rounds())) +
               "\n";
      add_moves(trace_.round() - 1);
      if (shows_tables_) add_holdings(before);
    }
    add_bytes();
    if (subject_.numbers != nullptr) {
      add_results();
    } else {
      add_sums();
    }
    return std::move(text_);
  }

 private:
  using Holdings = std::vector<std::vector<Symbol>>;  // By rank and row.
  using Row = std::pair<Chunk, Variant>;

  /// The chunks, each with the other variants that some rank makes of it.
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
    text.pop_back();  // The chunk.
    if (text.back() == '.') text.pop_back();
    return text;
  }

  void add_head() {
    text_ +=
        paint_.bold(schedule_.name) + ": " +
        (subject_.summary.empty() ? std::string(name(contract_.collective)) : subject_.summary) +
        "\n" + std::to_string(contract_.ranks) + " ranks, " + in_plural(contract_.chunks, "chunk") +
        ", " + in_plural(schedule_.rounds(), "round");
    if (has_root(contract_.collective)) {
      text_ += ", root " + std::to_string(contract_.root);
    }
    text_ += "\n" + paint_.dim(legend()) + "\n";
    if (!shows_tables_) {
      text_ += paint_.dim(
                   "(too many chunks and ranks to show what each rank holds: only the "
                   "messages follow)") +
               "\n";
    }
  }

  [[nodiscard]] std::string legend() const {
    if (subject_.numbers != nullptr) return numbers_legend();
    if (contract_.collective == Collective::alltoall) {
      return "b7 is the block that rank b brings in chunk 7: chunk s·p + d goes from rank s to "
             "rank d";
    }
    const bool plain = std::all_of(schedule_.programs.begin(), schedule_.programs.end(),
                                   [](const Program& each) { return each.is_plain(); });
    const std::string variants =
        plain ? "" : "\n2' is variant 1 of chunk 2, 2'' variant 2; 0: 2 = 2 + 2' is a local step";
    if (!is_reduction(contract_.collective)) {
      return "b2 is chunk 2 as rank b brought it" + variants;
    }
    return variants.empty() ? sums_legend() : sums_legend() + variants;
  }

  [[nodiscard]] std::string numbers_legend() const {
    const std::string adds = "0 → 1: 2+ adds chunk 2 to what rank 1 has, 0 → 1: 2 replaces it; ";
    return (is_reduction(contract_.collective) ? adds : "") +
           "[28] is a finished result, · is nothing";
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
        held[r].push_back(trace_.held(r, chunk, variant));
      }
    }
    return held;
  }

  /// Up to three primes for the number of the variant, then the number itself.
  [[nodiscard]] static std::string primes(Variant variant) {
    constexpr std::uint16_t most = 3;
    std::string text(std::min(variant.index(), most), '\'');
    if (variant.index() > most) text = "'" + std::to_string(variant.index());
    return text;
  }

  /// "0-3,8", or "0-3,8'" of variant 1.
  [[nodiscard]] static std::string chunks_text(const Step& step, Variant variant) {
    std::string text;
    for (const ChunkRange& range : step.chunks) {
      if (!text.empty()) text += ",";
      text += std::to_string(range.first.index());
      if (range.count > 1) text += "-" + std::to_string(range.end().index() - 1);
    }
    return text + primes(variant);
  }

  /// "0: 4 = 4 + 4'" of a local step.
  [[nodiscard]] static std::string local_text(std::uint32_t rank, const Step& step) {
    std::string text = std::to_string(rank) + ": " + chunks_text(step, step.variant) + " =";
    for (std::size_t i = 0; i < step.sources.size(); ++i) {
      text += (i == 0 ? " " : " + ") + chunks_text(step, step.sources[i]);
    }
    return text;
  }

  /// "0 → 1: 4+" for each message, several to a line.
  void add_moves(std::uint32_t round) {
    std::vector<std::string> moves;
    for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
      for (const Step step : schedule_.program(r)) {
        if (step.round != round || step.kind != Step::Kind::receive) continue;
        for (const Rank peer : step.peers) {
          moves.push_back(std::to_string(peer) + " → " + std::to_string(r) + ": " +
                          chunks_text(step, step.variant) + (step.operands() > 1 ? "+" : ""));
        }
      }
    }
    std::sort(moves.begin(), moves.end(), [](const std::string& a, const std::string& b) {
      return std::stoul(a) != std::stoul(b) ? std::stoul(a) < std::stoul(b) : a < b;
    });
    // Local steps come after the messages of their round.
    for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
      for (const Step step : schedule_.program(r)) {
        if (step.round != round || step.kind != Step::Kind::local) continue;
        moves.push_back(local_text(r, step));
      }
    }
    std::size_t widest = 0;
    for (const std::string& move : moves) widest = std::max(widest, width(move));
    const std::size_t line_width =
        subject_.columns == 0 ? 96 : std::min<std::size_t>(subject_.columns - 2, 96);
    const std::size_t per_line = std::max<std::size_t>(1, line_width / (widest + 3));
    for (std::size_t i = 0; i < moves.size(); ++i) {
      const bool last = (i + 1) % per_line == 0 || i + 1 == moves.size();
      text_ += (i % per_line == 0 ? "  " : "   ") +
               (last ? moves[i] + "\n" : pad_right(moves[i], widest));
    }
  }

  /// True if the rank holds what the collective promises it.
  [[nodiscard]] bool is_result(Rank rank, Symbol held, Chunk chunk) const {
    if (!contract_.output(rank).contains(chunk)) return false;
    return !is_reduction(contract_.collective) ||
           trace_.symbols().contributions(held) >= contract_.ranks;
  }

  [[nodiscard]] std::string cell(Rank rank, Symbol held, Chunk chunk) const {
    const Symbols& symbols = trace_.symbols();
    if (held == Symbols::nothing) return "·";
    if (subject_.numbers != nullptr) {
      const std::string text = Numbers::text(subject_.numbers->of(symbols, held));
      return is_result(rank, held, chunk) ? "[" + text + "]" : text;
    }
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

  /// One column per rank, one line per chunk. Cells that differ from `before` are green. A table
  /// that is wider than the terminal is folded: the first ranks, then the next.
  void add_holdings(const Holdings& before) {
    const Holdings held = holdings();
    std::vector<std::size_t> widths;
    for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
      std::size_t widest = heading(r).size();
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        widest = std::max(widest, width(cell(r, held[r][i], rows_[i].first)));
      }
      widths.push_back(widest);
    }
    std::size_t label = 0;
    for (const Row& row : rows_) label = std::max(label, label_of(row).size());
    for (std::uint32_t first = 0; first < contract_.ranks;) {
      std::uint32_t end = first;
      std::size_t used = label;
      do {
        used += 2 + widths[end++];
      } while (end < contract_.ranks &&
               (subject_.columns == 0 || used + 2 + widths[end] <= subject_.columns));
      if (first > 0) text_ += "\n";
      add_columns(held, before, {first, end}, widths, label);
      first = end;
    }
  }

  /// The columns of some ranks, from the first to before the second.
  void add_columns(const Holdings& held, const Holdings& before,
                   std::pair<std::uint32_t, std::uint32_t> ranks,
                   const std::vector<std::size_t>& widths, std::size_t label) {
    std::string line(label, ' ');
    for (std::uint32_t r = ranks.first; r < ranks.second; ++r) {
      line += "  " + pad_right(heading(r), widths[r]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text_ += paint_.dim(line) + "\n";
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      line = paint_.dim(pad_right(label_of(rows_[i]), label));
      for (std::uint32_t r = ranks.first; r < ranks.second; ++r) {
        const bool is_new = !before.empty() && !before[r].empty() && before[r][i] != held[r][i];
        const std::string text = pad_right(cell(r, held[r][i], rows_[i].first), widths[r]);
        const bool complete = text.starts_with("Σ") || text.starts_with("[");
        const std::string painted = is_new     ? paint_.green(text)
                                    : complete ? paint_.bold(text)
                                               : text;
        line += "  " + painted;
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text_ += line + "\n";
    }
  }

  [[nodiscard]] static std::string label_of(const Row& row) {
    return "chunk " + std::to_string(row.first.index()) + primes(row.second);
  }

  [[nodiscard]] static std::string heading(Rank rank) {
    return std::to_string(rank) + " (" + letter(rank) + ")";
  }

  void add_sums() {
    if (!is_reduction(contract_.collective) || contract_.may_repeat()) return;
    text_ += "It adds";
    if (!subject_.order.empty()) text_ += " " + subject_.order;
    text_ += ":\n";
    constexpr std::uint64_t most_shown = 3;
    const Rank reader = has_root(contract_.collective) ? contract_.root : Rank{0};
    for (std::uint64_t c = 0; c < std::min(contract_.chunks, most_shown); ++c) {
      const bool own = contract_.output(reader).contains(Chunk{c});
      const Rank holder = own ? reader : Rank{static_cast<std::uint32_t>(c % contract_.ranks)};
      std::string sum = to_string(trace_.symbols(), trace_.held(holder, Chunk{c}));
      constexpr std::size_t longest = 160;
      if (sum.size() > longest) sum = sum.substr(0, longest) + "…";
      text_ += "  Σ" + std::to_string(c) + " = " + sum + "\n";
    }
  }

  /// The outputs as numbers, compared with the definition of the collective.
  void add_results() {
    bool equal = true;
    for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
      const ChunkSeries output = contract_.output(r);
      std::string text;
      for (std::uint64_t i = 0; i < output.count; ++i) {
        const std::vector<double>& found =
            subject_.numbers->of(trace_.symbols(), trace_.held(r, output[i]));
        equal = equal && found == subject_.numbers->promised(output[i]);
        if (!found.empty()) text += (text.empty() ? "" : ", ") + Numbers::text(found);
      }
      if (output.count > 0) text_ += "rank " + std::to_string(r) + " ends with " + text + "\n";
    }
    text_ += equal ? "These are the numbers of the definition.\n"
                   : "The definition adds in another order, so the last digits differ.\n";
  }

  void add_bytes() {
    const Figures figures = count(schedule_, Layout::equal(contract_.chunks, 1));
    const std::string volume = volume_text(schedule_);
    text_ += "\n" + paint_.bold("Proved") + ": every rank ends with what " +
             std::string(name(contract_.collective)) + " promises, whatever the order of events. " +
             with_commas(figures.messages) + (figures.messages == 1 ? " message" : " messages");
    text_ += (volume.empty() ? "" : "; " + volume) + ".\n";
  }

  const StorySubject& subject_;
  const Schedule& schedule_;
  const Contract& contract_;
  Paint paint_;
  Trace trace_;
  std::vector<Row> rows_;
  bool shows_tables_;
  std::string text_;
};

}  // namespace

std::string story(const Schedule& schedule, const StorySubject& subject, const Paint& paint) {
  return Story(schedule, subject, paint).text();
}

}  // namespace tutti::render
