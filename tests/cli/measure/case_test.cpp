#include "cli/measure/case.hpp"

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

using measure::bus_factor;
using measure::Case;

TEST(Case, BusFactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(Collective::allreduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::allgather, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::alltoall, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::broadcast, 4), 1);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::barrier, 4), 0);
}

TEST(Case, CountFillsTheLargerBuffer) {
  for (const Collective each : collectives()) {
    if (each == Collective::barrier) continue;
    Case what{.collective = each};
    what.count = measure::count_for(each, what.dtype, 4096, 4);
    EXPECT_EQ(larger_bytes(what, 4), 4096) << name(each);
    EXPECT_EQ(measure::count_for(each, what.dtype, 1, 4), 1) << name(each);
  }
  EXPECT_EQ(measure::count_for(Collective::barrier, DType::f32, 4096, 4), 0);
}

TEST(Case, NamesItsMethodAndOperation) {
  EXPECT_EQ(Case{}.method_name(), "auto");
  EXPECT_EQ(measure::case_of(algorithm("broadcast/chain")).method_name(), "broadcast/chain");
  EXPECT_EQ(op_name(Case{.collective = Collective::reduce, .op = Op::max}), "max");
  EXPECT_EQ(op_name(Case{.collective = Collective::broadcast}), "none");
}

}  // namespace
}  // namespace tutti::test
