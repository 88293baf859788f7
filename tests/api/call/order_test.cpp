#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/half.hpp"
#include "support/problems.hpp"
#include "support/processes.hpp"
#include "support/random.hpp"

// reproducible = order: the same bits for every algorithm and transport.

namespace tutti::test {
namespace {

using Bytes = std::vector<std::byte>;

/// A random number. Magnitudes differ widely, so a sum depends on the order and on each rounding.
float number(Random& random) {
  const auto mantissa = static_cast<float>(random.below(std::uint64_t{1} << 24)) - (1 << 23);
  return std::ldexp(mantissa, static_cast<int>(random.below(std::uint64_t{14})) - 30);
}

/// Converts a stored element to a number that can be added, and back.
template <class T>
struct Plain {
  using Stored = T;
  using Wide = T;
  static T widened(T stored) { return stored; }
  static T stored(T wide) { return wide; }
  static T drawn(Random& random) { return static_cast<T>(number(random)); }
};
template <float (*from)(std::uint16_t), std::uint16_t (*to)(float)>
struct Half {
  using Stored = std::uint16_t;
  using Wide = float;
  static float widened(std::uint16_t stored) { return from(stored); }
  static std::uint16_t stored(float wide) { return to(wide); }
  static std::uint16_t drawn(Random& random) { return to(number(random)); }
};
using F16 = Half<from_f16, to_f16>;
using BF16 = Half<from_bf16, to_bf16>;

template <class Element>
Bytes brought(std::uint32_t rank, std::uint64_t count) {
  Random random(rank * 1000 + count);
  Bytes bytes(count * sizeof(typename Element::Stored));
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto value = Element::drawn(random);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return bytes;
}

/// ((c₀ ⊕ c₁) ⊕ c₂) ⊕ …, rounded once.
template <class Element>
Bytes combined(Op op, std::uint32_t ranks, std::uint64_t count) {
  using Stored = typename Element::Stored;
  std::vector<Bytes> all;
  for (std::uint32_t r = 0; r < ranks; ++r) all.push_back(brought<Element>(r, count));
  Bytes bytes(count * sizeof(Stored));
  for (std::uint64_t i = 0; i < count; ++i) {
    typename Element::Wide sum{};
    for (std::uint32_t r = 0; r < ranks; ++r) {
      Stored stored{};
      std::memcpy(&stored, all[r].data() + i * sizeof stored, sizeof stored);
      const auto next = Element::widened(stored);
      sum = r == 0 ? next : op == Op::prod ? sum * next : sum + next;
    }
    Stored result = Element::stored(sum);
    if (op == Op::avg) {
      result =
          Element::stored(Element::widened(result) / static_cast<typename Element::Wide>(ranks));
    }
    std::memcpy(bytes.data() + i * sizeof result, &result, sizeof result);
  }
  return bytes;
}

struct Numbers {
  DType dtype;
  Bytes (*brought)(std::uint32_t rank, std::uint64_t count);
  Bytes (*combined)(Op op, std::uint32_t ranks, std::uint64_t count);
};
template <class Element>
constexpr Numbers numbers_of(DType dtype) {
  return {dtype, brought<Element>, combined<Element>};
}
constexpr Numbers kinds[] = {numbers_of<Plain<float>>(DType::f32),
                             numbers_of<Plain<double>>(DType::f64), numbers_of<F16>(DType::f16),
                             numbers_of<BF16>(DType::bf16)};

/// Returns what is wrong with a call of `count` elements for each rank; empty if nothing.
std::string try_order(Communicator& communicator, const Numbers& numbers, Op op,
                      const std::string& algorithm, Collective collective, std::uint64_t count,
                      std::uint64_t variant) {
  const std::uint32_t ranks = communicator.size();
  const bool blocks = collective == Collective::reduce_scatter;
  const std::uint64_t all = blocks ? count * ranks : count;
  const auto root = static_cast<std::uint32_t>(variant % ranks);
  const std::size_t element = size_of(numbers.dtype);
  Bytes input = numbers.brought(communicator.rank(), all);
  Bytes apart(count * element);
  const bool in_place = variant % 2 == 0;
  const std::size_t own = blocks ? communicator.rank() * count * element : 0;
  std::byte* const output = in_place ? input.data() + own : apart.data();
  communicator.run(
      {.collective = collective,
       .input = input.data(),
       .output = output,
       .count = count,
       .dtype = numbers.dtype,
       .reduction = op,
       .root = root,
       .options = {.algorithm = algorithm,
                   .reproducible = Reproducible::order,
                   .tuning = {.slice_bytes = variant % 3 == 0 ? std::size_t{1024} : 0}}});
  if (collective == Collective::reduce && communicator.rank() != root) return "";
  const Bytes want = numbers.combined(op, ranks, all);
  if (std::memcmp(output, want.data() + own, count * element) == 0) return "";
  return "rank " + std::to_string(communicator.rank()) + " of " + std::to_string(ranks) + ": " +
         (algorithm.empty() ? std::string(name(collective)) : algorithm) + " " +
         std::string(name(numbers.dtype)) + " " + std::string(name(op)) + " count " +
         std::to_string(count) + " variant " + std::to_string(variant);
}

/// Tries every algorithm that folds in rank order, and the one that tutti chooses.
std::string try_all_ways(Communicator& communicator) {
  std::uint64_t variant = 0;
  for (const Collective collective :
       {Collective::reduce, Collective::allreduce, Collective::reduce_scatter}) {
    std::vector<std::string> ways{""};
    for (const Algorithm& each : algorithms(collective)) {
      if (each.folds_in_rank_order) ways.emplace_back(each.name);
    }
    for (const std::string& way : ways) {
      for (const Numbers& numbers : kinds) {
        for (const Op op : {Op::sum, Op::prod, Op::avg}) {
          for (const std::uint64_t count : {1U, 67U, 900U}) {
            const std::string fault =
                try_order(communicator, numbers, op, way, collective, count, ++variant);
            if (!fault.empty()) return fault;
          }
        }
      }
    }
  }
  return "";
}

TEST(Order, SameBitsOnThreads) {
  for (const std::uint32_t p : {1U, 2U, 3U, 5U}) {
    run_threads(p, [](Communicator& comm) { EXPECT_EQ(try_all_ways(comm), ""); });
  }
}

TEST(Order, SameBitsOverSharedMemoryAndTcp) {
  EXPECT_EQ(run_processes(3, Way::memory, try_all_ways), "");
  EXPECT_EQ(run_processes(3, Way::tcp, try_all_ways), "");
  // Two hosts of two ranks each.
  EXPECT_EQ(run_processes(4, Way::automatic, try_all_ways, 2), "");
}

/// Without the level `order`, the bits depend on the algorithm.
TEST(Order, LevelRunDependsOnTheAlgorithm) {
  run_threads(5, [](Communicator& comm) {
    const Bytes input = brought<Plain<float>>(comm.rank(), 5000);
    std::vector<Bytes> results;
    for (const char* algorithm : {"allreduce/ring", "allreduce/mesh"}) {
      Bytes output(input.size());
      comm.run({.collective = Collective::allreduce,
                .input = input.data(),
                .output = output.data(),
                .count = 5000,
                .dtype = DType::f32,
                .options = {.algorithm = algorithm}});
      results.push_back(output);
    }
    EXPECT_NE(results[0], results[1]);
  });
}

TEST(Order, RejectsAndNeverChoosesUnsuitableAlgorithms) {
  run_threads(4, [](Communicator& comm) {
    for (const Collective collective :
         {Collective::reduce, Collective::allreduce, Collective::reduce_scatter}) {
      for (const std::uint64_t count : {1U, 100U, 10'000U, 1'000'000U, 100'000'000U}) {
        const Call call{.collective = collective,
                        .count = count,
                        .dtype = DType::f32,
                        .options = {.reproducible = Reproducible::order}};
        EXPECT_TRUE(algorithm(comm.algorithm_for(call)).folds_in_rank_order);
      }
    }
    std::vector<float> data(100, 1);
    try {
      comm.all_reduce(data, Op::sum,
                      {.algorithm = "allreduce/ring", .reproducible = Reproducible::order});
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      const std::string text = error.what();
      for (const char* part : {"allreduce/ring", "one fold of all contributions in order of rank",
                               "allreduce/mesh", "allreduce/mesh_two_shot", "allreduce/root"}) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
      }
    }
    comm.all_reduce(data);  // Nothing was sent.
    EXPECT_EQ(data[0], 4);
  });
}

/// The bits do not depend on the order, so every algorithm is allowed.
TEST(Order, IntegersAndExtremaMayUseEveryAlgorithm) {
  run_threads(4, [](Communicator& comm) {
    std::vector<int> integers(100, static_cast<int>(comm.rank()));
    const CallOptions options{.algorithm = "allreduce/ring", .reproducible = Reproducible::order};
    comm.all_reduce(integers, Op::sum, options);
    EXPECT_EQ(integers, std::vector<int>(100, 6));
    std::vector<float> numbers(100, static_cast<float>(comm.rank()));
    comm.all_reduce(numbers, Op::max, options);
    EXPECT_EQ(numbers, std::vector<float>(100, 3));
  });
}

/// Even if the function is neither associative nor commutative.
TEST(Order, UserDefinedFunctionIsCalledInRankOrder) {
  const Reduction hash =
      reduction<std::uint64_t>([](std::uint64_t a, std::uint64_t b) { return a * 31 + b; });
  for (const std::uint32_t p : {2U, 3U, 5U}) {
    std::uint64_t want = 0;
    for (std::uint32_t r = 1; r < p; ++r) want = want * 31 + r;
    run_threads(p, [&](Communicator& comm) {
      for (const Algorithm& each : algorithms(Collective::allreduce)) {
        if (!each.folds_in_rank_order) continue;
        const CallOptions options{.algorithm = each.name, .reproducible = Reproducible::order};
        std::vector<std::uint64_t> data(700, comm.rank());
        comm.all_reduce(data, hash, options);
        EXPECT_EQ(data, std::vector<std::uint64_t>(700, want)) << each.name << " in place";
        const std::vector<std::uint64_t> input(700, comm.rank());
        comm.all_reduce(input, data, hash, options);
        EXPECT_EQ(data, std::vector<std::uint64_t>(700, want)) << each.name;
      }
    });
  }
}

TEST(Order, DifferentLevelsAreAMismatch) {
  EXPECT_THROW(run_threads(2,
                           [](Communicator& comm) {
                             std::vector<float> data(10, 1);
                             comm.all_reduce(
                                 data, Op::sum,
                                 {.algorithm = "allreduce/mesh",
                                  .reproducible =
                                      comm.rank() == 0 ? Reproducible::order : Reproducible::run});
                           }),
               Error);
}

}  // namespace
}  // namespace tutti::test
