#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include <tutti/bucketer.hpp>

#include "support/errors.hpp"
#include "support/exact_oracle.hpp"
#include "support/processes.hpp"
#include "support/random.hpp"
#include "support/sanitizer.hpp"

// reproducible = exact: the same bits for the same contributions, on any number of ranks.

namespace tutti::test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr DType real_types[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

/// Contribution `shard` of `shards` to `count` elements that are hard to add.
Bytes hard_shard(DType dtype, std::size_t shard, std::size_t shards, std::size_t count) {
  Bytes bytes(count * size_of(dtype));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = hard_numbers(dtype, shards, i)[shard];
    std::memcpy(bytes.data() + i * size_of(dtype), &bits, size_of(dtype));
  }
  return bytes;
}

Bytes sum_by_the_book(DType dtype, std::size_t shards, std::size_t count) {
  Bytes bytes(count * size_of(dtype));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t sum = exact_sum_by_the_book(dtype, hard_numbers(dtype, shards, i));
    std::memcpy(bytes.data() + i * size_of(dtype), &sum, size_of(dtype));
  }
  return bytes;
}

/// Random shards, the same in every run. Faster to compute than hard_shard().
std::vector<Bytes> many_shards(DType dtype, std::size_t shards, std::size_t count) {
  std::vector<Bytes> all;
  for (std::size_t s = 0; s < shards; ++s) {
    Random random(s + 1);
    Bytes bytes(count * size_of(dtype));
    for (std::size_t i = 0; i < count; ++i) {
      const double number =
          std::ldexp(static_cast<double>(random.below(std::uint64_t{1} << 53)) - 4e15,
                     static_cast<int>(random.below(std::uint64_t{30})) - 80);
      const auto single = static_cast<float>(number);
      const void* const from = dtype == DType::f64 ? static_cast<const void*>(&number) : &single;
      std::memcpy(bytes.data() + i * size_of(dtype), from, size_of(dtype));
    }
    all.push_back(std::move(bytes));
  }
  return all;
}

/// How many of 8 shards each rank contributes, in rank order.
using Spread = std::vector<std::size_t>;
const std::vector<Spread> spreads{{8},
                                  {4, 4},
                                  {1, 7},
                                  {0, 5, 3},
                                  {2, 2, 2, 2},
                                  {2, 1, 1, 1, 1, 1, 1},
                                  {1, 1, 1, 1, 1, 1, 1, 1},
                                  {1, 1, 0, 1, 1, 1, 1, 1, 1}};

std::vector<const void*> shards_of_rank(const std::vector<Bytes>& all, const Spread& spread,
                                        std::uint32_t rank) {
  std::size_t first = 0;
  for (std::uint32_t r = 0; r < rank; ++r) first += spread[r];
  std::vector<const void*> own;
  for (std::size_t i = 0; i < spread[rank]; ++i) own.push_back(all[first + i].data());
  return own;
}

/// The result of a reduction of 8 shards, assembled from all ranks that have a part of it.
Bytes reduced(const std::vector<Bytes>& all, const Spread& spread, Collective collective,
              DType dtype, Op op, std::uint64_t count) {
  const auto ranks = static_cast<std::uint32_t>(spread.size());
  const std::uint32_t root = ranks - 1;
  const bool blocks = collective == Collective::reduce_scatter;
  std::vector<Bytes> outputs(ranks);
  // Blocks of different lengths, one of them empty.
  std::vector<std::uint64_t> counts(ranks, count / (ranks + 1));
  counts.front() = 0;
  counts.back() = 0;
  for (std::uint32_t r = 0; r + 1 < ranks; ++r) counts.back() += counts[r];
  counts.back() = count - counts.back();
  run_threads(ranks, [&](Communicator& comm) {
    const std::uint32_t self = comm.rank();
    const std::vector<const void*> own = shards_of_rank(all, spread, self);
    Bytes& output = outputs[self];
    output.resize((blocks ? counts[self] : count) * size_of(dtype));
    Call call{.collective = collective,
              .output = output.data(),
              .shards = own,
              .count = blocks ? 0 : count,
              .dtype = dtype,
              .reduction = op,
              .root = root,
              .options = {.reproducible = Reproducible::exact}};
    if (blocks) call.counts = counts;
    comm.run(call);
  });
  if (collective == Collective::reduce) return outputs[root];
  Bytes result;
  for (const Bytes& each : outputs) {
    if (blocks) {
      result.insert(result.end(), each.begin(), each.end());
    } else {
      EXPECT_TRUE(each == outputs[0]) << "ranks differ";
    }
  }
  return blocks ? result : outputs[0];
}

