#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/collective.hpp>

#include "versus/library.hpp"

namespace tutti::cli {

/// A library with its settings: one participant of `tutti bench --vs`.
struct Contender {
  Library library = Library::tutti;
  std::vector<std::string> words{};  ///< Its settings: "ring", "yield1".
  bool in_place = false;             ///< Calls are in place. Needs no process of its own.

  [[nodiscard]] bool is_tutti() const { return library == Library::tutti; }
  /// "openmpi", "openmpi:ring+in_place"
  [[nodiscard]] std::string name() const;
  /// The name without the library: "ring+in_place"; "default" without settings.
  [[nodiscard]] std::string setting() const;
  /// The name of its process. Contenders that differ only in in_place share one.
  [[nodiscard]] std::string process() const;

  friend bool operator==(const Contender&, const Contender&) = default;
};

/// The collective, the ranks, and how they reach each other.
struct VersusField {
  Collective collective = Collective::allreduce;
  std::uint32_t ranks = 2;
  bool tcp = false;
};

/// One value of --vs: a library, and one setting of it, "all", or nothing.
struct PeerWish {
  Library library = Library::openmpi;
  std::string settings{};

  /// "openmpi", "openmpi:ring", as it was typed.
  [[nodiscard]] std::string text() const;
};

/// Parses "openmpi", "openmpi:ring", "gloo:halving_doubling+sync_busy" or "mpich:all". Throws
/// invalid_argument for an unknown library.
[[nodiscard]] PeerWish parse_peer_wish(const std::string& text);

/// The contenders of a wish. A library without a setting stands for all of its settings that were
/// the fastest for some size, so that tutti is compared with the best of it. Empty if the library
/// does not support this field. Throws invalid_argument for an unknown setting.
[[nodiscard]] std::vector<Contender> contenders(const PeerWish& wish, const VersusField& field);

}  // namespace tutti::cli
