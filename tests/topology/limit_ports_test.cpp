#include "topology/limit_ports.hpp"

#include <gtest/gtest.h>

#include <tutti/network/generator.hpp>
#include <tutti/network/optimum.hpp>

namespace tutti {
namespace {

double allgather(const Network& network, std::uint32_t ports) {
  return optimum(limit_ports(network, ports)).allgather.value();
}

/// Four links each way: with one port a quarter of them.
TEST(LimitPorts, ARankOfATorusUsesAsManyLinksAsPorts) {
  const Network torus = generate("torus:4x4,bandwidth=1GB/s");
  EXPECT_EQ(limit_ports(torus, 0), torus);
  EXPECT_EQ(limit_ports(torus, 4), torus);
  const double all = allgather(torus, 0);
  for (const std::uint32_t ports : {1U, 2U, 3U}) {
    EXPECT_NEAR(allgather(torus, ports), all * ports / 4, 1e-6 * all) << ports;
  }
}

TEST(LimitPorts, NothingChangesWithOneLinkPerRank) {
  for (const char* const spec : {"star:p=5", "fat_tree:k=4", "server:p=2,hosts=3"}) {
    const Network network = generate(spec);
    EXPECT_EQ(limit_ports(network, 1), network) << spec;
  }
}

/// The ports of a rank do not limit what others send through it: on a line the middle forwards.
TEST(LimitPorts, RanksForwardAtFullSpeed) {
  const Network line = generate("line:p=3,bandwidth=1GB/s");
  EXPECT_EQ(allgather(line, 1), allgather(line, 0));
}

}  // namespace
}  // namespace tutti
