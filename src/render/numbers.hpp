#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tutti/schedule/contract.hpp>
#include <tutti/schedule/symbols.hpp>

namespace tutti::render {

/// How numbers are combined.
enum class Combine { sum, prod, min, max };

/// A symbolic run on numbers: each rank's contribution to a chunk is a part of its list.
///
/// A list may have the numbers of the whole vector, of which the rank contributes its part, or only
/// those that the rank contributes. They are cut like the data: if they do not divide evenly, the
/// first chunks have one more.
class Numbers {
 public:
  using Rows = std::vector<std::vector<double>>;

  /// Numbers by commas or spaces; ranks separated by semicolons. A single list is dealt out evenly
  /// to the ranks that contribute. Throws invalid_argument.
  [[nodiscard]] static Rows parse(std::string_view text);

  /// Throws invalid_argument if the rows do not fit the contract.
  Numbers(const Contract& contract, Rows rows, Combine combine);

  /// The numbers of a symbol; empty for nothing.
  [[nodiscard]] const std::vector<double>& of(const Symbols& symbols, Symbol symbol) const;

  /// What the definition of the collective promises `rank` in `chunk`.
  [[nodiscard]] std::vector<double> promised(Chunk chunk) const;

  /// "28", or "6 8" for several.
  [[nodiscard]] static std::string text(const std::vector<double>& numbers);

 private:
  [[nodiscard]] std::vector<double> contributed(Rank rank, Chunk chunk) const;
  void add(std::vector<double>& into, const std::vector<double>& more) const;

  Contract contract_;
  Rows rows_;
  Combine combine_;
  mutable std::unordered_map<std::uint32_t, std::vector<double>> known_;  // By index of the symbol.
};

}  // namespace tutti::render
