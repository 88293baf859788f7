#include <array>
#include <atomic>
#include <complex>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>
#include <tutti/memory.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/layout.hpp>

#include "support/errors.hpp"
#include "support/eventually.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

TEST(Communicator, ReducesVectorsArraysAndSpans) {
  run_threads(3, [](Communicator& comm) {
    const std::vector<float> mine(10, static_cast<float>(comm.rank() + 1));
    std::vector<float> sum(10);
    comm.all_reduce(mine, sum);
    EXPECT_EQ(sum, std::vector<float>(10, 6));
    std::array<long, 4> most{long{comm.rank()}, 1, 2, 3};
    comm.all_reduce(most, Op::max);
    EXPECT_EQ(most, (std::array<long, 4>{2, 1, 2, 3}));
    comm.all_reduce(std::span(sum).first(2), Op::avg);
    EXPECT_EQ(sum[0], 6);
  });
}

TEST(Communicator, ReducesShortsAndComplexNumbers) {
  run_threads(3, [](Communicator& comm) {
    const auto rank = static_cast<short>(comm.rank());
    std::vector<short> shorts(100, static_cast<short>(rank - 1000));
    comm.all_reduce(shorts, Op::min);
    EXPECT_EQ(shorts, std::vector<short>(100, -1000));
    std::vector<unsigned short> wrapping(5, 30000);
    comm.all_reduce(wrapping);
    EXPECT_EQ(wrapping, std::vector<unsigned short>(5, 90000 % 65536));
    std::vector<signed char> bytes(3, static_cast<signed char>(rank));
    comm.all_reduce(bytes, Op::max);
    EXPECT_EQ(bytes, std::vector<signed char>(3, 2));

    using Complex = std::complex<float>;
    const auto real = static_cast<float>(rank);
    std::vector<Complex> sum(7);
    comm.all_reduce(std::vector<Complex>(7, Complex(real, 1)), sum);
    EXPECT_EQ(sum, std::vector<Complex>(7, Complex(3, 3)));
    std::vector<std::complex<double>> product(9, {1, double{real}});
    comm.all_reduce(product, Op::prod);
    EXPECT_EQ(product, std::vector<std::complex<double>>(9, {-1, 3}));  // 1 · (1 + i) · (1 + 2i)
    std::vector<Complex> block(2);
    comm.reduce_scatter(std::vector<Complex>(6, Complex(3, real)), block, Op::avg);
    EXPECT_EQ(block, std::vector<Complex>(2, Complex(3, 1)));
  });
}

// Types that are not a Number do not compile: see also tests/headers/refused.
static_assert(Number<short> && Number<unsigned short> && Number<signed char> &&
              Number<unsigned char> && Number<long> && Number<long long> &&
              Number<std::complex<float>> && Number<std::complex<double>> && Number<Float16>);
static_assert(!Number<bool> && !Number<char> && !Number<wchar_t> && !Number<char8_t> &&
              !Number<char16_t> && !Number<char32_t> && !Number<long double> &&
              !Number<std::complex<long double>> && !Number<void*> && !Number<std::vector<float>>);

TEST(Communicator, ReducesWithAUserDefinedFunction) {
  using Complex = std::complex<double>;
  for (const std::uint32_t ranks : {1U, 2U, 3U, 5U}) {
    run_threads(ranks, [&](Communicator& comm) {
      const double rank = comm.rank();
      std::vector<Complex> data(1000, Complex(1, rank));
      comm.all_reduce(data, reduction<Complex>(std::multiplies<>{}));
      Complex product(1, 0);
      for (std::uint32_t r = 0; r < ranks; ++r) product *= Complex(1, r);
      EXPECT_EQ(data.front(), product);
      EXPECT_EQ(data.back(), product);
    });
  }
}

TEST(Communicator, MovesTriviallyCopyableTypes) {
  struct Point {
    std::uint16_t x = 0;
    std::uint8_t y = 0;
    bool operator==(const Point&) const = default;
  };
  run_threads(4, [](Communicator& comm) {
    std::vector<Point> points(3, Point{.x = static_cast<std::uint16_t>(comm.rank()), .y = 7});
    std::vector<Point> all(12);
    comm.all_gather(points, all);
    for (std::uint16_t r = 0; r < 4; ++r) EXPECT_EQ(all[r * 3U], (Point{.x = r, .y = 7}));
    comm.broadcast(points, 2);
    EXPECT_EQ(points[0].x, 2);
  });
}

