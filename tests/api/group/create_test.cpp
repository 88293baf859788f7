#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>
#include <tutti/network/network.hpp>
#include <tutti/store.hpp>

#include "support/errors.hpp"
#include "support/eventually.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// A Store in the memory of one process.
class MapStore final : public Store {
 public:
  void set(const std::string& key, const std::string& value) override {
    const std::lock_guard lock(mutex_);
    values_[key] = value;
    changed_.notify_all();
  }

  [[nodiscard]] std::string get(const std::string& key) override {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, patience, [&] { return values_.contains(key); })) {
      throw Error(ErrorCode::timed_out, "no rank has set " + key);
    }
    return values_[key];
  }

  std::chrono::milliseconds patience = 20s;

  [[nodiscard]] std::size_t size() {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;
};

void in_threads(std::uint32_t ranks, const std::function<void(std::uint32_t)>& f) {
  std::vector<std::thread> threads;
  for (std::uint32_t r = 0; r < ranks; ++r) threads.emplace_back([&f, r] { f(r); });
  for (std::thread& thread : threads) thread.join();
}

void expect_sum(Communicator& comm) {
  std::vector<std::uint32_t> data(1000, comm.rank() + 1);
  comm.all_reduce(data);
  EXPECT_EQ(data, std::vector<std::uint32_t>(1000, comm.size() * (comm.size() + 1) / 2));
}

TEST(Create, ByAStore) {
  MapStore store;
  for (const char* const transport : {"shm", "tcp"}) {
    in_threads(3, [&](std::uint32_t rank) {
      StoreExchange exchange(store, std::string("job/") + transport, rank, 3);
      Communicator comm = Communicator::create(exchange, rank, 3, {.transport = transport});
      EXPECT_EQ(comm.rank(), rank);
      EXPECT_EQ(comm.size(), 3U);
      expect_sum(comm);
    });
  }
}

TEST(Create, OneRankDoesNotUseTheStore) {
  MapStore store;
  StoreExchange exchange(store, "alone", 0, 1);
  Communicator comm = Communicator::create(exchange, 0, 1);
  expect_sum(comm);
  EXPECT_EQ(store.size(), 0U);
}

TEST(Create, PassesOnTheErrorOfTheStore) {
  MapStore store;
  store.patience = 100ms;
  StoreExchange exchange(store, "lonely", 0, 2);
  expect_error([&] { (void)Communicator::create(exchange, 0, 2); }, ErrorCode::timed_out,
               "no rank has set lonely/0/1");
}

TEST(Create, RejectsARankOutOfRange) {
  MapStore store;
  expect_error([&] { StoreExchange(store, "", 2, 2); }, ErrorCode::invalid_argument, "rank 2 of 2");
  StoreExchange exchange(store, "", 1, 2);
  expect_error([&] { (void)Communicator::create(exchange, 2, 2); }, ErrorCode::invalid_argument,
               "rank 2 of 2");
}

TEST(Create, RejectsAStoreWithOtherContent) {
  MapStore store;
  store.set("mine/0/all", "7:rubbish99:more");
  StoreExchange exchange(store, "mine", 1, 2);
  expect_error([&] { (void)exchange.all_gather("x"); }, ErrorCode::invalid_argument,
               "use one prefix for each group");
}

TEST(Create, ByAnId) {
  const UniqueId id = UniqueId::make({.interfaces = "lo"});
  EXPECT_LE(id.text().size(), UniqueId::longest);
  in_threads(3, [&](std::uint32_t rank) {
    // As in another process.
    const UniqueId copy(id.text());
    Communicator comm = Communicator::create(copy, rank, 3);
    expect_sum(comm);
  });
  expect_error([&] { (void)Communicator::create(id, 0, 3); }, ErrorCode::invalid_argument,
               "an id makes one communicator");
  expect_error([&] { (void)Communicator::create(UniqueId("what"), 0, 3); },
               ErrorCode::invalid_argument, "this is not a unique id");
}

TEST(Options, SetTheTimeoutOfACommunicator) {
  run_threads(2,
              [](Communicator& comm) {
                if (comm.rank() == 1) {
                  EXPECT_TRUE(eventually([&] { return comm.verdict().has_value(); }));
                  return;
                }
                const auto begun = std::chrono::steady_clock::now();
                EXPECT_THROW(comm.barrier(), Error);
                EXPECT_LT(std::chrono::steady_clock::now() - begun, 20s);
              },
              {.timeout = 100ms});
}

TEST(Options, ChooseTheAlgorithm) {
  const Call call{.collective = Collective::allreduce, .count = 100, .dtype = DType::f32};
  run_threads(4,
              [&](Communicator& comm) {
                EXPECT_EQ(comm.algorithm_for(call), "allreduce/ring");
                Communicator other = comm.duplicate({.algorithm = "allreduce/mesh_two_shot"});
                EXPECT_EQ(other.algorithm_for(call), "allreduce/mesh_two_shot");
                expect_sum(other);
                Communicator heir = other.duplicate();
                EXPECT_EQ(heir.algorithm_for(call), "allreduce/mesh_two_shot");
              },
              {.algorithm = "allreduce/ring"});
}

