#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/bucketer.hpp>

#include "support/errors.hpp"
#include "support/processes.hpp"
#include "support/random.hpp"
#include "support/sanitizer.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

// Tensors whose sums are known ------------------------------------------------------------------

/// The contribution of a rank: small integers, so that sums are exact in every dtype and order.
double contribution(std::uint32_t rank, std::size_t tensor, std::uint64_t element, int step) {
  return static_cast<double>((rank + 1) * (1 + (tensor * 3 + element + step) % 5));
}

double expected_sum(std::uint32_t ranks, std::size_t tensor, std::uint64_t element, int step) {
  return contribution(0, tensor, element, step) * ranks * (ranks + 1) / 2;
}

template <class F>
void with_elements(const Tensor& tensor, const F& f) {
  switch (tensor.dtype) {
    case DType::i32:
      return f(std::span(static_cast<std::int32_t*>(tensor.data), tensor.count));
    case DType::f64:
      return f(std::span(static_cast<double*>(tensor.data), tensor.count));
    default:
      return f(std::span(static_cast<float*>(tensor.data), tensor.count));
  }
}

void fill(const Tensor& tensor, std::size_t index, std::uint32_t rank, int step) {
  with_elements(tensor, [&]<class T>(std::span<T> elements) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = static_cast<T>(contribution(rank, index, i, step));
    }
  });
}

/// True if every element is the sum over all ranks, divided by `divisor`.
bool is_sum(const Tensor& tensor, std::size_t index, std::uint32_t ranks, int step,
            double divisor = 1) {
  bool right = true;
  with_elements(tensor, [&]<class T>(std::span<T> elements) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const double sum = expected_sum(ranks, index, i, step);
      right = right && elements[i] == static_cast<T>(sum / divisor);
    }
  });
  return right;
}

/// Tensors of mixed lengths and dtypes, each in separate memory.
class Scattered {
 public:
  explicit Scattered(std::size_t how_many, std::uint64_t seed = 7) {
    Random random(seed);
    constexpr DType kinds[] = {DType::f32, DType::f64, DType::i32};
    for (std::size_t i = 0; i < how_many; ++i) {
      const std::uint64_t count = random.one_in(9) ? 0 : random.below(std::uint64_t{3000});
      const DType dtype = kinds[random.below(std::uint64_t{3})];
      // A gap after each, so that none are contiguous by chance.
      memory_.emplace_back(count + 1);
      tensors_.push_back({.data = memory_.back().data(), .count = count, .dtype = dtype});
    }
  }

  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  std::vector<std::vector<double>> memory_;
  std::vector<Tensor> tensors_;
};

std::vector<std::size_t> random_order(std::size_t how_many, std::uint64_t seed) {
  std::vector<std::size_t> order(how_many);
  std::iota(order.begin(), order.end(), 0);
  Random(seed).shuffle(order);
  return order;
}

/// Runs some steps, each with a random order on every rank. Returns what is wrong.
std::string steps_in_random_orders(Communicator& comm, int steps) {
  const Scattered scattered(40);
  const std::vector<Tensor>& tensors = scattered.tensors();
  Bucketer bucketer(comm, tensors,
                    {.bucket_bytes = 30000, .first_bucket_bytes = 5000, .reduction = Op::sum});
  if (bucketer.buckets() < 5) return "too few buckets for a test: " + bucketer.description();
  for (int step = 0; step < steps; ++step) {
    const std::uint64_t seed = static_cast<std::uint64_t>(step) * 100 + comm.rank();
    for (const std::size_t i : random_order(tensors.size(), seed)) {
      fill(tensors[i], i, comm.rank(), step);
      bucketer.ready(i);
    }
    bucketer.finish();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (is_sum(tensors[i], i, comm.size(), step)) continue;
      return "step " + std::to_string(step) + ": tensor " + std::to_string(i) + " is wrong";
    }
  }
  return "";
}

TEST(Bucketer, ReducesInAnyOrderOnThreads) {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 7U}) {
    run_threads(ranks, [](Communicator& comm) {
      EXPECT_EQ(steps_in_random_orders(comm, is_sanitized ? 5 : 20), "");
    });
  }
}

class BucketerInProcesses : public ::testing::TestWithParam<Way> {};