TEST(Communicator, SendsAndReceives) {
  run_threads(4, [](Communicator& comm) {
    const std::uint32_t next = (comm.rank() + 1) % 4;
    const std::uint32_t before = (comm.rank() + 3) % 4;
    for (const std::size_t count : {0U, 1U, 100U, 100000U}) {
      const std::vector<int> mine(count, static_cast<int>(comm.rank()));
      std::vector<int> theirs(count);
      comm.send_receive(mine, next, theirs, before);
      EXPECT_EQ(theirs, std::vector<int>(count, static_cast<int>(before)));
      if (comm.rank() == 0) comm.send(mine, 3);
      if (comm.rank() == 3) {
        comm.receive(theirs, 0);
        EXPECT_EQ(theirs, std::vector<int>(count, 0));
      }
      comm.send_receive(mine, comm.rank(), theirs, comm.rank());
      EXPECT_EQ(theirs, mine);
    }
  });
}

TEST(Communicator, SplitsIntoRowsAndColumns) {
  run_threads(6, [](Communicator& comm) {
    const std::uint32_t row = comm.rank() / 3;
    const std::uint32_t column = comm.rank() % 3;
    std::optional<Communicator> rows = comm.split(row);
    std::optional<Communicator> columns = comm.split(column, 1 - row);
    ASSERT_TRUE(rows && columns);
    EXPECT_EQ(rows->size(), 3U);
    EXPECT_EQ(rows->rank(), column);
    EXPECT_EQ(columns->rank(), 1 - row) << "ordered by key";
    std::vector<int> data(5, 1 << comm.rank());
    rows->all_reduce(data);
    EXPECT_EQ(data[0], row == 0 ? 7 : 56);
    columns->all_reduce(data);
    EXPECT_EQ(data[4], 63);
    const std::optional<Communicator> odd =
        comm.rank() % 2 == 1 ? comm.split(5) : comm.split(std::nullopt);
    EXPECT_EQ(odd.has_value(), comm.rank() % 2 == 1);
    Communicator again = comm.duplicate();
    EXPECT_EQ(again.rank(), comm.rank());
    again.barrier();
    comm.barrier();
  });
}

TEST(Communicator, RunsAsynchronousCallsInOrder) {
  run_threads(3, [](Communicator& comm) {
    std::vector<std::vector<float>> layers(20, std::vector<float>(3000, 1));
    std::vector<Work> works;
    for (auto& layer : layers) works.push_back(comm.all_reduce_async(layer));
    // A blocking call runs after the earlier asynchronous ones.
    std::vector<float> last(10, 2);
    comm.all_reduce(last);
    EXPECT_EQ(last[0], 6);
    for (const Work& work : works) {
      EXPECT_TRUE(work.test());
      work.wait();
    }
    EXPECT_EQ(layers.back().back(), 3);
    EXPECT_TRUE(Work().test());
    EXPECT_TRUE(comm.barrier_async().wait_for(10s));
  });
}

TEST(Communicator, CountersMatchTheSchedule) {
  for (const Algorithm& algorithm : algorithms(Collective::allreduce)) {
    if (algorithm.needs_shape()) continue;
    for (const std::uint32_t ranks : {2U, 3U, 5U, 8U}) {
      constexpr std::uint64_t count = 5 * 8 * 3 * 512;
      const Schedule schedule = algorithm.schedule({.ranks = ranks});
      run_threads(ranks, [&](Communicator& comm) {
        std::vector<float> data(count);
        comm.all_reduce(data, Op::sum, {.algorithm = algorithm.name});
        const Counters counters = comm.counters(Collective::allreduce);
        const Layout layout = even_layout(schedule.contract, count);
        std::uint64_t sent = 0;
        std::uint64_t messages = 0;
        for (const Step& step : schedule.program(comm.rank())) {
          if (step.kind != Step::Kind::send) continue;
          messages += step.peers.size();
          for (const ChunkRange& range : step.chunks) {
            sent += layout.size(range) * sizeof(float) * step.peers.size();
          }
        }
        EXPECT_EQ(counters.calls, 1U);
        EXPECT_EQ(counters.total().bytes_sent, sent) << algorithm.name;
        EXPECT_EQ(counters.total().messages_sent, messages) << algorithm.name;
        EXPECT_GE(counters.total().slices_sent, messages);
        EXPECT_EQ(counters.peers[comm.rank()], PeerCounters{});
        if (algorithm.name == "allreduce/ring") {
          EXPECT_EQ(sent, 2 * (ranks - 1) * count * sizeof(float) / ranks);
        }
      });
    }
  }
}

