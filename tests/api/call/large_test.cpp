#include <gtest/gtest.h>

#include <tutti/communicator.hpp>
#include <tutti/memory.hpp>

namespace tutti::test {
namespace {

TEST(SlowLarge, MoreElementsThanFitInto31Bits) {
  constexpr std::uint64_t count = (std::uint64_t{1} << 31) + 7;
  run_threads(2, [](Communicator& comm) {
    std::vector<std::uint8_t, Allocator<std::uint8_t>> data(count);
    for (const std::uint64_t i : {std::uint64_t{0}, count / 2, count - 8, count - 1}) {
      data[i] = static_cast<std::uint8_t>(comm.rank() + 1 + i % 5);
    }
    comm.all_reduce(data);
    for (const std::uint64_t i : {std::uint64_t{0}, count / 2, count - 8, count - 1}) {
      EXPECT_EQ(data[i], 3 + 2 * (i % 5)) << i;
    }
    EXPECT_EQ(data[count - 2], 0);
    comm.broadcast(data, 1);
    comm.all_reduce(std::span(data).first(count / 2 + 1), Op::max,
                    {.algorithm = "allreduce/recursive_doubling"});
    EXPECT_EQ(data[count / 2], 3 + 2 * (count / 2 % 5));
  });
}

}  // namespace
}  // namespace tutti::test