TEST_P(BucketerInProcesses, ReducesInAnyOrder) {
  if (sanitizer == "thread") GTEST_SKIP() << "these ranks are processes";
  for (const std::uint32_t ranks : {2U, 3U, 5U}) {
    const auto work = [](Communicator& comm) { return steps_in_random_orders(comm, 10); };
    EXPECT_EQ(run_processes(ranks, GetParam(), work), "") << ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(Api, BucketerInProcesses, ::testing::Values(Way::memory, Way::tcp),
                         [](const auto& each) {
                           return each.param == Way::memory ? "SharingMemory" : "OverTcp";
                         });

TEST(Bucketer, AveragesByDefault) {
  run_threads(4, [](Communicator& comm) {
    std::vector<float> a(100);
    std::vector<double> b(50);
    const std::vector<Tensor> tensors = {tensor(a), tensor(b)};
    Bucketer average(comm, tensors);
    Bucketer maximum(comm, tensors, {.reduction = Op::max});
    for (std::size_t i = 0; i < 2; ++i) fill(tensors[i], i, comm.rank(), 0);
    for (std::size_t i = 0; i < 2; ++i) average.ready(i);
    average.finish();
    for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(is_sum(tensors[i], i, 4, 0, 4));
    for (std::size_t i = 0; i < 2; ++i) fill(tensors[i], i, comm.rank(), 0);
    for (std::size_t i = 0; i < 2; ++i) maximum.ready(i);
    maximum.finish();
    EXPECT_EQ(a[3], contribution(3, 0, 3, 0));
  });
}

/// The sum of two operands does not depend on the order, so buckets do not change the bits.
TEST(Bucketer, TwoRanksGetTheSameBitsAsFromSingleCalls) {
  run_threads(2, [](Communicator& comm) {
    std::vector<std::vector<float>> one(20, std::vector<float>(777));
    Random random(comm.rank());
    for (auto& each : one) {
      for (float& element : each) element = static_cast<float>(random.bits()) / 3e9F;
    }
    std::vector<std::vector<float>> other = one;
    for (auto& each : one) comm.all_reduce(each, Op::avg);
    std::vector<Tensor> tensors;
    for (auto& each : other) tensors.push_back(tensor(each));
    Bucketer bucketer(comm, tensors, {.bucket_bytes = 10000});
    for (std::size_t i = 0; i < tensors.size(); ++i) bucketer.ready(i);
    bucketer.finish();
    EXPECT_EQ(one, other);
  });
}

// Copies ----------------------------------------------------------------------------------------

/// One buffer cut into tensors, declared from its start or, as backward passes do, from its end.
std::vector<Tensor> cut(std::vector<float>& flat, std::size_t pieces, bool from_end) {
  const std::uint64_t count = flat.size() / pieces;
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < pieces; ++i) {
    tensors.push_back({.data = flat.data() + i * count, .count = count});
  }
  if (from_end) std::ranges::reverse(tensors);
  return tensors;
}

void do_step(Communicator& comm, Bucketer& bucketer, const std::vector<Tensor>& tensors,
             int step = 0) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    fill(tensors[i], i, comm.rank(), step);
    bucketer.ready(i);
  }
  bucketer.finish();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_TRUE(is_sum(tensors[i], i, comm.size(), step)) << "tensor " << i;
  }
}

const BucketOptions five_each{
    .bucket_bytes = 2000, .first_bucket_bytes = 400, .reduction = Op::sum};

TEST(BucketerCopies, ContiguousTensorsAreNotCopied) {
  for (const bool from_end : {false, true}) {
    run_threads(3, [&](Communicator& comm) {
      std::vector<float> flat(16 * 100);
      const std::vector<Tensor> tensors = cut(flat, 16, from_end);
      Bucketer bucketer(comm, tensors, five_each);
      EXPECT_EQ(bucketer.description(), "16 tensors in 4 buckets, 4 of them in place, 0 copied");
      for (int step = 0; step < 3; ++step) do_step(comm, bucketer, tensors, step);
      EXPECT_EQ(bucketer.counters().allreduces, 12U);
      EXPECT_EQ(bucketer.counters().bytes_copied_in, 0U);
      EXPECT_EQ(bucketer.counters().bytes_copied_out, 0U);
    });
  }
}

TEST(BucketerCopies, ScatteredTensorsAreCopiedOnceEachWay) {
  run_threads(3, [](Communicator& comm) {
    std::vector<std::vector<float>> memory(16, std::vector<float>(101));
    std::vector<Tensor> tensors;
    for (auto& each : memory) tensors.push_back(tensor(std::span(each).first(100)));
    Bucketer bucketer(comm, tensors, five_each);
    for (int step = 0; step < 3; ++step) do_step(comm, bucketer, tensors, step);
    // The first bucket has one tensor, and a single tensor is contiguous.
    EXPECT_EQ(bucketer.counters().bytes_copied_in, 3U * 15 * 400);
    EXPECT_EQ(bucketer.counters().bytes_copied_out, 3U * 15 * 400);
  });
}

