#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/tutti.h>

#include "support/free_address.hpp"

/// Groups that are made through a store of C functions.
namespace tutti::test {
namespace {

struct Values {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string> all;
};

int set_value(void* context, const char* key, const void* value, size_t bytes) {
  auto& values = *static_cast<Values*>(context);
  const std::lock_guard lock(values.mutex);
  values.all[key].assign(static_cast<const char*>(value), bytes);
  values.changed.notify_all();
  return 0;
}

int get_value(void* context, const char* key, void* value, size_t room, size_t* bytes) {
  auto& values = *static_cast<Values*>(context);
  std::unique_lock lock(values.mutex);
  const bool is_there = values.changed.wait_for(lock, std::chrono::seconds(10),
                                                [&] { return values.all.contains(key); });
  if (!is_there) return 1;
  const std::string& found = values.all[key];
  *bytes = found.size();
  if (found.size() <= room) std::memcpy(value, found.data(), found.size());
  return 0;
}

int refuse(void* /*context*/, const char* /*key*/, const void* /*value*/, size_t /*bytes*/) {
  return 1;
}

void in_threads(int ranks, const std::function<void(int)>& f) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back([&f, rank] { f(rank); });
  for (std::thread& thread : threads) thread.join();
}

/// With eight ranks, a value is too long for the first buffer of get(), so get() is called again.
TEST(CStore, MakesAGroup) {
  Values values;
  const tuttiStore_t store{.set = set_value, .get = get_value, .context = &values};
  in_threads(8, [&](int rank) {
    tuttiComm_t comm = nullptr;
    ASSERT_EQ(tuttiCommInitFromStore(&comm, 8, rank, &store, "job 7", nullptr), tuttiSuccess)
        << tuttiGetLastError(nullptr);
    int sum = rank;
    EXPECT_EQ(tuttiAllReduce(&sum, &sum, 1, tuttiInt, tuttiSum, comm), tuttiSuccess);
    EXPECT_EQ(sum, 28);
    EXPECT_EQ(tuttiCommDestroy(comm), tuttiSuccess);
  });
}

TEST(CStore, ErrorsOfTheStoreAreReported) {
  Values values;
  tuttiStore_t store{.set = refuse, .get = get_value, .context = &values};
  tuttiComm_t comm = nullptr;
  EXPECT_EQ(tuttiCommInitFromStore(&comm, 2, 1, &store, "job", nullptr), tuttiAborted);
  EXPECT_STREQ(tuttiGetLastError(nullptr),
               "tuttiCommInitFromStore: the store could not set job/0/1");
  EXPECT_EQ(comm, nullptr);
  store.get = nullptr;
  EXPECT_EQ(tuttiCommInitFromStore(&comm, 2, 1, &store, "job", nullptr), tuttiInvalidArgument);
}

TEST(CStore, ShrinkIsRefusedIfNothingHasFailed) {
  Values values;
  const tuttiStore_t store{.set = set_value, .get = get_value, .context = &values};
  in_threads(3, [&](int rank) {
    tuttiComm_t comm = nullptr;
    ASSERT_EQ(tuttiCommInitFromStore(&comm, 3, rank, &store, "job", nullptr), tuttiSuccess);
    if (rank == 1) {
      int number = 1;
      EXPECT_EQ(tuttiBroadcast(&number, &number, 1, tuttiInt, 7, comm), tuttiInvalidArgument);
      tuttiComm_t left = comm;
      EXPECT_EQ(tuttiCommShrink(comm, &left), tuttiInvalidArgument);
      EXPECT_NE(std::string(tuttiGetLastError(nullptr)).find("has not failed"), std::string::npos);
      EXPECT_EQ(left, nullptr);
    }
    int sum = rank;
    EXPECT_EQ(tuttiAllReduce(&sum, &sum, 1, tuttiInt, tuttiSum, comm), tuttiSuccess);
    EXPECT_EQ(sum, 3);
    EXPECT_EQ(tuttiBarrier(comm), tuttiSuccess);
    EXPECT_EQ(tuttiCommDestroy(comm), tuttiSuccess);
  });
}

TEST(CStore, ASecretOfTheConfigIsNeededToJoin) {
  const std::string at = free_address();
  Values values;
  const tuttiStore_t store{.set = set_value, .get = get_value, .context = &values};
  const auto config_with = [](const char* secret) {
    tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
    config.secret = secret;
    return config;
  };
  std::thread newcomer([&] {
    tuttiComm_t comm = nullptr;
    const tuttiConfig_t wrong = config_with("another");
    EXPECT_EQ(tuttiCommJoinConfig(at.c_str(), 10000, &comm, &wrong), tuttiMismatch);
    const tuttiConfig_t right = config_with("the secret");
    ASSERT_EQ(tuttiCommJoinConfig(at.c_str(), 10000, &comm, &right), tuttiSuccess);
    EXPECT_EQ(tuttiBarrier(comm), tuttiSuccess);
    EXPECT_EQ(tuttiCommDestroy(comm), tuttiSuccess);
  });
  in_threads(2, [&](int rank) {
    tuttiComm_t comm = nullptr;
    const tuttiConfig_t config = config_with("the secret");
    ASSERT_EQ(tuttiCommInitFromStore(&comm, 2, rank, &store, "job", &config), tuttiSuccess);
    tuttiComm_t grown = nullptr;
    for (int attempt = 0; attempt < 100 && grown == nullptr; ++attempt) {
      EXPECT_EQ(tuttiCommGrow(comm, at.c_str(), &grown), tuttiSuccess);
      if (grown == nullptr) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ASSERT_NE(grown, nullptr);
    EXPECT_EQ(tuttiBarrier(grown), tuttiSuccess);
    EXPECT_EQ(tuttiCommDestroy(grown), tuttiSuccess);
    EXPECT_EQ(tuttiCommDestroy(comm), tuttiSuccess);
  });
  newcomer.join();
}

TEST(CStore, SurvivorsKnowTheLostRanks) {
  Values values;
  const tuttiStore_t store{.set = set_value, .get = get_value, .context = &values};
  in_threads(3, [&](int rank) {
    tuttiComm_t comm = nullptr;
    ASSERT_EQ(tuttiCommInitFromStore(&comm, 3, rank, &store, "job", nullptr), tuttiSuccess);
    if (rank == 1) {
      EXPECT_EQ(tuttiCommDestroy(comm), tuttiSuccess);
      return;
    }
    EXPECT_EQ(tuttiBarrier(comm), tuttiPeerLost);
    tuttiVerdict_t verdict{};
    EXPECT_EQ(tuttiCommVerdict(comm, &verdict), tuttiSuccess);
    EXPECT_EQ(verdict.result, tuttiPeerLost);
    ASSERT_EQ(verdict.nranks, 1U);
    EXPECT_EQ(verdict.ranks[0], 1);
    tuttiComm_t left = nullptr;
    ASSERT_EQ(tuttiCommShrink(comm, &left), tuttiSuccess) << tuttiGetLastError(nullptr);
    const int* gone = nullptr;
    size_t count = 0;
    EXPECT_EQ(tuttiCommGone(left, &gone, &count), tuttiSuccess);
    ASSERT_EQ(count, 1U);
    EXPECT_EQ(gone[0], 1);
    EXPECT_EQ(tuttiBarrier(left), tuttiSuccess);
    EXPECT_EQ(tuttiCommDestroy(left), tuttiSuccess);
    EXPECT_EQ(tuttiCommDestroy(comm), tuttiSuccess);
  });
}

}  // namespace
}  // namespace tutti::test
