#include <algorithm>

#include "api/communicator_impl.hpp"
#include "api/communicator_options.hpp"
#include "api/group/ballot.hpp"
#include "rendezvous/thread_exchange.hpp"

/// Communicators that come from others: parts of them, and what is left of them.
namespace tutti {
namespace {

/// Of a communicator that comes from another: all its ranks find the same. Never one of the first
/// numbers, which are those of the messages and of communicators that come from no other.
std::uint64_t identity_of(std::uint64_t parent, std::uint64_t occasion, std::uint64_t part) {
  constexpr std::uint64_t reserved = 16;
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15ULL;
  std::uint64_t hash = parent;
  for (const std::uint64_t each : {occasion, part}) {
    // Small numbers must not cancel each other.
    hash = (hash ^ (each + odd)) * odd;
    hash = (hash ^ (hash >> 32)) * 0xD6E8FEB86659FD93ULL;
    hash ^= hash >> 29;
  }
  return hash < reserved ? hash + reserved : hash;
}

/// The survivors' way to tell each other where they are.
class CouncilExchange final : public Exchange {
 public:
  CouncilExchange(Council& council, std::vector<std::uint32_t> ranks, std::uint32_t first_round)
      : council_(council), ranks_(std::move(ranks)), round_(first_round) {}

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& card) override {
    return council_.exchange(ranks_, round_++, card);
  }

