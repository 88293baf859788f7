#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/rank.hpp>
#include <tutti/schedule/chunk.hpp>

namespace tutti {

/// A value in a symbolic run: nothing, one rank's contribution to a chunk, or a fold of other
/// symbols in order. Within one Symbols, equal ids mean equal expressions, operand for operand.
using Symbol = Id<struct SymbolTag, std::uint32_t>;

/// The expressions of a symbolic run, each stored once (hash consing).
class TUTTI_API Symbols {
 public:
  /// The value of memory that was never written.
  static constexpr Symbol nothing{0};

  Symbols();

  /// A new contribution: call once for each rank and chunk.
  [[nodiscard]] Symbol contribution(Rank rank, Chunk chunk);
  /// The fold of two or more operands. The same operands in the same order give the same symbol.
  [[nodiscard]] Symbol fold(std::span<const Symbol> operands);

  [[nodiscard]] bool is_contribution(Symbol symbol) const;
  /// Requires: is_contribution(symbol).
  [[nodiscard]] Rank rank(Symbol symbol) const;
  [[nodiscard]] Chunk chunk(Symbol symbol) const;

  /// The operands of a fold; empty for other symbols. Invalidated by fold().
  [[nodiscard]] std::span<const Symbol> operands(Symbol symbol) const;
  /// The number of contributions in the expression, with repetitions. Saturates at 2⁶⁴ − 1.
  [[nodiscard]] std::uint64_t contributions(Symbol symbol) const;
  /// The contributions from left to right, at most `limit` of them.
  [[nodiscard]] std::vector<Symbol> leaves(Symbol symbol, std::uint64_t limit) const;

 private:
  struct Node {
    std::uint64_t leaves;  // Folds: how many contributions. Contributions: 1.
    std::uint64_t chunk;   // Contributions only.
    std::uint32_t begin;   // Folds: first operand. Contributions: the rank.
    std::uint32_t count;   // Operands; 0 for a contribution.
  };

  [[nodiscard]] bool is(std::uint32_t node, std::span<const Symbol> operands) const;
  void grow();

  std::vector<Node> nodes_;
  std::vector<Symbol> operands_;
  std::vector<std::uint32_t> buckets_;  // Open addressing over folds; 0 is free.
  std::size_t folds_ = 0;
};

/// The expression as text, with ranks as letters: "a0+(b0+c0)". Truncated if it is too long or too
/// deep to read.
[[nodiscard]] TUTTI_API std::string to_string(const Symbols& symbols, Symbol symbol);

/// A contribution as text: "c2" for rank 2's part of chunk 2, "x30.2" past 26 ranks.
[[nodiscard]] TUTTI_API std::string contribution_name(Rank rank, Chunk chunk);

}  // namespace tutti
