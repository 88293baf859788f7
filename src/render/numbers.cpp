#include "render/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <tutti/error.hpp>

#include "core/decimal.hpp"
#include "core/quantity.hpp"
#include "core/reject.hpp"

namespace tutti::render {
namespace {

double combined(double a, double b, Combine how) {
  switch (how) {
    case Combine::sum:
      return a + b;
    case Combine::prod:
      return a * b;
    case Combine::min:
      return std::min(a, b);
    case Combine::max:
      break;
  }
  return std::max(a, b);
}

std::vector<double> parse_row(std::string_view text) {
  std::vector<double> row;
  while (true) {
    const std::size_t start = text.find_first_not_of(", \t");
    if (start == std::string_view::npos) return row;
    text.remove_prefix(start);
    const std::string_view word = text.substr(0, text.find_first_of(", \t"));
    double number = 0;
    const auto [end, error] = read_decimal(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(number)) {
      reject("'" + std::string(word) +
             "' in --values is not a number; write for example 1,2,3,4;5,6,7,8");
    }
    row.push_back(number);
    text.remove_prefix(word.size());
  }
}

/// The part of `count` equal pieces that piece `index` has; the first have one more.
std::vector<double> piece(const std::vector<double>& row, std::uint64_t count,
                          std::uint64_t index) {
  const std::uint64_t size = row.size() / count;
  const std::uint64_t longer = row.size() % count;
  const auto from = static_cast<std::ptrdiff_t>(index * size + std::min(index, longer));
  const auto length = static_cast<std::ptrdiff_t>(size + (index < longer ? 1 : 0));
  return {row.begin() + from, row.begin() + from + length};
}

}  // namespace

Numbers::Rows Numbers::parse(std::string_view text) {
  Rows rows;
  while (true) {
    const std::size_t end = text.find_first_of(";|\n");
    std::vector<double> row = parse_row(text.substr(0, end));
    if (!row.empty()) rows.push_back(std::move(row));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if (rows.empty()) reject("--values has no numbers; write for example 1,2,3,4;5,6,7,8");
  return rows;
}

Numbers::Numbers(const Contract& contract, Rows rows, Combine combine)
    : contract_(contract), rows_(std::move(rows)), combine_(combine) {
  std::vector<std::uint32_t> giving;
  for (std::uint32_t r = 0; r < contract.ranks; ++r) {
    if (contract.input(r).count > 0) giving.push_back(r);
  }
  if (rows_.size() == contract.ranks) return;
  if (rows_.size() != 1 || giving.empty()) {
    reject("--values has " + in_plural(rows_.size(), "list") + ", but there are " +
           in_plural(contract.ranks, "rank") + "; separate the lists of the ranks by semicolons");
  }
  const std::vector<double> all = std::move(rows_.front());
  if (all.size() % giving.size() != 0) {
    reject("--values has " + in_plural(all.size(), "number") + ", which " +
           in_plural(giving.size(), "rank") +
           " cannot share evenly; separate the lists of the ranks by semicolons");
  }
  rows_.assign(contract.ranks, {});
  for (std::size_t i = 0; i < giving.size(); ++i) {
    rows_[giving[i]] = piece(all, giving.size(), i);
  }
}

std::vector<double> Numbers::contributed(Rank rank, Chunk chunk) const {
  const std::vector<double>& row = rows_[rank];
  const bool pairs = contract_.collective == Collective::alltoall;
  const std::uint64_t chunks = pairs ? contract_.ranks : contract_.chunks;
  const ChunkSeries input = contract_.input(rank);
  if (!pairs && input.count < chunks && row.size() < chunks) {
    return piece(row, input.count, (chunk.index() - input.first.index()) / input.stride);
  }
  return piece(row, chunks, pairs ? chunk.index() % contract_.ranks : chunk.index());
}

void Numbers::add(std::vector<double>& into, const std::vector<double>& more) const {
  if (into.size() != more.size()) reject("--values must have as many numbers for each rank");
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = combined(into[i], more[i], combine_);
}

const std::vector<double>& Numbers::of(const Symbols& symbols, Symbol symbol) const {
  const auto found = known_.find(symbol.index());
  if (found != known_.end()) return found->second;
  std::vector<double> value;
  if (symbol != Symbols::nothing) {
    if (symbols.is_contribution(symbol)) {
      value = contributed(symbols.rank(symbol), symbols.chunk(symbol));
    } else {
      // In the order of the fold, as the executor adds.
      const auto operands = symbols.operands(symbol);
      value = of(symbols, operands.front());
      for (const Symbol each : operands.subspan(1)) add(value, of(symbols, each));
    }
  }
  return known_.emplace(symbol.index(), std::move(value)).first->second;
}

std::vector<double> Numbers::promised(Chunk chunk) const {
  if (const auto origin = contract_.origin(chunk)) return contributed(*origin, chunk);
  std::vector<double> value = contributed(Rank{0}, chunk);
  for (std::uint32_t r = 1; r < contract_.ranks; ++r) add(value, contributed(r, chunk));
  return value;
}

std::string Numbers::text(const std::vector<double>& numbers) {
  std::string all;
  for (const double each : numbers) {
    std::array<char, 40> digits{};
    std::snprintf(digits.data(), digits.size(), "%.10g", each);
    all += (all.empty() ? "" : " ") + std::string(digits.data());
  }
  return all.empty() ? "-" : all;
}

}  // namespace tutti::render
