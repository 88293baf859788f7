#include <chrono>

#include <gtest/gtest.h>

#include <tutti/network/generator.hpp>

#include "support/errors.hpp"

namespace tutti {
namespace {

using test::expect_error;

TEST(Generator, EveryExampleIsValid) {
  for (const Generator& each : generators()) {
    SCOPED_TRACE(each.name);
    const Network network = generate(each.example);
    EXPECT_NO_THROW(network.check());
    EXPECT_EQ(network.name, each.example);
    EXPECT_GT(network.rank_count(), 1U);
  }
}

struct Count {
  std::string spec;
  std::size_t ranks;
  std::size_t nodes;
  std::size_t links;
};

TEST(Generator, CountsMatchTheFormulas) {
  const std::vector<Count> counts{
      {"server:p=8", 8, 10, 18},
      {"server:p=4,hosts=2", 8, 13, 24},
      {"star:p=16", 16, 17, 32},
      {"fat_tree:k=4", 16, 36, 96},
      {"fat_tree:k=8", 128, 208, 768},
      {"fat_tree:k=8,oversubscription=2", 128, 128 + 32 + 16 + 8, 256 + 128 + 128},
      {"torus:4x4", 16, 16, 64},
      {"torus:2x3x1", 6, 6, 6 + 12},
      {"dragonfly:g=9,a=4,p=2", 72, 108, 144 + 9 * 12 + 72},
      {"ring:p=8", 8, 8, 16},
      {"ring:p=2", 2, 2, 2},
      {"ring:p=1", 1, 1, 0},
      {"hypercube:d=4", 16, 16, 64},
      {"full_mesh:p=8", 8, 8, 56},
      {"multi_rail:nodes=4,gpus=8", 32, 8 + 4 + 32 + 32, 64 + 128},
      {"multi_rail:nodes=2,gpus=8,nics=2", 16, 16 + 2 + 4 + 2, 32 + 16},
  };
  for (const Count& each : counts) {
    SCOPED_TRACE(each.spec);
    const Network network = generate(each.spec);
    EXPECT_EQ(network.ranks.size(), each.ranks);
    EXPECT_EQ(network.nodes.size(), each.nodes);
    EXPECT_EQ(network.links.size(), each.links);
    EXPECT_NO_THROW(network.check());
  }
}

TEST(Generator, ArgumentsReachTheLinks) {
  const Network network = generate("star:p=2,bandwidth=10Gb/s,latency=3us");
  EXPECT_EQ(network.links.front().bytes_per_second, 10e9 / 8);
  EXPECT_EQ(network.links.front().latency, 3e-6);
  const Network rails = generate("multi_rail:2,gpus=2,inside=600GB/s,outside=100GB/s");
  EXPECT_EQ(rails.links.front().bytes_per_second, 600e9);
  EXPECT_EQ(rails.links.back().bytes_per_second, 100e9);
}

TEST(Generator, DragonflySpreadsGlobalLinksOverRouters) {
  const Network network = generate("dragonfly:g=9,a=4,p=2,global=1GB/s");
  std::vector<int> leaving(network.nodes.size());
  for (const Link& link : network.links) {
    if (link.bytes_per_second == 1e9) ++leaving[link.from.index()];
  }
  for (std::size_t i = network.ranks.size(); i < leaving.size(); ++i) EXPECT_EQ(leaving[i], 2);
}

TEST(Generator, ErrorsNameTheMistakeAndTheCure) {
  const auto refused = [](const std::string& spec, const std::string& part) {
    expect_error([&] { (void)generate(spec); }, ErrorCode::invalid_argument, part);
  };
  refused("fattree:k=4", "Did you mean 'fat_tree'?");
  refused("fat_tree:kk=4", "'fat_tree' has no parameter 'kk'");
  refused("star:p=4,bandwith=1GB/s", "Did you mean 'bandwidth'?");
  refused("star", "needs the parameter 'p'");
  refused("star:p=0", "parameter 'p' of 'star'");
  refused("star:p=4,p=4", "given twice");
  refused("star:4,5", "joined by '='");
  refused("star:p=4,bandwidth=fast", "is not a bandwidth");
  refused("star:p=4,bandwidth=0GB/s", "is not a bandwidth");
  refused("fat_tree:k=5", "even");
  refused("fat_tree:k=8,oversubscription=3", "divisor of 4");
  refused("torus:4x", "whole number");
  refused("torus:4096x4096x4096", "too large");
  refused("full_mesh:p=100000", "or a star");
  refused("hypercube:d=40", "at most 20");
  refused("dragonfly:g=1000000,a=1000", "parts of one kind");
}

TEST(Generator, BuildsBigNetworksInTime) {
  for (const std::string spec : {"star:p=65536", "fat_tree:k=64", "torus:64x32x32"}) {
    const auto begin = std::chrono::steady_clock::now();
    const Network network = generate(spec);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(network.rank_count(), 65536U) << spec;
    // About 20 ms on an idle machine.
    EXPECT_LT(took.count(), 2) << spec;
  }
}

TEST(Network, RejectsInvalidGraphs) {
  const auto refused = [](const Network& network, const std::string& part) {
    expect_error([&] { network.check(); }, ErrorCode::invalid_argument, part);
  };
  refused(Network{}, "no ranks");
  Network apart;
  const NodeId a = apart.add("A", NodeKind::rank);
  const NodeId b = apart.add("B", NodeKind::rank);
  refused(apart, "no path leads from A to B");
  apart.add_link(a, b, 1, 0);
  refused(apart, "no path leads from B to A");
  apart.add_link(b, a, 1, 0);
  EXPECT_NO_THROW(apart.check());
  const NodeId c = apart.add("C", NodeKind::rank);
  apart.join(b, c, 1, 0);
  refused(apart, "no path leads from A to C: add links, or set ranks_forward");
  apart.ranks_forward = true;
  EXPECT_NO_THROW(apart.check());
  apart.links.front().bytes_per_second = 0;
  refused(apart, "the link A→B has a bandwidth of 0");
  apart.links.front() = {.from = a, .to = b, .bytes_per_second = 1, .latency = -1};
  refused(apart, "the link A→B has a latency of -1");
  apart.links.front().latency = 0;
  apart.nodes.back().name = "A";
  refused(apart, "two nodes have the name 'A'");
  expect_error([&] { apart.add_link(a, a, 1, 0); }, ErrorCode::invalid_argument,
               "connects a node with itself");
  expect_error([&] { apart.add_link(a, NodeId{9}, 1, 0); }, ErrorCode::invalid_argument,
               "there are only 3");
}

}  // namespace
}  // namespace tutti
