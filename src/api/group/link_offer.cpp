#include "api/group/link_offer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <tutti/error.hpp>

#include "core/shortened.hpp"

namespace tutti {
namespace {

std::string origin(const LinkOffer& offer) {
  return {offer.choice_origin.data(), strnlen(offer.choice_origin.data(), LinkOffer::most_origin)};
}

/// Two origins in one sentence. Files of one name can differ between hosts.
std::string contrast(const LinkOffer& first, const LinkOffer& other, const std::string& between) {
  const bool same = origin(first) == origin(other);
  const auto words = [same](const LinkOffer& offer) {
    std::array<char, 40> contents{};
    std::snprintf(contents.data(), contents.size(), " (contents %08x)",
                  static_cast<unsigned>(offer.choice_digest));
    return origin(offer) + (same ? contents.data() : "");
  };
  return words(first) + between + words(other);
}

}  // namespace

void LinkOffer::set_basis(const ChoiceBasis& basis) {
  choice_digest = basis.digest;
  const std::string text = shortened(basis.origin, most_origin);
  std::copy(text.begin(), text.end(), choice_origin.begin());
}

std::string LinkOffer::text() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }

std::vector<LinkOffer> LinkOffer::all_gather(Exchange& exchange) const {
  std::vector<LinkOffer> offers;
  for (const std::string& each : exchange.all_gather(text())) {
    if (each.size() != sizeof(LinkOffer)) {
      throw Error(
          ErrorCode::mismatch,
          "the ranks use different protocols: use the same version of tutti on all of them");
    }
    std::memcpy(&offers.emplace_back(), each.data(), sizeof(LinkOffer));
  }
  return offers;
}

void require_accepted(std::span<const LinkOffer> offers) {
  const auto refused = std::find_if(offers.begin(), offers.end(), [](const LinkOffer& offer) {
    return offer.refusal != LinkOffer::Refusal::none;
  });
  if (refused == offers.end()) return;
  const std::string rank = "rank " + std::to_string(refused - offers.begin());
  if (refused->refusal == LinkOffer::Refusal::bad_options) {
    throw Error(ErrorCode::invalid_argument,
                rank + " was given options for the new communicator that it cannot take");
  }
  throw Error(ErrorCode::unsupported,
              rank +
                  " has no shared memory left for another communicator: destroy communicators that "
                  "are no longer needed");
}

void require_same_basis(std::span<const LinkOffer> offers) {
  const auto other = std::find_if(offers.begin(), offers.end(), [&](const LinkOffer& offer) {
    return offer.choice_digest != offers.front().choice_digest;
  });
  if (other == offers.end()) return;
  throw Error(ErrorCode::mismatch,
              "ranks choose algorithms differently: rank 0 by " +
                  contrast(offers.front(), *other,
                           ", and rank " + std::to_string(other - offers.begin()) + " by ") +
                  "; give all ranks the same profile, rules (TUTTI_ALGO, TUTTI_RULES), network "
                  "and options");
}

}  // namespace tutti
