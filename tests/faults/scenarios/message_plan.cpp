#include "faults/scenarios/message_plan.hpp"

#include <algorithm>
#include <cstring>

namespace tutti::test {
namespace {

constexpr std::uint32_t tags_of_round = 4;

/// Sizes for each protocol: within a packet, eager, read in place, by rendezvous, in several
/// pieces.
std::size_t draw_bytes(Random& random) {
  switch (random.below(10U)) {
    case 0:
      return 0;
    case 1:
    case 2:
      return 1 + random.below(48U);
    case 3:
    case 4:
      return 49 + random.below(4048U);
    case 5:
    case 6:
      return 4097 + random.below(4096U);
    case 7:
    case 8:
      return 8193 + random.below(60000U);
    default:
      return random.one_in(4) ? 1'200'000 + random.below(300'000U) : 200'000;
  }
}

void add_message(PlannedRound& round, PlannedMessage message) {
  message.ordinal = static_cast<std::uint32_t>(
      std::count_if(round.messages.begin(), round.messages.end(),
                    [&](const PlannedMessage& each) { return each.is_of_stream(message); }));
  round.messages.push_back(message);
}

void draw_messages(Random& random, std::uint32_t ranks, std::uint32_t number, PlannedRound& round) {
  const std::uint32_t count = 1 + random.below(4 * ranks);
  for (std::uint32_t i = 0; i < count; ++i) {
    add_message(round, {.from = random.below(ranks),
                        .to = random.below(ranks),
                        .tag = number * tags_of_round + random.below(tags_of_round),
                        .bytes = draw_bytes(random)});
  }
  if (!random.one_in(6)) return;
  // More than the eager credit of one sender.
  PlannedMessage many = round.messages.front();
  for (many.bytes = 8000; many.bytes > 7950; --many.bytes) add_message(round, many);
}

PlannedRound draw_round(Random& random, const MessagePlan::Size& size, std::uint32_t number) {
  PlannedRound round;
  draw_messages(random, size.ranks, number, round);
  round.is_fenced = random.one_in(2);
  round.closing = static_cast<PlannedRound::Closing>(random.below(5U));
  const bool waits_for_all = round.closing == PlannedRound::Closing::barrier ||
                             round.closing == PlannedRound::Closing::all_reduce;
  if (round.is_fenced && !waits_for_all) round.closing = PlannedRound::Closing::barrier;
  for (std::uint32_t rank = 0; rank < size.ranks; ++rank) {
    Taking taking = static_cast<Taking>(random.below(8U));
    const bool needs_fence = taking == Taking::any_tag || taking == Taking::anything;
    if (needs_fence && !round.is_fenced) taking = Taking::any_rank;
    round.taking.push_back(taking);
    round.sending.push_back(static_cast<Sending>(random.below(3U)));
    round.carries.push_back(random.one_in(3) && !round.is_fenced && size.may_carry);
  }
  return round;
}

std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ (bits >> 32)) * 0xD6E8FEB86659FD93ULL;
  return bits ^ (bits >> 29);
}

std::uint64_t key_of(std::uint64_t salt, const PlannedMessage& message) {
  std::uint64_t key = salt;
  for (const std::uint64_t each :
       {std::uint64_t{message.from}, std::uint64_t{message.to}, std::uint64_t{message.tag},
        std::uint64_t{message.ordinal}, std::uint64_t{message.bytes}}) {
    key = mixed(key * 31 + each + 1);
  }
  return key;
}

constexpr std::uint64_t step = 0x9E3779B97F4A7C15ULL;

}  // namespace

std::size_t PlannedRound::longest() const {
  std::size_t most = 0;
  for (const PlannedMessage& each : messages) most = std::max(most, each.bytes);
  return most;
}

MessagePlan MessagePlan::draw(Random& random, const Size& size) {
  MessagePlan plan;
  plan.salt = random.bits();
  for (std::uint32_t i = 0; i < size.rounds; ++i) {
    plan.rounds.push_back(draw_round(random, size, i));
  }
  return plan;
}

void MessagePlan::fill(const PlannedMessage& message, std::span<std::byte> memory) const {
  std::uint64_t word = key_of(salt, message);
  for (std::size_t at = 0; at < memory.size(); at += sizeof word, word += step) {
    std::memcpy(memory.data() + at, &word, std::min(sizeof word, memory.size() - at));
  }
}

bool MessagePlan::has_contents(const PlannedMessage& message,
                               std::span<const std::byte> memory) const {
  if (memory.size() < message.bytes) return false;
  std::uint64_t word = key_of(salt, message);
  for (std::size_t at = 0; at < message.bytes; at += sizeof word, word += step) {
    const std::size_t bytes = std::min(sizeof word, message.bytes - at);
    if (std::memcmp(memory.data() + at, &word, bytes) != 0) return false;
  }
  return true;
}

}  // namespace tutti::test