TEST(BucketerCopies, EachRankCopiesOnlyWhatItMust) {
  run_threads(3, [](Communicator& comm) {
    // Rank 0 has them in order, rank 1 in reverse order, and rank 2 with gaps.
    std::vector<float> flat(16 * 100 * 2);
    std::vector<Tensor> tensors = comm.rank() == 2 ? cut(flat, 16, false) : std::vector<Tensor>(16);
    std::vector<float> dense(16 * 100);
    if (comm.rank() < 2) tensors = cut(dense, 16, comm.rank() == 1);
    for (Tensor& each : tensors) each.count = 100;
    Bucketer bucketer(comm, tensors, five_each);
    do_step(comm, bucketer, tensors);
    EXPECT_EQ(bucketer.counters().bytes_copied_in, comm.rank() == 0 ? 0U : 15U * 400);
  });
}

TEST(BucketerCopies, TensorsWithoutMemoryAreNotCopied) {
  run_threads(2, [](Communicator& comm) {
    std::vector<float> own(100);
    std::vector<Tensor> declared(10, Tensor{.data = nullptr, .count = 100});
    declared[4] = tensor(own);
    Bucketer bucketer(comm, declared, five_each);
    std::vector<Tensor> tensors = declared;
    for (std::size_t i = 0; i < 10; ++i) tensors[i].data = bucketer.data(i);
    EXPECT_EQ(tensors[4].data, own.data());
    for (int step = 0; step < 3; ++step) do_step(comm, bucketer, tensors, step);
    EXPECT_EQ(bucketer.counters().bytes_copied_in, 3U * 400) << "the one with memory of its own";
    EXPECT_EQ(bucketer.counters().bytes_copied_out, 3U * 400);
  });
}

// Overlap ---------------------------------------------------------------------------------------

TEST(BucketerOverlap, WaitReturnsWhileLaterBucketsAreNotReady) {
  run_threads(3, [](Communicator& comm) {
    const Scattered scattered(30);
    const std::vector<Tensor>& tensors = scattered.tensors();
    Bucketer bucketer(comm, tensors,
                      {.bucket_bytes = 30000, .first_bucket_bytes = 1, .reduction = Op::sum});
    EXPECT_EQ(bucketer.state(), BucketerState::idle);
    for (std::size_t i = 0; i < tensors.size(); ++i) fill(tensors[i], i, comm.rank(), 0);
    for (std::size_t i = 0; i < tensors.size() / 2; ++i) bucketer.ready(i);
    EXPECT_EQ(bucketer.state(), BucketerState::in_step);
    std::size_t early = 0;
    for (std::size_t i = 0; i < tensors.size() / 2; ++i) {
      if (bucketer.bucket_of(i) > 0) continue;
      bucketer.wait(i);
      bucketer.wait(i);
      EXPECT_TRUE(bucketer.test(i));
      EXPECT_TRUE(is_sum(tensors[i], i, comm.size(), 0));
      ++early;
    }
    EXPECT_GT(early, 0U);
    EXPECT_FALSE(bucketer.test(tensors.size() - 1));
    for (std::size_t i = tensors.size() / 2; i < tensors.size(); ++i) bucketer.ready(i);
    bucketer.finish();
    EXPECT_EQ(bucketer.state(), BucketerState::idle);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_TRUE(is_sum(tensors[i], i, comm.size(), 0)) << "tensor " << i;
    }
  });
}