TEST(Options, DifferencesBetweenRanksAreAMismatch) {
  run_threads(3, [](Communicator& comm) {
    const CommunicatorOptions options{.algorithm =
                                          comm.rank() == 1 ? "allreduce/ring" : "allreduce/mesh"};
    expect_error([&] { (void)comm.duplicate(options); }, ErrorCode::mismatch,
                 "ranks choose algorithms differently: rank 0 by "
                 "CommunicatorOptions::algorithm=allreduce/mesh, ");
    expect_error([&] { (void)comm.duplicate(options); }, ErrorCode::mismatch,
                 "and rank 1 by CommunicatorOptions::algorithm=allreduce/ring, ");
    expect_sum(comm);
  });
}

TEST(Options, InvalidOptionsOfOneRankFailOnAllRanks) {
  run_threads(3, [](Communicator& comm) {
    const CommunicatorOptions options{.shape = {comm.rank() == 1 ? std::vector<std::uint32_t>{2, 2}
                                                                 : std::vector<std::uint32_t>{}}};
    expect_error(
        [&] { (void)comm.duplicate(options); }, ErrorCode::invalid_argument,
        comm.rank() == 1 ? "2x2, which is not a shape of 3 ranks" : "rank 1 was given options");
    expect_sum(comm);
  });
}

TEST(Options, InvalidValuesAreRejected) {
  run_threads(2, [](Communicator& comm) {
    const auto refused = [&](const CommunicatorOptions& options, const std::string& words) {
      expect_error([&] { (void)comm.duplicate(options); }, ErrorCode::invalid_argument, words);
    };
    refused({.timeout = -1ms}, "timeout is negative");
    refused({.algorithm = "allreduce/no_such"}, "no_such");
    refused({.rules_file = "/no/such/rules"}, "/no/such/rules");
    refused({.places = {0, 1}}, "places is set without a network");
    refused({.transport = "tcp"}, "for new groups");
    expect_sum(comm);
  });
  expect_error([] { run_threads(2, [](Communicator&) {}, {.transport = "carrier pigeon"}); },
               ErrorCode::invalid_argument, "CommunicatorOptions::transport is \"carrier pigeon\"");
}

TEST(Options, ThreadsMultipleAllowsSeveralThreads) {
  constexpr std::uint32_t calls = 200;
  run_threads(2,
              [](Communicator& comm) {
                // The order of the threads differs between ranks, so all make the same call.
                const auto work = [&] {
                  for (std::uint32_t i = 0; i < calls; ++i) {
                    std::uint32_t one = 1;
                    std::vector<std::uint32_t> data{one};
                    if (i % 2 == 0) {
                      comm.all_reduce(data);
                    } else {
                      comm.all_reduce_async(data).wait();
                    }
                    EXPECT_EQ(data.front(), 2U);
                  }
                };
                std::thread second(work);
                work();
                second.join();
              },
              {.threads = Threads::multiple});
}

TEST(Options, ThreadsSingleRejectsASecondThread) {
  std::atomic<bool> is_rejected{false};
  run_threads(2, [&](Communicator& comm) {
    if (comm.rank() == 1) {
      EXPECT_TRUE(eventually([&] { return is_rejected.load(); }));
    }
    std::thread first([&] { comm.barrier(); });
    if (comm.rank() == 0) {
      std::this_thread::sleep_for(100ms);
      expect_error([&] { comm.barrier(); }, ErrorCode::invalid_argument, "Threads::multiple");
      is_rejected = true;
    }
    first.join();
  });
}

TEST(Blocks, HaveTypedAsynchronousForms) {
  run_threads(3, [](Communicator& comm) {
    const std::uint32_t rank = comm.rank();
    const std::vector<std::uint64_t> counts{1, 2, 3};
    const std::vector<int> own(counts[rank], static_cast<int>(rank));
    std::vector<int> all(6);
    comm.all_gather_v_async(own, all, counts).wait();
    const std::vector<int> expected{0, 1, 1, 2, 2, 2};
    EXPECT_EQ(all, expected);
    std::vector<int> gathered(rank == 1 ? 6 : 0);
    comm.gather_v_async(own, gathered, counts, 1).wait();
    if (rank == 1) {
      EXPECT_EQ(gathered, expected);
    }
    std::vector<int> mine(counts[rank], -1);
    comm.scatter_v_async(gathered, mine, counts, 1).wait();
    EXPECT_EQ(mine, own);
    comm.reduce_scatter_v_async(all, mine, counts, Op::sum).wait();
    EXPECT_EQ(mine, std::vector<int>(counts[rank], static_cast<int>(3 * rank)));
    const std::vector<std::uint64_t> each(3, 2);
    std::vector<int> exchanged(6);
    std::vector<int> outgoing(6, static_cast<int>(rank));
    comm.all_to_all_v_async(outgoing, each, exchanged, each).wait();
    EXPECT_EQ(exchanged, (std::vector<int>{0, 0, 1, 1, 2, 2}));
  });
}

}  // namespace
}  // namespace tutti::test
