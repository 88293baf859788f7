#include <functional>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "support/errors.hpp"
#include "support/free_address.hpp"

/// The secret that a process needs to join a group.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;

void expect_total(Communicator& comm, std::uint32_t ranks) {
  std::vector<std::uint32_t> data(1000, 1);
  comm.all_reduce(data);
  EXPECT_EQ(data[999], ranks);
}

/// The group of two threads, whose members run `as_member`, grows while another thread runs
/// `as_newcomer`.
void grow_with(const CommunicatorOptions& options,
               const std::function<void(Communicator&)>& as_member,
               const std::function<void()>& as_newcomer) {
  std::thread joining(as_newcomer);
  run_threads(2, as_member, options);
  joining.join();
}

TEST(GrowthSecret, AdmitsAProcessWithTheSecretOfTheGroup) {
  const std::string at = free_address();
  const CommunicatorOptions options{.secret = "one secret"};
  grow_with(
      options,
      [&](Communicator& comm) {
        comm.set_completed(7);
        Regrouped first = comm.grow({.at = at, .most = 1, .wait = 10s});
        EXPECT_EQ(first.joined, 1U);
        EXPECT_EQ(first.completed, 7U);
        EXPECT_TRUE(first.gone.empty());
        std::optional<Communicator> grown = std::move(first.communicator);
        ASSERT_TRUE(grown);
        expect_total(*grown, 3);
        // The larger group admits others by the same secret.
        grown = grown->grow({.at = at, .most = 1, .wait = 10s}).communicator;
        ASSERT_TRUE(grown);
        expect_total(*grown, 4);
      },
      [&] {
        Communicator first = Communicator::join(at, 20s, options);
        expect_total(first, 3);
        std::thread second([&] {
          Communicator comm = Communicator::join(at, 20s, options);
          expect_total(comm, 4);
        });
        std::optional<Communicator> grown =
            first.grow({.at = at, .most = 1, .wait = 10s}).communicator;
        ASSERT_TRUE(grown);
        expect_total(*grown, 4);
        second.join();
      });
}

TEST(GrowthSecret, RefusesAProcessWithAnotherOrNone) {
  for (const char* const secret : {"another secret", ""}) {
    const std::string at = free_address();
    grow_with(
        {.secret = "one secret"},
        [&](Communicator& comm) {
          EXPECT_FALSE(comm.grow({.at = at, .most = 1, .wait = 3s}).communicator);
          expect_total(comm, 2);
        },
        [&] {
          expect_error([&] { (void)Communicator::join(at, 10s, {.secret = secret}); },
                       ErrorCode::mismatch, "CommunicatorOptions::secret");
        });
  }
}

TEST(GrowthSecret, RefusesAProcessWithASecretIfTheGroupHasNone) {
  const std::string at = free_address();
  grow_with(
      {},
      [&](Communicator& comm) {
        EXPECT_FALSE(comm.grow({.at = at, .most = 1, .wait = 3s}).communicator);
        expect_total(comm, 2);
      },
      [&] {
        expect_error([&] { (void)Communicator::join(at, 10s, {.secret = "a secret"}); },
                     ErrorCode::mismatch, "CommunicatorOptions::secret");
      });
}

/// Its ranks authenticate each other by the key of the id and the secret.
TEST(GrowthSecret, IsThatOfTheCallerInAGroupMadeByAnId) {
  const std::string at = free_address();
  const CommunicatorOptions options{.secret = "one secret"};
  const UniqueId id = UniqueId::make({.interfaces = "lo"});
  const auto work = [&](std::uint32_t rank) {
    Communicator comm = Communicator::create(id, rank, 2, options);
    std::optional<Communicator> grown = comm.grow({.at = at, .most = 1, .wait = 10s}).communicator;
    ASSERT_TRUE(grown);
    expect_total(*grown, 3);
  };
  std::thread first([&] { work(0); });
  std::thread second([&] { work(1); });
  Communicator comm = Communicator::join(at, 20s, options);
  expect_total(comm, 3);
  first.join();
  second.join();
}

}  // namespace
}  // namespace tutti::test