/// The allreduce of a bucket proceeds without the callers.
TEST(BucketerOverlap, ProgressesWithoutAWaitingCaller) {
  run_threads(2, [](Communicator& comm) {
    std::vector<float> a(1000, 1);
    std::vector<float> b(1000, 1);
    const std::vector<Tensor> tensors = {tensor(a), tensor(b)};
    Bucketer bucketer(comm, tensors, {.first_bucket_bytes = 1, .reduction = Op::sum});
    bucketer.ready(0);
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (!bucketer.test(0) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_TRUE(bucketer.test(0));
    bucketer.ready(1);
    bucketer.finish();
    EXPECT_EQ(a[500], 2);
    EXPECT_EQ(b[500], 2);
  });
}

/// All ranks make the same extra call, each at a different time.
TEST(BucketerOverlap, OtherCallsMayBeInterleaved) {
  run_threads(3, [](Communicator& comm) {
    const Scattered scattered(30);
    const std::vector<Tensor>& tensors = scattered.tensors();
    Bucketer bucketer(comm, tensors, {.bucket_bytes = 9000, .reduction = Op::sum});
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (i == 5 + 7 * comm.rank()) {
        std::array<int, 1> one = {1};
        comm.all_reduce(one);
        EXPECT_EQ(one[0], 3);
      }
      fill(tensors[i], i, comm.rank(), 0);
      bucketer.ready(i);
    }
    bucketer.finish();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_TRUE(is_sum(tensors[i], i, comm.size(), 0)) << "tensor " << i;
    }
  });
}

// Errors ----------------------------------------------------------------------------------------

TEST(BucketerErrors, MisuseIsReportedAndChangesNothing) {
  run_threads(2, [](Communicator& comm) {
    std::vector<float> flat(1000);
    const std::vector<Tensor> tensors = cut(flat, 10, false);
    Bucketer bucketer(comm, tensors, five_each);
    for (std::size_t i = 0; i < tensors.size(); ++i) fill(tensors[i], i, comm.rank(), 0);
    constexpr ErrorCode invalid = ErrorCode::invalid_argument;
    expect_error([&] { bucketer.finish(); }, invalid, "10 of 10 tensors are not ready");
    expect_error([&] { bucketer.ready(10); }, invalid, "there is no tensor 10 among 10");
    expect_error([&] { bucketer.wait(0); }, invalid, "tensor 0 in bucket 0 is ready");
    for (const std::size_t i : {3U, 0U, 1U, 2U, 4U}) bucketer.ready(i);
    expect_error([&] { bucketer.ready(3); }, invalid, "tensor 3 is ready already");
    expect_error([&] { bucketer.wait(3); }, invalid,
                 "tensor 3 in bucket 1 has no result before tensor 5 in bucket 1 is ready");
    expect_error([&] { bucketer.finish(); }, invalid,
                 "5 of 10 tensors are not ready: 5, 6, 7, 8, 9;");
    EXPECT_EQ(bucketer.state(), BucketerState::in_step);
    for (std::size_t i = 5; i < 10; ++i) bucketer.ready(i);
    bucketer.finish();
    for (std::size_t i = 0; i < 10; ++i) EXPECT_TRUE(is_sum(tensors[i], i, 2, 0));
    EXPECT_EQ(bucketer.counters().steps, 1U);
  });
}

/// The declarations of three ranks, and the error that all get.
struct Misfit {
  std::vector<std::vector<Tensor>> tensors;
  std::vector<BucketOptions> options;
  std::string error;
};

void expect_mismatch(const Misfit& misfit) {
  run_threads(3, [&](Communicator& comm) {
    expect_error(
        [&] {
          const Bucketer bucketer(comm, misfit.tensors[comm.rank()], misfit.options[comm.rank()]);
        },
        ErrorCode::mismatch, misfit.error);
    comm.barrier();  // The communicator can still be used.
  });
}

TEST(BucketerErrors, MismatchNamesTheRankThatDiffers) {
  const std::vector<Tensor> usual(20, Tensor{.data = nullptr, .count = 10});
  std::vector<Tensor> fewer = usual;
  fewer.pop_back();
  std::vector<Tensor> longer = usual;
  longer[17].count = 11;
  std::vector<Tensor> other = usual;
  other[3].dtype = DType::i32;
  const std::vector<BucketOptions> same(3);
  expect_mismatch({{usual, usual, fewer}, same, "rank 2 has 19 tensors, but rank 0 has 20"});
  expect_mismatch(
      {{usual, longer, usual}, same, "rank 1 has tensor 17 of 11 × f32, but rank 0 has 10 × f32"});
  expect_mismatch(
      {{other, usual, usual}, same, "rank 1 has tensor 3 of 10 × f32, but rank 0 has 10 × i32"});
  expect_mismatch({{usual, usual, usual},
                   {{}, {.bucket_bytes = 5}, {}},
                   "rank 1 has bucket_bytes = 5, but rank 0 has 26214400"});
  expect_mismatch({{usual, usual, usual},
                   {{}, {}, {.first_bucket_bytes = 5}},
                   "rank 2 has first_bucket_bytes = 5, but rank 0 has 1048576"});
  expect_mismatch({{usual, usual, usual},
                   {{}, {}, {.reduction = Op::sum}},
                   "rank 2 has the reduction sum, but rank 0 has avg"});
  expect_mismatch(
      {{usual, usual, usual},
       {{}, {.call = {.algorithm = "allreduce/ring"}}, {}},
       "rank 1 has an algorithm, schedule, shape or level, but rank 0 has a different one"});
}

