#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "support/errors.hpp"

/// Collectives in place, by one buffer.
namespace tutti::test {
namespace {

constexpr std::uint32_t ranks = 3;
constexpr std::size_t length = 5;

/// Block b of rank r holds 100·r + b.
std::vector<int> blocks_of(std::uint32_t rank) {
  std::vector<int> all;
  for (std::uint32_t b = 0; b < ranks; ++b) {
    all.insert(all.end(), length, static_cast<int>(100 * rank + b));
  }
  return all;
}

std::vector<int> sums() {
  std::vector<int> all;
  for (std::uint32_t b = 0; b < ranks; ++b)
    all.insert(all.end(), length, static_cast<int>(300 + 3 * b));
  return all;
}

/// Runs the call blocking and asynchronously.
template <class Blocking, class Asynchronous>
void both_ways(Blocking&& blocking, Asynchronous&& asynchronous) {
  run_threads(ranks, [&](Communicator& comm) {
    for (const bool waits : {true, false}) {
      std::vector<int> data = blocks_of(comm.rank());
      if (waits) {
        blocking(comm, data);
      } else {
        asynchronous(comm, data);
      }
    }
  });
}

TEST(InPlace, AllGather) {
  const auto expect = [](const std::vector<int>& data) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      EXPECT_EQ(data[r * length], static_cast<int>(101 * r));
      EXPECT_EQ(data[r * length + length - 1], static_cast<int>(101 * r));
    }
  };
  both_ways(
      [&](Communicator& comm, std::vector<int>& data) {
        comm.all_gather(data);
        expect(data);
      },
      [&](Communicator& comm, std::vector<int>& data) {
        comm.all_gather_async(data).wait();
        expect(data);
      });
}

TEST(InPlace, Reduce) {
  const auto expect = [](Communicator& comm, const std::vector<int>& data) {
    EXPECT_EQ(data, comm.rank() == 1 ? sums() : blocks_of(comm.rank()));
  };
  both_ways(
      [&](Communicator& comm, std::vector<int>& data) {
        comm.reduce(data, 1);
        expect(comm, data);
      },
      [&](Communicator& comm, std::vector<int>& data) {
        comm.reduce_async(data, 1).wait();
        expect(comm, data);
      });
}

TEST(InPlace, ReduceScatter) {
  const auto expect = [](Communicator& comm, const std::vector<int>& data) {
    EXPECT_EQ(data[comm.rank() * length], static_cast<int>(300 + 3 * comm.rank()));
    EXPECT_EQ(data[comm.rank() * length + length - 1], static_cast<int>(300 + 3 * comm.rank()));
  };
  both_ways(
      [&](Communicator& comm, std::vector<int>& data) {
        comm.reduce_scatter(data);
        expect(comm, data);
      },
      [&](Communicator& comm, std::vector<int>& data) {
        comm.reduce_scatter_async(data, Op::sum).wait();
        expect(comm, data);
      });
}

TEST(InPlace, AllToAll) {
  const auto expect = [](Communicator& comm, const std::vector<int>& data) {
    for (std::uint32_t s = 0; s < ranks; ++s) {
      EXPECT_EQ(data[s * length], static_cast<int>(100 * s + comm.rank()));
    }
  };
  both_ways(
      [&](Communicator& comm, std::vector<int>& data) {
        comm.all_to_all(data);
        expect(comm, data);
      },
      [&](Communicator& comm, std::vector<int>& data) {
        comm.all_to_all_async(data).wait();
        expect(comm, data);
      });
}

TEST(InPlace, ScatterAndGatherAtTheRoot) {
  run_threads(ranks, [](Communicator& comm) {
    std::vector<int> data = blocks_of(comm.rank());
    const std::span<int> own = std::span(data).subspan(comm.rank() * length, length);
    comm.scatter(data, own, 2);
    EXPECT_EQ(own.front(), static_cast<int>(200 + comm.rank()));
    comm.gather(own, data, 2);
    if (comm.rank() == 2) {
      EXPECT_EQ(data, blocks_of(2));
    }
  });
}

TEST(InPlace, NeedsWholeBlocks) {
  run_threads(ranks, [](Communicator& comm) {
    std::vector<int> data(ranks * length + 1);
    expect_error([&] { comm.all_gather(data); }, ErrorCode::invalid_argument, "3 blocks of 5");
    expect_error([&] { comm.reduce_scatter(data); }, ErrorCode::invalid_argument, "3 blocks of 5");
  });
}

}  // namespace
}  // namespace tutti::test
