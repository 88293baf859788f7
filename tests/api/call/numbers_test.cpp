#include <functional>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

/// Reductions of single numbers.
namespace tutti::test {
namespace {

TEST(Numbers, AreReducedOneByOne) {
  run_threads(3, [](Communicator& comm) {
    const double own = comm.rank() + 0.5;
    EXPECT_EQ(comm.all_reduce(own), 4.5);
    EXPECT_EQ(own, comm.rank() + 0.5);
    EXPECT_EQ(comm.all_reduce(comm.rank(), Op::max), 2U);
    EXPECT_EQ(comm.all_reduce(2, reduction<int>(std::multiplies<>{}), {.site = "a product"}), 8);
  });
}

}  // namespace
}  // namespace tutti::test
