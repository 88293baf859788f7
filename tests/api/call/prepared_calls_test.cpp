#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "support/errors.hpp"
#include "support/forked_child.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t group_size = 3;
constexpr Rank the_root = 1;

/// Some lengths of a block: inline, staged, and in several slices.
constexpr std::size_t lengths[] = {2, 700, 40'000};

/// What rank r brings in a round.
std::vector<int> brought(std::uint32_t rank, std::size_t length, int round) {
  std::vector<int> data(length);
  for (std::size_t i = 0; i < length; ++i) {
    data[i] = static_cast<int>(1000 * rank + i % 97) + 7 * round;
  }
  return data;
}

/// A call that is made both ways: prepared on some buffers, and plain on others.
struct Both {
  std::function<PreparedCall(Communicator&, std::vector<int>&, std::vector<int>&)> prepare;
  std::function<void(Communicator&, std::vector<int>&, std::vector<int>&)> plain;
  std::uint32_t inputs;  ///< Lengths in blocks.
  std::uint32_t outputs;
  bool in_place = false;
};

const Both both_ways[] = {
    {[](auto& c, auto& /*in*/, auto& out) { return c.prepare_broadcast(out, the_root); },
     [](auto& c, auto& /*in*/, auto& out) { c.broadcast(out, the_root); }, 1, 1, true},
    {[](auto& c, auto& in, auto& out) { return c.prepare_all_gather(in, out); },
     [](auto& c, auto& in, auto& out) { c.all_gather(in, out); }, 1, group_size},
    {[](auto& c, auto& /*in*/, auto& out) { return c.prepare_all_gather(out); },
     [](auto& c, auto& /*in*/, auto& out) { c.all_gather(out); }, group_size, group_size, true},
    {[](auto& c, auto& in, auto& out) { return c.prepare_scatter(in, out, the_root); },
     [](auto& c, auto& in, auto& out) { c.scatter(in, out, the_root); }, group_size, 1},
    {[](auto& c, auto& in, auto& out) { return c.prepare_gather(in, out, the_root); },
     [](auto& c, auto& in, auto& out) { c.gather(in, out, the_root); }, 1, group_size},
    {[](auto& c, auto& in, auto& out) { return c.prepare_all_reduce(in, out, Op::max); },
     [](auto& c, auto& in, auto& out) { c.all_reduce(in, out, Op::max); }, 1, 1},
    {[](auto& c, auto& /*in*/, auto& out) { return c.prepare_all_reduce(out); },
     [](auto& c, auto& /*in*/, auto& out) { c.all_reduce(out); }, 1, 1, true},
    {[](auto& c, auto& in, auto& out) { return c.prepare_reduce(in, out, the_root); },
     [](auto& c, auto& in, auto& out) { c.reduce(in, out, the_root); }, 1, 1},
    {[](auto& c, auto& /*in*/, auto& out) { return c.prepare_reduce(out, the_root); },
     [](auto& c, auto& /*in*/, auto& out) { c.reduce(out, the_root); }, 1, 1, true},
    {[](auto& c, auto& in, auto& out) { return c.prepare_reduce_scatter(in, out); },
     [](auto& c, auto& in, auto& out) { c.reduce_scatter(in, out); }, group_size, 1},
    {[](auto& c, auto& /*in*/, auto& out) { return c.prepare_reduce_scatter(out); },
     [](auto& c, auto& /*in*/, auto& out) { c.reduce_scatter(out); }, group_size, group_size, true},
    {[](auto& c, auto& in, auto& out) { return c.prepare_all_to_all(in, out); },
     [](auto& c, auto& in, auto& out) { c.all_to_all(in, out); }, group_size, group_size},
    {[](auto& c, auto& /*in*/, auto& out) { return c.prepare_all_to_all(out); },
     [](auto& c, auto& /*in*/, auto& out) { c.all_to_all(out); }, group_size, group_size, true},
    {[](auto& c, auto& /*in*/, auto& /*out*/) { return c.prepare_barrier(); },
     [](auto& c, auto& /*in*/, auto& /*out*/) { c.barrier(); }, 1, 1},
};

/// Each round has other data. In every other round one of the ranks makes the call plainly.
TEST(PreparedCalls, DoWhatPlainCallsDo) {
  run_threads(group_size, [](Communicator& comm) {
    for (const Both& each : both_ways) {
      for (const std::size_t length : lengths) {
        std::vector<int> in(length * each.inputs);
        std::vector<int> out(length * each.outputs);
        PreparedCall call = each.prepare(comm, in, out);
        for (int round = 0; round < 6; ++round) {
          const std::vector<int> data = brought(comm.rank(), in.size(), round);
          std::vector<int> same_in = data;
          std::vector<int> same_out(out.size(), -1);
          if (each.in_place) same_out = data;
          each.plain(comm, same_in, same_out);
          in = data;
          out.assign(out.size(), -1);
          if (each.in_place) out = data;
          if (round % 2 == 1 && comm.rank() == 2) {
            each.plain(comm, in, out);
          } else if (round % 3 == 0) {
            call.start().wait();
          } else {
            call.run();
          }
          const auto at = static_cast<std::size_t>(&each - both_ways);
          ASSERT_EQ(out, same_out) << "call " << at << ", length " << length << ", round " << round;
        }
      }
    }
  });
}

TEST(PreparedCalls, KeepTheArgumentsButNotTheData) {
  run_threads(2, [](Communicator& comm) {
    std::vector<double> block(comm.rank() + 1, 0.0);
    std::vector<double> blocks(3);
    std::optional<PreparedCall> call;
    {
      const std::vector<std::uint64_t> counts{1, 2};
      const std::string algorithm = "allgather/ring";
      const std::string site = "a place that is gone";
      call = comm.prepare({.collective = Collective::allgather,
                           .input = block.data(),
                           .output = blocks.data(),
                           .counts = counts,
                           .dtype = DType::f64,
                           .options = {.algorithm = algorithm, .site = site, .keep_input = true}});
    }
    for (int round = 0; round < 3; ++round) {
      block.assign(block.size(), 10.0 * comm.rank() + round);
      call->run();
      EXPECT_EQ(blocks, (std::vector<double>{0.0 + round, 10.0 + round, 10.0 + round}));
    }
  });
}

TEST(PreparedCalls, OfShardsAreReproducible) {
  run_threads(2, [](Communicator& comm) {
    std::vector<float> first(5, 1e8F);
    std::vector<float> second(5, comm.rank() == 0 ? 0.25F : -1e8F);
    std::vector<float> sum(5);
    std::optional<PreparedCall> call;
    {
      const std::vector<const void*> shards{first.data(), second.data()};
      call = comm.prepare({.collective = Collective::allreduce,
                           .output = sum.data(),
                           .shards = shards,
                           .count = 5,
                           .dtype = DType::f32,
                           .reduction = Op::sum,
                           .options = {.reproducible = Reproducible::exact}});
    }
    for (int round = 0; round < 2; ++round) {
      call->run();
      EXPECT_EQ(sum, std::vector<float>(5, 1e8F));
      call->start().wait();
      EXPECT_EQ(sum, std::vector<float>(5, 1e8F));
    }
  });
}

TEST(PreparedCalls, MayBeStartedManyTimes) {
  run_threads(2, [](Communicator& comm) {
    std::vector<int> data(1000, 1);
    std::vector<Work> started;
    {
      PreparedCall call = comm.prepare_all_reduce(data);
      for (int i = 0; i < 8; ++i) started.push_back(call.start());
      call.run();  // After all of them.
      EXPECT_EQ(data, std::vector<int>(1000, 512));
      started.push_back(call.start());
    }
    for (const Work& work : started) work.wait();
    EXPECT_EQ(data, std::vector<int>(1000, 1024));
  });
}

TEST(PreparedCalls, AreRefusedWhenTheyArePrepared) {
  run_threads(2, [](Communicator& comm) {
    std::vector<int> in(4);
    std::vector<int> out(5);
    expect_error([&] { (void)comm.prepare_all_reduce(in, out); }, ErrorCode::invalid_argument,
                 "all_reduce");
    expect_error([&] { (void)comm.prepare_broadcast(in, 2); }, ErrorCode::invalid_argument, "root");
    const CallOptions ring{.algorithm = "allgather/ring"};
    expect_error([&] { (void)comm.prepare_all_reduce(in, Op::sum, ring); },
                 ErrorCode::invalid_argument, "allgather/ring");
    comm.barrier();
  });
}

TEST(PreparedCalls, OutliveACommunicatorThatIsMovedButNotOneThatIsGone) {
  run_threads(2, [](Communicator& comm) {
    std::vector<int> data(10, 1);
    std::optional<PreparedCall> call;
    {
      Communicator twin = comm.duplicate();
      call = twin.prepare_all_reduce(data);
      const Communicator moved = std::move(twin);
      call->run();
      EXPECT_EQ(data, std::vector<int>(10, 2));
    }
    expect_error([&] { call->run(); }, ErrorCode::invalid_argument,
                 "allreduce: the communicator of this prepared call is gone");
    expect_error([&] { (void)call->start(); }, ErrorCode::invalid_argument, "is gone");
    PreparedCall other = std::move(*call);
    expect_error([&] { call->run(); }, ErrorCode::invalid_argument, "moved from");
    expect_error([&] { other.run(); }, ErrorCode::invalid_argument, "is gone");
  });
}

TEST(PreparedCalls, EndWithTheVerdictOnceTheCommunicatorHasFailed) {
  run_threads(2, [](Communicator& comm) {
    std::vector<int> data(10, 1);
    PreparedCall call = comm.prepare_all_reduce(data, Op::sum, {.timeout = 5s});
    call.run();
    if (comm.rank() == 0) comm.abort("enough");
    expect_error(
        [&] {
          while (true) call.run();
        },
        ErrorCode::aborted, "enough");
    expect_error([&] { call.run(); }, ErrorCode::aborted, "enough");
    expect_error([&] { call.start().wait(); }, ErrorCode::aborted, "enough");
    std::vector<int> again(10, 1);
    Communicator rest = std::move(*comm.shrink().communicator);
    rest.prepare_all_reduce(again).run();
    EXPECT_EQ(again, std::vector<int>(10, 2));
  });
}

TEST(PreparedCalls, AreRefusedInAForkedChild) {
  run_threads(1, [](Communicator& comm) {
    std::vector<int> data(10, 1);
    PreparedCall call = comm.prepare_all_reduce(data);
    ForkedChild child([&]() -> std::string {
      try {
        call.run();
      } catch (const Error& error) {
        return error.code() == ErrorCode::aborted ? "" : error.what();
      }
      return "nothing was thrown";
    });
    EXPECT_EQ(child.wait(), "");
    call.run();
  });
}

}  // namespace
}  // namespace tutti::test
