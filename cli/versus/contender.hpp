#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tutti/collective.hpp>

namespace tutti::cli {

/// A library with what is set in it: one of those that take turns in `tutti bench --vs`.
struct Contender {
  std::string library{};             ///< "openmpi"
  std::vector<std::string> words{};  ///< What is set: "ring", "yield1".
  bool in_place = false;             ///< Asked so; needs no process of its own.

  [[nodiscard]] bool is_tutti() const { return library == "tutti"; }
  /// "openmpi", "openmpi:ring+in_place"
  [[nodiscard]] std::string name() const;
  /// The name without the library: "ring+in_place"; "default" if nothing is set.
  [[nodiscard]] std::string setting() const;
  /// Names its process: what differs only in how it is asked shares one.
  [[nodiscard]] std::string process() const;

  friend bool operator==(const Contender&, const Contender&) = default;
};

/// Between which ranks, and how they reach each other.
struct VersusField {
  Collective collective = Collective::allreduce;
  std::uint32_t ranks = 2;
  bool tcp = false;
};

/// What "openmpi", "openmpi:ring", "gloo:halving_doubling+sync_busy" or "mpich:all" stands for. A
/// library alone stands for those of its settings that have been the fastest somewhere, so that
/// tutti is held against the best of it. Empty if the library cannot do it this way at all. Throws
/// invalid_argument.
[[nodiscard]] std::vector<Contender> contenders(const std::string& wish, const VersusField& field);

/// How to start a contender as a program that follows (bench/peers/README.md).
struct VersusCommand {
  std::vector<std::string> words{};
  std::vector<std::pair<std::string, std::string>> variables{};
};

/// `folder` is where the peers' programs are. Throws invalid_argument for unknown settings.
[[nodiscard]] VersusCommand command_of(const Contender& contender, const VersusField& field,
                                       const std::string& folder);

}  // namespace tutti::cli
