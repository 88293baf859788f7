#include <gtest/gtest.h>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/figures.hpp>
#include <tutti/schedule/price.hpp>

#include "support/variant_schedules.hpp"

/// The cost of local steps.
namespace tutti::test {
namespace {

/// In the model adding after all data has arrived costs the same as adding while it arrives.
TEST(LocalSteps, CostTheSameAsAFoldingReceive) {
  for (const std::uint32_t p : {2U, 3U, 5U, 8U}) {
    const Schedule local = gathering_mesh(p);
    const Schedule at_once = algorithm("allreduce/mesh_two_shot").schedule({.ranks = p});
    const Layout layout = even_layout(local.contract, 1000 * p);
    const Figures one = count(local, layout);
    const Figures other = count(at_once, layout);
    EXPECT_EQ(one, other) << p;
    for (const Ports ports : {Ports::one, Ports::unlimited}) {
      const CostModel model{.link = {.alpha = 1e-6, .beta = 1e-9}, .gamma = 3e-10};
      const Price priced = Pricer(local).price(layout, model, ports);
      const Price expected = Pricer(at_once).price(layout, model, ports);
      EXPECT_NEAR(priced.seconds, expected.seconds, 1e-12) << p;
      EXPECT_EQ(priced.reduced, expected.reduced) << p;
      EXPECT_EQ(priced.messages, expected.messages) << p;
    }
  }
}

TEST(LocalSteps, FoldInOnePassAndCopyForFree) {
  const std::uint32_t p = 4;
  const Schedule relay = relay_allreduce(p);
  const Layout layout = even_layout(relay.contract, 1000);
  EXPECT_EQ(count(relay, layout).reduced, 3000U);
  EXPECT_EQ(count(relay, layout).most_reduced, 3000U);
  EXPECT_EQ(count(relay, layout).rounds, 6U);
  // Three values reach rank 0 one after the other and are added; the sum makes three hops.
  const CostModel model{.link = {.alpha = 1, .beta = 0}, .gamma = 1e-3};
  EXPECT_NEAR(Pricer(relay).price(layout, model, Ports::one).seconds, 3 + 3 + 3, 1e-9);

  const Schedule chain = copying_chain(p, 1);
  EXPECT_EQ(count(chain, layout).reduced, 0U);
  EXPECT_EQ(count(chain, layout).messages, 3U);
  EXPECT_NEAR(Pricer(chain).price(layout, model, Ports::one).seconds, 3, 1e-9);
}

}  // namespace
}  // namespace tutti::test
