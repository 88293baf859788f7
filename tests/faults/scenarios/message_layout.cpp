#include "faults/scenarios/message_layout.hpp"

#include <algorithm>

namespace tutti::test {

std::optional<std::uint32_t> MessageLane::place_of(std::uint32_t rank) const {
  const auto found = std::find(members.begin(), members.end(), rank);
  if (found == members.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - members.begin());
}

MessageLayout::MessageLayout(const FaultCase& fault_case) {
  Random chance = fault_case.chance();
  const auto rounds = static_cast<std::uint32_t>(fault_case.trial.count);
  has_duplicate = chance.one_in(2);
  has_parts = chance.one_in(2);
  // A rank that waits on one communicator until the deadline is late on the others.
  has_threads = chance.one_in(2) || fault_case.fault == Fault::stop;
  fault_round = chance.below(rounds);
  std::vector<std::uint32_t> all(fault_case.ranks);
  for (std::uint32_t rank = 0; rank < fault_case.ranks; ++rank) all[rank] = rank;
  lanes.push_back({.members = all});
  if (has_duplicate) lanes.push_back({.members = all});
  if (has_parts) {
    for (const std::uint32_t color : {0U, 1U}) {
      MessageLane lane;
      std::copy_if(all.begin(), all.end(), std::back_inserter(lane.members),
                   [&](std::uint32_t rank) { return rank % 2 == color; });
      lanes.push_back(std::move(lane));
    }
  }
  do {
    fault_lane = chance.below(static_cast<std::uint32_t>(lanes.size()));
  } while (!lanes[fault_lane].place_of(fault_case.victim));
  const bool is_of_process = fault_case.takes_life() || fault_case.fault == Fault::stop;
  for (MessageLane& lane : lanes) {
    const bool is_chosen = &lane == &lanes[fault_lane] && fault_case.fault != Fault::none;
    const std::optional<std::uint32_t> victim = lane.place_of(fault_case.victim);
    lane.must_fail = is_of_process ? victim.has_value() : is_chosen;
    lane.plan = MessagePlan::draw(chance, {.ranks = static_cast<std::uint32_t>(lane.members.size()),
                                           .rounds = rounds,
                                           .may_carry = fault_case.fault != Fault::stop});
    if (!is_chosen || fault_case.fault != Fault::mismatch) continue;
    // One message must be too long.
    lane.plan.rounds.back().messages.push_back(
        {.from = *victim,
         .to = chance.below(static_cast<std::uint32_t>(lane.members.size())),
         .tag = 1'000'000,
         .bytes = chance.below(20000U)});
  }
}

}  // namespace tutti::test