 private:
  Council& council_;
  std::vector<std::uint32_t> ranks_;
  std::uint32_t round_;
};

/// By an allgather of the communicator that a new one comes from, which all its ranks make, those
/// that will not be in the new one too. Texts must be as long on all ranks.
class PartExchange final : public Exchange {
 public:
  /// `members` are those of the new communicator, in its order.
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

/// Whoever was not heard must not go on alone: the others do, without it.
void require_part(const Ballots& ballots, std::uint32_t self) {
  if (ballots.contains(self)) return;
  throw Error(ErrorCode::peer_lost, "rank " + std::to_string(self) +
                                        ": the others went on without this rank, which answered "
                                        "too late; join them anew");
}

}  // namespace

std::optional<Communicator> Communicator::Impl::split(std::optional<std::uint32_t> color,
                                                      std::uint32_t key,
                                                      const CommunicatorOptions& options) {
  struct Wish {
    std::uint32_t has_color;
    std::uint32_t color;
    std::uint32_t key;
    std::uint32_t rank;
  };
  const Wish own{
      .has_color = color ? 1U : 0U, .color = color.value_or(0), .key = key, .rank = rank()};
  std::vector<Wish> all(ranks_);
  run({.collective = Collective::allgather,
       .input = &own,
       .output = all.data(),
       .count = sizeof(Wish)});
  if (!color) {
    // The others go on to tell each other what they offer.
    (void)PartExchange(*this, {}).all_gather(LinkOffer{}.text());
    return std::nullopt;
  }
  std::erase_if(all, [&](const Wish& wish) { return wish.has_color == 0 || wish.color != *color; });
  std::stable_sort(all.begin(), all.end(),
                   [](const Wish& a, const Wish& b) { return a.key < b.key; });
  std::vector<std::uint32_t> members;
  members.reserve(all.size());
  for (const Wish& wish : all) members.push_back(wish.rank);
  const std::uint64_t identity = identity_of(settings_.identity, calls_, *color);
  const Membership membership = membership_of(members, identity);
  PartExchange exchange(*this, members);
  CommunicatorSettings settings = settings_for(members, identity);
  try {
    apply_to_part(options, membership.size(), settings);
  } catch (const Error&) {
    (void)exchange.all_gather(LinkOffer{.refusal = LinkOffer::Refusal::bad_options}.text());
    throw;
  }
  try {
    return Communicator(std::make_unique<Impl>(fabric_, membership, exchange, settings));
  } catch (...) {
    // Others may have it, and would wait for this rank when they seek a verdict.
    if (council_) council_->decline(identity, membership.members);
    throw;
  }
}

/// Of a communicator that has some of these ranks, this one among them.
Membership Communicator::Impl::membership_of(const std::vector<std::uint32_t>& members,
                                             std::uint64_t identity) const {
  const auto place = std::find(members.begin(), members.end(), rank());
  Membership membership{.context = identity,
                        .self = Rank{static_cast<std::uint32_t>(place - members.begin())},
                        .members = {}};
  for (const std::uint32_t member : members) membership.members.push_back(members_[member]);
  return membership;
}

CommunicatorSettings Communicator::Impl::settings_for(const std::vector<std::uint32_t>& members,
                                                      std::uint64_t identity) const {
  CommunicatorSettings theirs = settings_;
  theirs.identity = identity;
  if (members.size() < ranks_) theirs.shape = {};
  if (theirs.network && members.size() < ranks_) {
    theirs.places.clear();
    for (const std::uint32_t member : members) {
      theirs.places.push_back(settings_.places.empty() ? Rank{member} : settings_.places[member]);
    }
  }
  return theirs;
}

Shrunk Communicator::Impl::shrink(std::uint64_t completed) {
  const Entry entry(*this);
  if (!worker_.idle()) worker_.add([] {}).wait();  // What was begun has failed, or will at once.
  if (!council_) return shrink_alone(completed);
  // Others may be lost while those who are left start anew: then they start once more.
  for (std::uint32_t attempt = 0; attempt <= ranks_; ++attempt) {
    const Ballot own{.subject = Ballot::Subject::shrinks,
                     .completed = completed,
                     .retried = settings_.completed};
    Ballots ballots = council_->agree(own.text());
    if (!all_say(ballots, Ballot::Subject::shrinks)) continue;
    ballots = those_in_step(ballots);
    require_part(ballots, rank());
    Shrunk shrunk{.completed = completed};
    std::vector<std::uint32_t> members;
    for (const auto& [rank, text] : ballots) {
      members.push_back(rank);
      shrunk.completed = std::min(shrunk.completed, Ballot::read(text).completed);
    }
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (!ballots.contains(rank)) shrunk.gone.push_back(rank);
    }
    shrunk.communicator = build_from(members);
    const Ballot built{.subject = Ballot::Subject::has_built,
                       .yes = shrunk.communicator.has_value()};
    const Ballots votes = council_->agree(built.text(), members);
    require_part(votes, rank());
    const bool all_there = std::all_of(members.begin(), members.end(),
                                       [&](std::uint32_t each) { return votes.contains(each); });
    if (all_there && all_say(votes, Ballot::Subject::has_built)) return shrunk;
  }
  throw Error(ErrorCode::peer_lost, "rank " + std::to_string(rank()) +
                                        ": those who are left could not start anew, for again and "
                                        "again another was lost");
}

Shrunk Communicator::Impl::shrink_alone(std::uint64_t completed) {
  const std::uint64_t identity = identity_of(settings_.identity, 0, 0);
  ThreadTable table(1);
  ThreadExchange exchange(table, Rank{0}, Clock::now() + settings_.timeout);
  return {.communicator = Communicator(std::make_unique<Impl>(
              fabric_, membership_of({0}, identity), exchange, settings_for({0}, identity))),
          .completed = completed};
}

/// None if that failed.
std::optional<Communicator> Communicator::Impl::build_from(
    const std::vector<std::uint32_t>& members) {
  constexpr std::uint32_t rounds_each = 64;
  const std::uint32_t question = council_->questions();
  CouncilExchange exchange(*council_, members, question * rounds_each);
  const std::uint64_t identity = identity_of(settings_.identity, ~std::uint64_t{0}, question);
  try {
    return Communicator(std::make_unique<Impl>(fabric_, membership_of(members, identity), exchange,
                                               settings_for(members, identity)));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace tutti