// Bad use ---------------------------------------------------------------------------------------

/// Makes an invalid call on each of three ranks, then a valid one: the communicator still works.
void expect_refused(const std::function<void(Communicator&)>& bad, const std::string& part) {
  run_threads(3, [&](Communicator& comm) {
    expect_error([&] { bad(comm); }, ErrorCode::invalid_argument, part);
    expect_error([&] { bad(comm); }, ErrorCode::invalid_argument,
                 "rank " + std::to_string(comm.rank()));
    std::vector<int> data(10, 1);
    comm.all_reduce(data);
    EXPECT_EQ(data[9], 3);
  });
}

TEST(BadUse, NullBuffers) {
  float one = 0;
  expect_refused(
      [&](Communicator& comm) {
        comm.run(
            {.collective = Collective::allreduce, .output = &one, .count = 1, .dtype = DType::f32});
      },
      "the input is null: give it 4 bytes");
  expect_refused(
      [&](Communicator& comm) {
        comm.run(
            {.collective = Collective::allreduce, .input = &one, .count = 1, .dtype = DType::f32});
      },
      "the output is null");
}

TEST(BadUse, OverlappingBuffers) {
  expect_refused(
      [](Communicator& comm) {
        std::vector<float> data(20);
        comm.all_reduce(std::span(data).first(10), std::span(data).subspan(5, 10));
      },
      "input and output overlap");
  expect_refused(
      [](Communicator& comm) {
        std::vector<float> data(30);
        // The block of another rank.
        const std::uint32_t wrong = (comm.rank() + 1) % 3;
        comm.all_gather(std::span(data).subspan(wrong * 10, 10), data);
      },
      "overlap");
}

TEST(BadUse, UnknownEnumerators) {
  float one = 0;
  const auto call = [&](DType dtype, Op op, std::uint32_t root) {
    return Call{.collective = Collective::reduce,
                .input = &one,
                .output = &one,
                .count = 1,
                .dtype = dtype,
                .reduction = op,
                .root = root};
  };
  expect_refused([&](Communicator& c) { c.run(call(static_cast<DType>(77), Op::sum, 0)); },
                 "no dtype number 77");
  expect_refused([&](Communicator& c) { c.run(call(DType::f32, static_cast<Op>(9), 0)); },
                 "no op number 9");
  expect_refused(
      [&](Communicator& c) {
        Call unknown = call(DType::f32, Op::sum, 0);
        unknown.options.reproducible = static_cast<Reproducible>(3);
        c.run(unknown);
      },
      "no level of reproducibility number 3");
  expect_refused([&](Communicator& c) { c.run(call(DType::f32, Op::bxor, 0)); },
                 "bxor is for integers");
  expect_refused([&](Communicator& c) { c.run(call(DType::complex64, Op::max, 0)); },
                 "max is for real numbers, not for complex64");
  expect_refused([&](Communicator& c) { c.run(call(DType::f32, Op::sum, 3)); },
                 "root 3 is not one of the ranks 0 to 2");
  expect_refused([&](Communicator& c) { c.run({.collective = static_cast<Collective>(99)}); },
                 "no collective number 99");
}

TEST(BadUse, LengthsThatDoNotFit) {
  std::vector<float> ten(10);
  std::vector<float> seven(7);
  expect_refused([&](Communicator& c) { c.all_reduce(ten, seven); }, "they must be equally long");
  expect_refused([&](Communicator& c) { c.all_gather(ten, seven); }, "not 3 blocks of 10");
  expect_refused(
      [&](Communicator& c) {
        c.reduce_scatter_v(ten, seven, std::vector<std::uint64_t>{1, 2});
      },
      "2 counts for 3 ranks");
  expect_refused(
      [&](Communicator& c) {
        c.all_gather_v(ten, seven, std::vector<std::uint64_t>{4, 4, 4});
      },
      "the counts ask for");
  expect_refused(
      [&](Communicator& c) {
        c.run({.collective = Collective::allreduce,
               .input = ten.data(),
               .output = ten.data(),
               .count = ~std::uint64_t{0} / 2,
               .dtype = DType::f64});
      },
      "do not fit into memory");
}

