#pragma once

#include <cstdint>
#include <string>

#include <tutti/schedule/contract.hpp>

namespace tutti::render {

/// A collective on few ranks with one box per rank and chunk, as textbooks draw it.
struct Boxes {
  std::uint64_t read = 0;     ///< Boxes with an input.
  std::uint64_t written = 0;  ///< Boxes with an output.
  /// Before and after, side by side.
  std::string text;
};

/// The contract of a collective whose data is cut into one box per rank (alltoall: per pair).
[[nodiscard]] Contract boxed_contract(Collective collective, std::uint32_t ranks, Rank root);

/// Requires: `contract` is a boxed_contract().
[[nodiscard]] Boxes boxes(const Contract& contract);

}  // namespace tutti::render
