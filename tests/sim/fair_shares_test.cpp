#include "sim/fair_shares.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "support/random.hpp"

namespace tutti {
namespace {

struct Flow {
  std::vector<Crossing> route;
  double weight = 1;
};

/// Reference implementation by progressive filling: all rates rise together until a link is full.
/// The flows on it then stop; the others continue.
std::map<std::uint32_t, double> progressive_filling(const std::vector<double>& capacities,
                                                    const std::map<std::uint32_t, Flow>& flows) {
  std::map<std::uint32_t, double> rates;
  while (rates.size() < flows.size()) {
    double lowest = std::numeric_limits<double>::infinity();
    std::size_t full = 0;
    for (std::size_t l = 0; l < capacities.size(); ++l) {
      double left = capacities[l];
      double weight = 0;
      for (const auto& [id, flow] : flows) {
        for (const Crossing& each : flow.route) {
          if (each.link != l) continue;
          const auto known = rates.find(id);
          if (known != rates.end()) left -= each.times * known->second;
          if (known == rates.end()) weight += each.times * flow.weight;
        }
      }
      if (weight > 0 && left / weight < lowest) {
        lowest = left / weight;
        full = l;
      }
    }
    for (const auto& [id, flow] : flows) {
      const bool crosses = std::any_of(flow.route.begin(), flow.route.end(),
                                       [&](const Crossing& each) { return each.link == full; });
      if (crosses && rates.count(id) == 0) rates[id] = lowest * flow.weight;
    }
  }
  return rates;
}

/// Flows that start and end at random, several at a time.
class Traffic {
 public:
  Traffic(std::uint64_t seed, bool weighted, bool regular)
      : random_(seed), weighted_(weighted), regular_(regular) {
    const std::size_t links = 2 + random_.below(std::uint64_t{14});
    for (std::size_t i = 0; i < links; ++i) capacities.push_back(amount());
  }

  void change(FairShares& shares) {
    for (std::uint64_t i = 1 + random_.below(std::uint64_t{4}); i > 0; --i) {
      if (!flows.empty() && random_.one_in(2)) {
        auto gone = flows.begin();
        std::advance(gone, random_.below(std::uint64_t{flows.size()}));
        shares.remove(gone->first);
        flows.erase(gone);
      } else {
        come(shares);
      }
    }
  }

  std::vector<double> capacities;
  std::map<std::uint32_t, Flow> flows;

 private:
  double amount() {
    return regular_ ? 8 : 1 + static_cast<double>(random_.below(std::uint64_t{1000}));
  }

  void come(FairShares& shares) {
    std::uint32_t id = 0;
    while (flows.count(id) > 0) ++id;
    Flow& flow = flows[id];
    std::vector<std::uint32_t> links;
    for (std::uint32_t l = 0; l < capacities.size(); ++l) links.push_back(l);
    random_.shuffle(links);
    links.resize(1 + random_.below(std::uint64_t{std::min<std::size_t>(links.size(), 5)}));
    for (const std::uint32_t link : links) {
      flow.route.push_back({.link = link, .times = random_.one_in(8) ? 2U : 1U});
    }
    flow.weight = weighted_ ? amount() : 1;
    shares.add(id, flow.route, flow.weight);
  }

  test::Random random_;
  bool weighted_;
  bool regular_;
};

void expect_fair(std::uint64_t seed, bool weighted, bool regular) {
  Traffic traffic(seed, weighted, regular);
  FairShares shares(traffic.capacities);
  for (int step = 0; step < 30; ++step) {
    traffic.change(shares);
    (void)shares.settle();
    const auto expected = progressive_filling(traffic.capacities, traffic.flows);
    for (const auto& [id, rate] : expected) {
      ASSERT_NEAR(shares.rate(id), rate, 1e-9 * rate)
          << "seed " << seed << ", step " << step << ", flow " << id;
    }
  }
}

TEST(FairShares, MatchProgressiveFilling) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    expect_fair(seed, false, false);
    expect_fair(seed, true, false);
    expect_fair(seed, false, true);
  }
}

TEST(FairShares, SingleFlowGetsItsSlowestLink) {
  FairShares shares({10, 4, 7});
  const std::vector<Crossing> route{{.link = 0}, {.link = 1}, {.link = 2}};
  shares.add(0, route, 1);
  ASSERT_EQ(shares.settle().size(), 1U);
  EXPECT_EQ(shares.rate(0), 4);
}

TEST(FairShares, WeightedFlowSharePerMember) {
  FairShares shares({12});
  const std::vector<Crossing> route{{.link = 0, .times = 3}};
  shares.add(0, route, 1);
  (void)shares.settle();
  EXPECT_EQ(shares.rate(0), 4);
}

TEST(FairShares, ReportExactlyTheChangedRates) {
  FairShares shares({10, 10});
  const std::vector<Crossing> here{{.link = 0}};
  const std::vector<Crossing> there{{.link = 1}};
  shares.add(0, here, 1);
  shares.add(1, there, 1);
  (void)shares.settle();
  shares.add(2, here, 1);
  const auto changed = shares.settle();
  std::vector<std::uint32_t> sorted(changed.begin(), changed.end());
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(shares.rate(0), 5);
  EXPECT_EQ(shares.rate(1), 10);
}

TEST(FairShares, AreProportionalToWeights) {
  FairShares shares({12});
  const std::vector<Crossing> route{{.link = 0}};
  shares.add(0, route, 1);
  shares.add(1, route, 3);
  (void)shares.settle();
  EXPECT_EQ(shares.rate(0), 3);
  EXPECT_EQ(shares.rate(1), 9);
}

}  // namespace
}  // namespace tutti
