#include "api/group/split.hpp"

#include <algorithm>

#include "api/communicator_options.hpp"
#include "api/group/identity.hpp"

namespace tutti {
namespace {

/// An exchange among the ranks of a new communicator, by an allgather of its parent. All ranks of
/// the parent take part. Texts must be equally long on all ranks.
class PartExchange final : public Exchange {
 public:
  /// `members`: ranks of the parent, in the order of the new communicator.
  PartExchange(Communicator::Impl& parent, std::vector<std::uint32_t> members)
      : parent_(parent), members_(std::move(members)) {}

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& text) override {
    std::string all(text.size() * parent_.size(), '\0');
    parent_.run({.collective = Collective::allgather,
                 .input = text.data(),
                 .output = all.data(),
                 .count = text.size()});
    std::vector<std::string> theirs;
    for (const std::uint32_t member : members_) {
      theirs.push_back(all.substr(member * text.size(), text.size()));
    }
    return theirs;
  }

 private:
  Communicator::Impl& parent_;
  std::vector<std::uint32_t> members_;
};

}  // namespace

std::optional<Communicator> split(Communicator::Impl& parent, std::optional<std::uint32_t> color,
                                  std::uint32_t key, const CommunicatorOptions& options) {
  struct Wish {
    std::uint32_t has_color;
    std::uint32_t color;
    std::uint32_t key;
    std::uint32_t rank;
  };
  const Wish own{
      .has_color = color ? 1U : 0U, .color = color.value_or(0), .key = key, .rank = parent.rank()};
  std::vector<Wish> all(parent.size());
  parent.run({.collective = Collective::allgather,
              .input = &own,
              .output = all.data(),
              .count = sizeof(Wish)});
  if (!color) {
    // The ranks with a colour exchange offers, which takes an allgather of all ranks.
    (void)PartExchange(parent, {}).all_gather(LinkOffer{}.text());
    return std::nullopt;
  }
  std::erase_if(all, [&](const Wish& wish) { return wish.has_color == 0 || wish.color != *color; });
  std::stable_sort(all.begin(), all.end(),
                   [](const Wish& a, const Wish& b) { return a.key < b.key; });
  std::vector<std::uint32_t> members;
  members.reserve(all.size());
  for (const Wish& wish : all) members.push_back(wish.rank);
  const std::uint64_t identity =
      derived_identity(parent.settings().identity, parent.health().calls(), *color);
  const Membership membership = parent.membership_of(members, identity);
  PartExchange exchange(parent, members);
  CommunicatorSettings settings = parent.settings_for(members, identity);
  try {
    apply_to_part(options, membership.size(), settings);
  } catch (const Error&) {
    (void)exchange.all_gather(LinkOffer{.refusal = LinkOffer::Refusal::bad_options}.text());
    throw;
  }
  try {
    return Communicator(
        std::make_unique<Communicator::Impl>(parent.fabric(), membership, exchange, settings));
  } catch (...) {
    // Other ranks may have created it. They must not wait for this rank when they agree on a
    // verdict.
    if (Consensus* const consensus = parent.health().consensus())
      consensus->decline(identity, membership.members);
    throw;
  }
}

}  // namespace tutti