TEST(BadUse, AlgorithmsThatDoNotFit) {
  std::vector<float> data(10);
  expect_refused(
      [&](Communicator& c) { c.all_reduce(data, Op::sum, {.algorithm = "allreduce/rign"}); },
      "allreduce/ring");
  expect_refused(
      [&](Communicator& c) { c.all_reduce(data, Op::sum, {.algorithm = "broadcast/flat"}); },
      "for another collective");
}

TEST(BadUse, PeersOutOfRange) {
  std::vector<float> data(10);
  expect_refused([&](Communicator& c) { c.send(data, 3); }, "rank 3 is not one of the ranks");
}

TEST(BadUse, TwoThreadsInOneCommunicator) {
  std::atomic<bool> is_refused{false};
  run_threads(2, [&](Communicator& comm) {
    if (comm.rank() == 1) {
      EXPECT_TRUE(eventually([&] { return is_refused.load(); }));
      comm.barrier();
      return;
    }
    // While one thread waits in the barrier, another thread calls.
    std::thread waiting([&] { comm.barrier(); });
    std::this_thread::sleep_for(150ms);
    expect_error([&] { comm.barrier(); }, ErrorCode::invalid_argument,
                 "two threads call one communicator at once");
    is_refused = true;
    waiting.join();
  });
}

TEST(BadUse, CallsThatDiffer) {
  const std::vector<std::function<void(Communicator&, std::vector<float>&)>> pairs = {
      // Rank 0 and rank 1 differ in the count, the op, the dtype, or the collective.
      [](Communicator& c, std::vector<float>& d) {
        c.all_reduce(std::span(d).first(c.rank() == 0 ? 100 : 101));
      },
      [](Communicator& c, std::vector<float>& d) {
        c.all_reduce(d, c.rank() == 0 ? Op::sum : Op::max);
      },
      [](Communicator& c, std::vector<float>& d) {
        std::vector<std::int32_t> ints(d.size());
        if (c.rank() == 0) return c.all_reduce(d);
        c.all_reduce(ints);
      },
      [](Communicator& c, std::vector<float>& d) {
        if (c.rank() == 0) return c.all_reduce(d);
        c.broadcast(d, 1);
      },
  };
  for (const auto& call : pairs) {
    std::atomic<int> mismatches{0};
    run_threads(2, [&](Communicator& comm) {
      std::vector<float> data(200);
      try {
        call(comm, data);
        comm.barrier({.timeout = 200ms});
        ADD_FAILURE() << "no rank noticed";
      } catch (const Error& error) {
        if (error.code() == ErrorCode::mismatch) ++mismatches;
        EXPECT_NE(std::string(error.what()).find("rank"), std::string::npos);
      }
      expect_error([&] { comm.barrier(); }, ErrorCode::aborted, "can no longer be used");
    });
    EXPECT_GE(mismatches.load(), 1);
  }
}

TEST(BadUse, MissingRank) {
  run_threads(2, [](Communicator& comm) {
    if (comm.rank() == 1) {
      EXPECT_TRUE(eventually([&] { return comm.verdict().has_value(); }));
      return;
    }
    std::vector<float> data(10);
    expect_error(
        [&] { comm.all_reduce(data, Op::sum, {.algorithm = "allreduce/mesh", .timeout = 50ms}); },
        ErrorCode::timed_out,
        "rank 0: allreduce of 10 f32 by allreduce/mesh: in round 0, no data arrives from "
        "rank 1");
  });
}

TEST(BadUse, CallsAfterAbort) {
  run_threads(2, [](Communicator& comm) {
    comm.abort("the disk is full");
    expect_error([&] { comm.barrier(); }, ErrorCode::aborted, "the disk is full");
  });
}

TEST(BadUse, ForeignMemory) {
  int local = 0;
  expect_error([&] { deallocate(&local); }, ErrorCode::invalid_argument, "tutti::allocate");
  deallocate(nullptr);
}

}  // namespace
}  // namespace tutti::test