TEST(BucketerErrors, InvalidDeclarationOfOneRankFailsOnAll) {
  run_threads(3, [](Communicator& comm) {
    std::vector<float> flat(300);
    std::vector<Tensor> tensors = cut(flat, 3, false);
    if (comm.rank() == 1) tensors[2].data = flat.data() + 199;
    const auto make = [&] { const Bucketer bucketer(comm, tensors); };
    if (comm.rank() == 1) {
      expect_error(make, ErrorCode::invalid_argument, "tensors 1 and 2 share memory");
    } else {
      expect_error(make, ErrorCode::mismatch, "rank 1 made an invalid declaration");
    }
    const auto bits = [&] { const Bucketer bucketer(comm, tensors, {.reduction = Op::band}); };
    expect_error(bits, ErrorCode::invalid_argument, "band is for integers, but tensor 0 is f32");
    comm.barrier();
  });
}

TEST(BucketerErrors, FailedAllreduceIsReportedOnce) {
  run_threads(2, [](Communicator& comm) {
    std::vector<float> flat(1000);
    const std::vector<Tensor> tensors = cut(flat, 10, false);
    BucketOptions options = five_each;
    options.call.timeout = 100ms;
    Bucketer bucketer(comm, tensors, options);
    do_step(comm, bucketer, tensors);
    // Rank 1 makes no further step.
    if (comm.rank() == 0) {
      for (std::size_t i = 0; i < 10; ++i) bucketer.ready(i);
      expect_error([&] { bucketer.finish(); }, ErrorCode::timed_out,
                   "Bucketer: bucket 0 of 3 (tensors 0 … 0): ");
      EXPECT_EQ(name(bucketer.state()), "failed");
      expect_error([&] { bucketer.finish(); }, ErrorCode::aborted, "make a new one");
      expect_error([&] { bucketer.ready(0); }, ErrorCode::aborted, "bucket 0 of 3");
      expect_error([&] { bucketer.wait(0); }, ErrorCode::aborted, "bucket 0 of 3");
    }
    comm.barrier();
    Bucketer another(comm, tensors, five_each);
    do_step(comm, another, tensors);
  });
}

/// A bucket cannot start because an earlier one failed: the error is that of the earlier one.
TEST(BucketerErrors, EarliestFailureIsReported) {
  run_threads(2, [](Communicator& comm) {
    std::vector<float> flat(1000);
    const std::vector<Tensor> tensors = cut(flat, 10, false);
    BucketOptions options = five_each;
    options.call.timeout = 100ms;
    Bucketer bucketer(comm, tensors, options);
    if (comm.rank() == 0) {
      bucketer.ready(0);
      const auto deadline = std::chrono::steady_clock::now() + 30s;
      while (!bucketer.test(0) && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(1ms);
      }
      expect_error(
          [&] {
            for (std::size_t i = 1; i < 10; ++i) bucketer.ready(i);
          },
          ErrorCode::timed_out, "bucket 0 of 3");
      EXPECT_EQ(bucketer.state(), BucketerState::failed);
    }
    comm.barrier();
  });
}

TEST(Bucketer, NoTensorsMeansNoCalls) {
  run_threads(2, [](Communicator& comm) {
    Bucketer bucketer(comm, {});
    bucketer.finish();
    EXPECT_EQ(bucketer.counters().allreduces, 0U);
    const std::vector<Tensor> empty(3);
    Bucketer hollow(comm, empty);
    for (std::size_t i = 0; i < 3; ++i) hollow.ready(i);
    hollow.finish();
  });
}

TEST(Bucketer, CanBeDestroyedWithinAStep) {
  run_threads(3, [](Communicator& comm) {
    std::vector<float> flat(1000);
    const std::vector<Tensor> tensors = cut(flat, 10, false);
    {
      Bucketer bucketer(comm, tensors, five_each);
      for (std::size_t i = 0; i < 7; ++i) bucketer.ready(i);
    }
    Bucketer moved(comm, tensors, five_each);
    Bucketer bucketer = std::move(moved);
    do_step(comm, bucketer, tensors);
  });
}

}  // namespace
}  // namespace tutti::test
