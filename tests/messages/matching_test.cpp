#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "messages/posted_receives.hpp"
#include "messages/unexpected_messages.hpp"
#include "support/random.hpp"

/// Receives and messages match in order, beside lists that are searched from the front.
namespace tutti::test {
namespace {

bool matches(std::uint32_t wanted, std::uint32_t found, std::uint32_t any) {
  return wanted == any || wanted == found;
}

std::shared_ptr<Message> receive_of(std::uint32_t rank, std::uint32_t tag) {
  return Message::receiving({.from = rank, .tag = tag});
}

/// A few ranks and tags, so that they often agree; one in four is "any".
std::uint32_t choice(Random& random, std::uint32_t any) {
  return random.below(4U) == 0 ? any : random.below(3U);
}

TEST(PostedReceives, OldestMatchIsTaken) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    PostedReceives posted;
    std::deque<std::shared_ptr<Message>> list;
    for (int step = 0; step < 400; ++step) {
      if (random.below(2U) == 0) {
        list.push_back(receive_of(choice(random, any_rank), choice(random, any_tag)));
        posted.post(list.back());
        continue;
      }
      const auto rank = random.below(3U);
      const auto tag = random.below(3U);
      const auto oldest = std::find_if(list.begin(), list.end(), [&](const auto& each) {
        return matches(each->peer, rank, any_rank) && matches(each->tag, tag, any_tag);
      });
      const std::shared_ptr<Message> expected = oldest == list.end() ? nullptr : *oldest;
      if (expected) list.erase(oldest);
      ASSERT_EQ(posted.match(rank, tag), expected) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(UnexpectedMessages, OldestMatchIsFound) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    UnexpectedMessages unexpected;
    std::deque<Arrival> list;
    for (int step = 0; step < 400; ++step) {
      if (random.below(2U) == 0) {
        list.push_back(arrival_of({.rank = random.below(3U), .tag = random.below(3U), .bytes = 0}));
        unexpected.keep(list.back());
        continue;
      }
      const std::uint32_t rank = choice(random, any_rank);
      const std::uint32_t tag = choice(random, any_tag);
      const auto oldest = std::find_if(list.begin(), list.end(), [&](const Arrival& each) {
        return matches(rank, each->rank, any_rank) && matches(tag, each->tag, any_tag);
      });
      const Arrival expected = oldest == list.end() ? nullptr : *oldest;
      ASSERT_EQ(unexpected.find(rank, tag), expected) << "seed " << seed << ", step " << step;
      if (!expected || random.below(3U) == 0) continue;  // A probe leaves it.
      unexpected.take(expected);
      list.erase(oldest);
    }
  }
}

}  // namespace
}  // namespace tutti::test