TEST(Exact, EightShardsHaveTheSameBitsOnAnyNumberOfRanks) {
  constexpr std::size_t count = 400;
  for (const DType dtype : real_types) {
    std::vector<Bytes> all;
    for (std::size_t s = 0; s < 8; ++s) all.push_back(hard_shard(dtype, s, 8, count));
    const Bytes want = sum_by_the_book(dtype, 8, count);
    for (const Spread& spread : spreads) {
      for (const Collective collective :
           {Collective::allreduce, Collective::reduce, Collective::reduce_scatter}) {
        ASSERT_TRUE(reduced(all, spread, collective, dtype, Op::sum, count) == want)
            << name(dtype) << " " << name(collective) << " on " << spread.size();
      }
    }
  }
}

/// Long enough for several segments; with sums, averages and complex numbers.
TEST(Exact, LongShardsHaveTheSameBitsOnAnyNumberOfRanks) {
  constexpr std::size_t count = is_sanitized ? 40'001 : 150'001;
  for (const DType dtype : {DType::f32, DType::f64}) {
    const std::vector<Bytes> all = many_shards(dtype, 8, count);
    for (const Op op : {Op::sum, Op::avg}) {
      const Bytes want = reduced(all, {8}, Collective::allreduce, dtype, op, count);
      for (const Spread& spread : spreads) {
        for (const Collective collective :
             {Collective::allreduce, Collective::reduce, Collective::reduce_scatter}) {
          ASSERT_TRUE(reduced(all, spread, collective, dtype, op, count) == want)
              << name(dtype) << " " << name(op) << " " << name(collective) << " on "
              << spread.size();
        }
      }
    }
  }
  const std::vector<Bytes> all = many_shards(DType::f32, 8, 2 * 70'000);
  const Bytes want = reduced(all, {8}, Collective::allreduce, DType::complex64, Op::avg, 70'000);
  EXPECT_TRUE(reduced(all, {3, 5}, Collective::allreduce, DType::complex64, Op::avg, 70'000) ==
              want);
}

/// Tries calls without shards, by every algorithm that supports the level exact.
std::string try_exact(Communicator& comm) {
  constexpr std::size_t count = 300;
  for (const DType dtype : real_types) {
    const Bytes own = hard_shard(dtype, comm.rank(), comm.size(), count);
    const Bytes want = sum_by_the_book(dtype, comm.size(), count);
    for (const Algorithm& each : algorithms(Collective::allreduce)) {
      if (!each.folds_in_rank_order) continue;
      for (const bool in_place : {false, true}) {
        Bytes output = in_place ? own : Bytes(own.size());
        comm.run({.collective = Collective::allreduce,
                  .input = in_place ? output.data() : own.data(),
                  .output = output.data(),
                  .count = count,
                  .dtype = dtype,
                  .options = {.algorithm = each.name, .reproducible = Reproducible::exact}});
        if (output != want) return std::string(each.name) + " " + std::string(name(dtype));
      }
    }
  }
  return "";
}

TEST(Exact, SameBitsForEveryAlgorithmAndTransport) {
  for (const std::uint32_t p : {1U, 2U, 3U, 5U}) {
    run_threads(p, [](Communicator& comm) { EXPECT_EQ(try_exact(comm), ""); });
  }
  EXPECT_EQ(run_processes(3, Way::memory, try_exact), "");
  EXPECT_EQ(run_processes(3, Way::tcp, try_exact), "");
}

std::string try_shards(Communicator& comm) {
  const std::vector<Bytes> all = many_shards(DType::f32, 8, 30'000);
  Bytes want(all[0].size());
  std::vector<const void*> each;
  for (const Bytes& shard : all) each.push_back(shard.data());
  run_threads(1, [&](Communicator& alone) {
    alone.run({.collective = Collective::allreduce,
               .output = want.data(),
               .shards = each,
               .count = 30'000,
               .dtype = DType::f32,
               .options = {.reproducible = Reproducible::exact}});
  });
  const std::vector<const void*> own = shards_of_rank(all, {4, 1, 3}, comm.rank());
  Bytes output(want.size());
  comm.run({.collective = Collective::allreduce,
            .output = output.data(),
            .shards = own,
            .count = 30'000,
            .dtype = DType::f32,
            .options = {.reproducible = Reproducible::exact}});
  return output == want ? "" : "other bits";
}

TEST(Exact, ShardsHaveTheSameBitsOverEveryTransport) {
  EXPECT_EQ(run_processes(3, Way::memory, try_shards), "");
  EXPECT_EQ(run_processes(3, Way::tcp, try_shards), "");
}

TEST(Exact, TypedCallsTakeVectorsOfShards) {
  run_threads(3, [](Communicator& comm) {
    const auto rank = static_cast<float>(comm.rank());
    // Rank 0 contributes no shard, rank 1 one, rank 2 two.
    const std::vector<std::vector<float>> shards(comm.rank(), std::vector<float>(6, 3 * rank));
    std::vector<float> sum(6);
    comm.all_reduce_shards(shards, sum);
    EXPECT_EQ(sum, std::vector<float>(6, 15));
    comm.all_reduce_shards(shards, sum, Op::avg);
    EXPECT_EQ(sum, std::vector<float>(6, 5));
    comm.all_reduce_shards_async(shards, sum, Op::max).wait();
    EXPECT_EQ(sum, std::vector<float>(6, 6));
    comm.reduce_shards(shards, sum, 1, Op::min);
    EXPECT_EQ(sum[0], comm.rank() == 1 ? 3 : 6);
    std::vector<float> block(2);
    comm.reduce_scatter_shards(shards, block);
    EXPECT_EQ(block, std::vector<float>(2, 15));
    std::vector<std::vector<int>> integers(comm.rank(), std::vector<int>(6, 3));
    std::vector<int> product(6);
    comm.all_reduce_shards(integers, product, Op::prod);
    EXPECT_EQ(product, std::vector<int>(6, 27));
  });
}

TEST(Exact, AShardMayBeOverwritten) {
  run_threads(2, [](Communicator& comm) {
    std::vector<std::vector<double>> shards(3, std::vector<double>(500'000, comm.rank() + 1));
    comm.all_reduce_shards(shards, shards[1]);
    EXPECT_EQ(shards[1], std::vector<double>(500'000, 9));
    EXPECT_EQ(shards[2], std::vector<double>(500'000, comm.rank() + 1));
    const std::span<double> own = std::span(shards[0]).subspan(comm.rank() * 250'000, 250'000);
    comm.reduce_scatter_shards(shards, own);
    for (const double each : own) ASSERT_EQ(each, (1 + 9 + 1) + (2 + 9 + 2));
  });
}

TEST(Exact, LeavesOtherElementsAlone) {
  run_threads(3, [](Communicator& comm) {
    std::vector<float> data(1000, static_cast<float>(comm.rank()));
    if (comm.rank() == 1) data[500] = std::nanf("");
    if (comm.rank() == 2) data[501] = INFINITY;
    comm.all_reduce(data, Op::sum, {.reproducible = Reproducible::exact});
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (i == 500) {
        EXPECT_TRUE(std::isnan(data[i]));
      } else {
        EXPECT_EQ(data[i], i == 501 ? INFINITY : 3);
      }
    }
  });
}

/// Buckets of any size, tensors in any order.
TEST(Exact, BucketsHaveTheSameBits) {
  constexpr std::size_t count = 5000;
  const Bytes want = sum_by_the_book(DType::f32, 3, count);
  for (const std::uint64_t bucket :
       {std::uint64_t{100}, std::uint64_t{4096}, std::uint64_t{1} << 20}) {
    run_threads(3, [&](Communicator& comm) {
      const Bytes own = hard_shard(DType::f32, comm.rank(), 3, count);
      std::vector<float> data(count);
      std::memcpy(data.data(), own.data(), own.size());
      std::vector<Tensor> tensors;
      for (std::size_t i = 0; i < count; i += 500)
        tensors.push_back(tensor(std::span(data).subspan(i, 500)));
      Bucketer bucketer(comm, tensors,
                        {.bucket_bytes = bucket,
                         .first_bucket_bytes = bucket,
                         .reduction = Op::sum,
                         .call = {.reproducible = Reproducible::exact}});
      for (std::size_t i = tensors.size(); i > 0; --i) bucketer.ready(i - 1);
      bucketer.finish();
      EXPECT_EQ(std::memcmp(data.data(), want.data(), want.size()), 0) << bucket;
    });
  }
}

TEST(Exact, LevelsDoNotChangeIntegers) {
  for (const Reproducible level : reproducible_levels()) {
    run_threads(3, [&](Communicator& comm) {
      for (const Algorithm& each : algorithms(Collective::allreduce)) {
        if (each.needs_shape()) continue;
        std::vector<int> data(100, 1'000'000'000 + static_cast<int>(comm.rank()));
        comm.all_reduce(data, Op::sum, {.algorithm = each.name, .reproducible = level});
        EXPECT_EQ(data, std::vector<int>(100, static_cast<int>(3'000'000'003U))) << each.name;
      }
    });
  }
}

/// Invalid calls fail before anything is sent.
TEST(Exact, Refusals) {
  run_threads(2, [](Communicator& comm) {
    std::vector<float> data(4, 1);
    const std::vector<std::vector<float>> shards(2, data);
    const CallOptions exact{.reproducible = Reproducible::exact};
    const auto refused = [&](const std::function<void()>& f, const std::string& part,
                             ErrorCode code = ErrorCode::invalid_argument) {
      expect_error(f, code, part);
    };
    refused([&] { comm.all_reduce(data, Op::prod, exact); }, "is for sum and avg; use order");
    refused([&] { comm.all_reduce(data, reduction<float>(std::plus<>{}), exact); },
            "use order for a user-defined function");
    refused(
        [&] {
          comm.all_reduce(data, Op::sum,
                          {.algorithm = "allreduce/ring", .reproducible = Reproducible::exact});
        },
        "by allreduce/mesh, allreduce/mesh_two_shot, allreduce/root", ErrorCode::unsupported);
    refused([&] { comm.all_reduce_shards(shards, data, Op::sum, {.algorithm = "allreduce/mesh"}); },
            "takes no algorithm");
    std::vector<float> longer(5);
    refused([&] { comm.all_reduce_shards(shards, longer); }, "must be equally long");
    const std::vector<const void*> pointers{data.data()};
    Call call{.collective = Collective::allreduce,
              .output = data.data() + 1,
              .shards = pointers,
              .count = 3,
              .dtype = DType::f32,
              .options = exact};
    refused([&] { comm.run(call); }, "overlap");
    call.output = data.data();
    call.options.reproducible = Reproducible::order;
    refused([&] { comm.run(call); }, "shards need reproducible = exact");
    call.collective = Collective::broadcast;
    refused([&] { comm.run(call); }, "takes no shards");
    // All ranks throw if no rank contributes a shard.
    refused([&] { comm.all_reduce_shards(std::vector<std::vector<float>>{}, data); },
            "no rank contributes a shard");
    comm.all_reduce(data);
    EXPECT_EQ(data[0], 2);
  });
}

}  // namespace
}  // namespace tutti::test
