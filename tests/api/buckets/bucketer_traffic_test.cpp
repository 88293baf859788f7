#include <gtest/gtest.h>

#include <tutti/bucketer.hpp>

#include "support/processes.hpp"

namespace tutti::test {
namespace {

TEST(BucketerTraffic, IsThatOfTheAllreduces) {
  run_threads(4, [](Communicator& comm) {
    std::vector<float> flat(16 * 100);
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < 16; ++i) {
      tensors.push_back({.data = flat.data() + 100 * i, .count = 100, .dtype = DType::f32});
    }
    BucketOptions by_ring{.bucket_bytes = 2000, .first_bucket_bytes = 400, .reduction = Op::sum};
    by_ring.call.algorithm = "allreduce/ring";
    Bucketer bucketer(comm, tensors, by_ring);
    const std::uint64_t before = bucketer.traffic().total().bytes_sent;
    constexpr std::uint64_t steps = 3;
    for (std::uint64_t step = 0; step < steps; ++step) {
      for (std::size_t i = 0; i < tensors.size(); ++i) bucketer.ready(i);
      bucketer.finish();
    }
    // Every rank of a ring sends 2(p−1)/p of the data.
    EXPECT_EQ(bucketer.traffic().total().bytes_sent - before, steps * 6400 * 2 * 3 / 4);
  });
}

}  // namespace
}  // namespace tutti::test
