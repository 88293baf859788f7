#include "transport/memory/memory_transport.hpp"

#include <array>

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "transport/inproc/thread_memory.hpp"

namespace tutti::test {
namespace {

/// Two ranks in one thread.
class TwoRanks : public ::testing::Test {
 protected:
  static constexpr Commons::Outbox outbox{.slots = 4, .slot_bytes = 1024};

  ~TwoRanks() override { memory_->leave(); }

  ThreadMemory* const memory_ = ThreadMemory::create(Commons::size(2, outbox), 1);
  MemoryTransport first_{Commons(memory_->data(), 2, outbox), Rank{0}, nullptr, {}};
  MemoryTransport second_{Commons(memory_->data(), 2, outbox), Rank{1}, nullptr, {}};
};

TEST_F(TwoRanks, NamesWhoIsInAnotherCallAsTheCallerDoes) {
  constexpr std::array<std::byte, 4> data{};
  constexpr std::array<Rank, 1> to{Rank{1}};
  first_.begin(17, 17);
  ASSERT_EQ(first_.send(to, data), data.size());
  second_.begin(18, 18);
  expect_error([&] { (void)second_.arrived(Rank{0}); }, ErrorCode::mismatch,
               "rank 0 is in another");
  second_.set_names({Rank{5}, Rank{8}});
  expect_error([&] { (void)second_.arrived(Rank{0}); }, ErrorCode::mismatch,
               "rank 5 is in another");
}

}  // namespace
}  // namespace tutti::test
