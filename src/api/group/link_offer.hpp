#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tutti/exchange.hpp>

namespace tutti {

/// What a communicator bases its choice of algorithms on: a digest, which must be equal on all
/// ranks, and a text that names the sources.
struct ChoiceBasis {
  std::uint64_t digest = 0;
  std::string origin{};
};

/// What a rank sends the others before a communicator is linked.
struct LinkOffer {
  static constexpr std::size_t most_transports = 4;
  static constexpr std::size_t most_origin = 256;
  enum class Refusal : std::uint64_t { none, no_room, bad_options };

  std::array<std::uint64_t, most_transports> words{};  ///< By transport: Transport::offer().
  Refusal refusal = Refusal::none;
  std::uint64_t choice_digest = 0;
  std::array<char, most_origin> choice_origin{};

  void set_basis(const ChoiceBasis& basis);

  [[nodiscard]] std::string text() const;
  /// Exchanges offers. Throws mismatch if a rank sends something else.
  [[nodiscard]] std::vector<LinkOffer> all_gather(Exchange& exchange) const;
};

/// Each throws on all ranks alike, since all have the same offers. The first: unsupported, or
/// invalid_argument, if a rank refuses. The second: mismatch if the choice of algorithms has
/// different bases, because the ranks would then wait for messages that are never sent.
void require_accepted(std::span<const LinkOffer> offers);
void require_same_basis(std::span<const LinkOffer> offers);

}  // namespace tutti
