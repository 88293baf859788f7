#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <tutti/message.hpp>

#include "core/hash.hpp"

namespace tutti {

/// The sender and the tag of a message; or the pattern of a receive, in which either may be "any".
struct MatchKey {
  std::uint32_t rank = any_rank;
  std::uint32_t tag = any_tag;

  friend bool operator==(const MatchKey&, const MatchKey&) = default;

  /// The four patterns that match a message with this key.
  [[nodiscard]] std::array<MatchKey, 4> patterns() const {
    return {{{rank, tag}, {rank, any_tag}, {any_rank, tag}, {any_rank, any_tag}}};
  }
  /// The index of this pattern in what patterns() returns.
  [[nodiscard]] std::size_t pattern_index() const {
    return (rank == any_rank ? 2U : 0U) + (tag == any_tag ? 1U : 0U);
  }

  struct Hash {
    [[nodiscard]] std::size_t operator()(const MatchKey& key) const {
      return static_cast<std::size_t>(mixed(key.rank, key.tag));
    }
  };
};

}  // namespace tutti
