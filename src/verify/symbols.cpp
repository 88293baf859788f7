#include <algorithm>
#include <limits>

#include <tutti/schedule/symbols.hpp>

#include "core/hash.hpp"

namespace tutti {
namespace {

std::uint64_t hash(std::span<const Symbol> operands) {
  std::uint64_t h = operands.size();
  for (const Symbol each : operands) h = mixed(h, each.index());
  return h;
}

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

/// Longer texts are unreadable. A sum of p terms may be p deep, which could overflow the stack.
constexpr std::size_t longest_text = 100000;
constexpr std::size_t deepest = 2000;

void write(const Symbols& symbols, Symbol symbol, std::size_t depth, std::string& text) {
  if (text.size() > longest_text) return;
  if (depth > deepest) {
    text += "…";
  } else if (symbol == Symbols::nothing) {
    text += '-';
  } else if (symbols.is_contribution(symbol)) {
    text += contribution_name(symbols.rank(symbol), symbols.chunk(symbol));
  } else {
    if (depth > 0) text += '(';
    const std::span<const Symbol> operands = symbols.operands(symbol);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (i > 0) text += '+';
      write(symbols, operands[i], depth + 1, text);
    }
    if (depth > 0) text += ')';
  }
}

}  // namespace

Symbols::Symbols() : nodes_{{.leaves = 0, .chunk = 0, .begin = 0, .count = 0}}, buckets_(1024, 0) {}

Symbol Symbols::contribution(Rank rank, Chunk chunk) {
  nodes_.push_back({.leaves = 1, .chunk = chunk.index(), .begin = rank, .count = 0});
  return Symbol{static_cast<std::uint32_t>(nodes_.size() - 1)};
}

Symbol Symbols::fold(std::span<const Symbol> operands) {
  if (folds_ * 2 >= buckets_.size()) grow();
  const std::size_t mask = buckets_.size() - 1;
  std::size_t at = hash(operands) & mask;
  while (buckets_[at] != 0) {
    if (is(buckets_[at], operands)) return Symbol{buckets_[at]};
    at = (at + 1) & mask;
  }
  std::uint64_t leaves = 0;
  for (const Symbol each : operands) leaves = saturating_add(leaves, contributions(each));
  const auto begin = static_cast<std::uint32_t>(operands_.size());
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  nodes_.push_back({.leaves = leaves,
                    .chunk = 0,
                    .begin = begin,
                    .count = static_cast<std::uint32_t>(operands.size())});
  ++folds_;
  buckets_[at] = static_cast<std::uint32_t>(nodes_.size() - 1);
  return Symbol{buckets_[at]};
}

bool Symbols::is(std::uint32_t node, std::span<const Symbol> operands) const {
  const std::span<const Symbol> present = this->operands(Symbol{node});
  return std::equal(present.begin(), present.end(), operands.begin(), operands.end());
}

void Symbols::grow() {
  std::vector<std::uint32_t> old(buckets_.size() * 2, 0);
  std::swap(old, buckets_);
  const std::size_t mask = buckets_.size() - 1;
  for (const std::uint32_t node : old) {
    if (node == 0) continue;
    std::size_t at = hash(operands(Symbol{node})) & mask;
    while (buckets_[at] != 0) at = (at + 1) & mask;
    buckets_[at] = node;
  }
}

bool Symbols::is_contribution(Symbol symbol) const {
  return symbol != nothing && nodes_[symbol.index()].count == 0;
}

Rank Symbols::rank(Symbol symbol) const { return nodes_[symbol.index()].begin; }

Chunk Symbols::chunk(Symbol symbol) const { return Chunk{nodes_[symbol.index()].chunk}; }

std::span<const Symbol> Symbols::operands(Symbol symbol) const {
  const Node& node = nodes_[symbol.index()];
  return {operands_.data() + (node.count == 0 ? 0 : node.begin), node.count};
}

std::uint64_t Symbols::contributions(Symbol symbol) const { return nodes_[symbol.index()].leaves; }

std::vector<Symbol> Symbols::leaves(Symbol symbol, std::uint64_t limit) const {
  std::vector<Symbol> found;
  std::vector<Symbol> open{symbol};
  while (!open.empty() && found.size() < limit) {
    const Symbol top = open.back();
    open.pop_back();
    if (is_contribution(top)) found.push_back(top);
    const std::span<const Symbol> inner = operands(top);
    open.insert(open.end(), inner.rbegin(), inner.rend());
  }
  return found;
}

std::string to_string(const Symbols& symbols, Symbol symbol) {
  std::string text;
  write(symbols, symbol, 0, text);
  return text;
}

std::string contribution_name(Rank rank, Chunk chunk) {
  constexpr std::uint32_t letters = 26;
  if (rank >= letters) {
    return "x" + std::to_string(rank) + "." + std::to_string(chunk.index());
  }
  return static_cast<char>('a' + rank) + std::to_string(chunk.index());
}

}  // namespace tutti
