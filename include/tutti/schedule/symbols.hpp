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
/// symbols in order. Equal ids of one Symbols are equal expressions, operand for operand.
using Symbol = Id<struct SymbolTag, std::uint32_t>;

/// The expressions of a symbolic run, each kept once.
class TUTTI_API Symbols {
 public:
  /// What has never been written.
  static constexpr Symbol nothing{0};

  Symbols();

  /// A new contribution: call once for each rank and chunk.
  [[nodiscard]] Symbol contribution(Rank rank, Chunk chunk);
  /// The fold of two or more operands; the same one for the same operands in the same order.
  [[nodiscard]] Symbol fold(std::span<const Symbol> operands);

  [[nodiscard]] bool is_contribution(Symbol symbol) const;
  /// Requires: is_contribution(symbol).
  [[nodiscard]] Rank rank(Symbol symbol) const;
  [[nodiscard]] Chunk chunk(Symbol symbol) const;

  /// The operands of a fold, empty for others. Invalidated by fold().
  [[nodiscard]] std::span<const Symbol> operands(Symbol symbol) const;
  /// How many contributions the expression has, repeated ones counted each time; stops at 2⁶⁴ − 1.
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

/// The expression as people write it, with ranks as letters: "a0+(b0+c0)". Cut where it is longer
/// or deeper than anybody would read.
[[nodiscard]] TUTTI_API std::string to_string(const Symbols& symbols, Symbol symbol);

/// A contribution as people write it: "c2" for rank 2's part of chunk 2, "x30.2" past 26 ranks.
[[nodiscard]] TUTTI_API std::string contribution_name(Rank rank, Chunk chunk);

}  // namespace tutti
