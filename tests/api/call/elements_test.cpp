#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "support/errors.hpp"

/// Elements of any size.
namespace tutti::test {
namespace {

struct Vec3 {
  float x = 0;
  float y = 0;
  float z = 0;
  friend bool operator==(const Vec3&, const Vec3&) = default;
  friend Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
};
static_assert(sizeof(Vec3) == 12);

template <std::size_t words>
struct Block {
  std::array<std::uint32_t, words> all{};
  friend bool operator==(const Block&, const Block&) = default;
  friend Block operator+(const Block& a, const Block& b) {
    Block sum;
    for (std::size_t i = 0; i < words; ++i) sum.all[i] = a.all[i] + b.all[i];
    return sum;
  }
};

template <class T>
T element(std::uint32_t i);
template <>
Vec3 element<Vec3>(std::uint32_t i) {
  const auto at = static_cast<float>(i % 4096);
  return {at, 2 * at, -at};
}
template <>
Block<7> element<Block<7>>(std::uint32_t i) {
  return {{i, i + 1, i + 2, 3, 4, 5, ~i}};
}
/// Longer than the shortest slice, and no multiple of a cache line.
template <>
Block<333> element<Block<333>>(std::uint32_t i) {
  Block<333> block;
  for (std::uint32_t k = 0; k < block.all.size(); ++k) block.all[k] = i * 1000 + k;
  return block;
}

template <class T>
std::vector<T> elements(std::size_t count, std::uint32_t rank) {
  std::vector<T> all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back(element<T>(i * 3 + rank));
  return all;
}

template <class T>
void expect_sums(Communicator& comm, std::size_t count, const CallOptions& options) {
  const auto add = reduction<T>(std::plus<>{});
  std::vector<T> wanted = elements<T>(count, 0);
  for (std::uint32_t r = 1; r < comm.size(); ++r) {
    const std::vector<T> more = elements<T>(count, r);
    for (std::size_t i = 0; i < count; ++i) wanted[i] = wanted[i] + more[i];
  }
  std::vector<T> data = elements<T>(count, comm.rank());
  comm.all_reduce(data, add, options);
  EXPECT_EQ(data == wanted, true) << count << " elements of " << sizeof(T);
}

class Elements : public ::testing::TestWithParam<const char*> {};

TEST_P(Elements, OfAnySizeAreReduced) {
  run_threads(3,
              [](Communicator& comm) {
                for (const Reproducible level : {Reproducible::run, Reproducible::order}) {
                  const CallOptions options{.reproducible = level, .tuning = {.slice_bytes = 1024}};
                  for (const std::size_t count : {1U, 2U, 5U, 6U, 85U, 86U, 1000U, 30000U}) {
                    expect_sums<Vec3>(comm, count, options);
                  }
                  for (const std::size_t count : {1U, 37U, 5000U})
                    expect_sums<Block<7>>(comm, count, {});
                  for (const std::size_t count : {1U, 2U, 50U, 500U}) {
                    expect_sums<Block<333>>(comm, count, options);
                  }
                }
              },
              {.transport = GetParam()});
}

INSTANTIATE_TEST_SUITE_P(Api, Elements, ::testing::Values("auto", "tcp"),
                         [](const auto& each) { return std::string(each.param); });

TEST(Elements, OfAnySizeHaveBlocksOfDifferentLengths) {
  run_threads(3, [](Communicator& comm) {
    const std::uint32_t rank = comm.rank();
    const std::vector<std::uint64_t> counts{1, 2, 3};
    const std::vector<Vec3> own(counts[rank], element<Vec3>(rank));
    const std::vector<Vec3> wanted{element<Vec3>(0), element<Vec3>(1), element<Vec3>(1),
                                   element<Vec3>(2), element<Vec3>(2), element<Vec3>(2)};
    std::vector<Vec3> all(6);
    comm.all_gather_v(own, all, counts);
    EXPECT_EQ(all, wanted);
    std::vector<Vec3> gathered(rank == 1 ? 6 : 0);
    comm.gather_v(own, gathered, counts, 1);
    EXPECT_EQ(gathered, rank == 1 ? wanted : std::vector<Vec3>{});
    std::vector<Vec3> mine(counts[rank]);
    comm.scatter_v(gathered, mine, counts, 1);
    EXPECT_EQ(mine, own);
    const std::vector<std::uint64_t> each(3, 2);
    std::vector<Vec3> exchanged(6);
    comm.all_to_all_v(std::vector<Vec3>(6, element<Vec3>(rank)), each, exchanged, each);
    EXPECT_EQ(exchanged[4], element<Vec3>(2));
    comm.reduce_scatter_v(all, mine, counts, reduction<Vec3>(std::plus<>{}));
    EXPECT_EQ(mine.front(), own.front() + own.front() + own.front());
  });
}

}  // namespace
}  // namespace tutti::test
