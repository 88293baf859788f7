#include "api/failure/shrink.hpp"

#include <algorithm>

#include "api/failure/ballot.hpp"
#include "api/group/identity.hpp"
#include "rendezvous/thread_exchange.hpp"

namespace tutti {
namespace {

/// An exchange among the surviving ranks.
class ConsensusExchange final : public Exchange {
 public:
  ConsensusExchange(Consensus& consensus, std::vector<std::uint32_t> ranks,
                    std::uint32_t first_round)
      : consensus_(consensus), ranks_(std::move(ranks)), round_(first_round) {}

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& contribution) override {
    return consensus_.exchange(ranks_, round_++, contribution);
  }

 private:
  Consensus& consensus_;
  std::vector<std::uint32_t> ranks_;
  std::uint32_t round_;
};

/// A rank whose ballot was not counted must not continue: the others have gone on without it.
void require_part(const Ballots& ballots, std::uint32_t self) {
  if (ballots.contains(self)) return;
  throw Error(ErrorCode::peer_lost, "rank " + std::to_string(self) +
                                        ": the others went on without this rank, which answered "
                                        "too late; join them again");
}

Regrouped shrink_alone(Communicator::Impl& parent, std::uint64_t completed) {
  const std::uint64_t identity = derived_identity(parent.settings().identity, 0, 0);
  ThreadGather gather(1);
  ThreadExchange exchange(gather, Rank{0}, Clock::now() + parent.settings().timeout);
  return {.communicator = Communicator(std::make_unique<Communicator::Impl>(
              parent.fabric(), parent.membership_of({0}, identity), exchange,
              parent.settings_for({0}, identity))),
          .completed = completed};
}

/// None if that failed.
std::optional<Communicator> build_from(Communicator::Impl& parent,
                                       const std::vector<std::uint32_t>& members) {
  constexpr std::uint32_t rounds_each = 64;
  Consensus& consensus = *parent.health().consensus();
  const std::uint32_t question = consensus.questions();
  ConsensusExchange exchange(consensus, members, question * rounds_each);
  const std::uint64_t identity =
      derived_identity(parent.settings().identity, ~std::uint64_t{0}, question);
  try {
    return Communicator(std::make_unique<Communicator::Impl>(
        parent.fabric(), parent.membership_of(members, identity), exchange,
        parent.settings_for(members, identity)));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

Regrouped shrink(Communicator::Impl& parent, std::uint64_t completed) {
  const Communicator::Impl::Entry entry(parent);
  parent.finish_started();  // If the communicator has failed, they have failed or will at once.
  parent.health().require_failure();
  Consensus* const consensus = parent.health().consensus();
  if (consensus == nullptr) return shrink_alone(parent, completed);
  const std::uint32_t ranks = parent.size();
  // More ranks may be lost while the survivors build the new communicator: then they try again. If
  // none is, a rank has not come within the timeout: that is repeated once.
  constexpr std::uint32_t most_vain_attempts = 2;
  std::uint32_t vain_attempts = 0;
  for (std::uint32_t attempt = 0; attempt <= ranks && vain_attempts < most_vain_attempts;
       ++attempt) {
    const Ballot own{.subject = Ballot::Subject::shrinks,
                     .completed = completed,
                     .retried = parent.health().completed()};
    Ballots ballots = consensus->agree(own.text());
    if (!all_say(ballots, Ballot::Subject::shrinks)) continue;
    ballots = those_in_step(ballots);
    require_part(ballots, parent.rank());
    Regrouped shrunk{.completed = completed};
    std::vector<std::uint32_t> members;
    for (const auto& [rank, text] : ballots) {
      members.push_back(rank);
      shrunk.completed = std::min(shrunk.completed, Ballot::read(text).completed);
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (!ballots.contains(rank)) shrunk.gone.push_back(rank);
    }
    shrunk.communicator = build_from(parent, members);
    const Ballot built{.subject = Ballot::Subject::has_built,
                       .yes = shrunk.communicator.has_value()};
    const Ballots votes = consensus->agree(built.text(), members);
    require_part(votes, parent.rank());
    const bool all_there = std::all_of(members.begin(), members.end(),
                                       [&](std::uint32_t each) { return votes.contains(each); });
    if (all_there && all_say(votes, Ballot::Subject::has_built)) return shrunk;
    if (all_there) ++vain_attempts;
  }
  const bool is_late = vain_attempts == most_vain_attempts;
  throw Error(is_late ? ErrorCode::timed_out : ErrorCode::peer_lost,
              "rank " + std::to_string(parent.rank()) +
                  ": the surviving ranks could not build a communicator: " +
                  (is_late ? "not all of them took part in time"
                           : "in every attempt another rank was lost"));
}

}  // namespace tutti
