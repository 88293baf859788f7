#include <gtest/gtest.h>

#include <tutti/generator.hpp>
#include <tutti/routes.hpp>

namespace tutti {
namespace {

std::vector<std::string> words(const Network& network, const std::vector<LinkId>& links) {
  std::vector<std::string> words;
  for (const LinkId link : links) words.push_back(network.describe(link));
  return words;
}

using Words = std::vector<std::string>;

TEST(Routes, GoThroughTheHubOfAStar) {
  const Network network = generate("star:3");
  Routes routes(network);
  EXPECT_EQ(words(network, routes.between(Rank{0}, Rank{2})), (Words{"r0→s0", "s0→r2"}));
  EXPECT_EQ(words(network, routes.between(Rank{1}, Rank{1})), Words{});
}

TEST(Routes, GoAlongTheFirstDimensionOfATorusFirst) {
  const Network network = generate("torus:4x3");
  Routes routes(network);
  EXPECT_EQ(routes.policy(), RoutePolicy::dimension_order);
  EXPECT_EQ(words(network, routes.between(Rank{0}, Rank{7})), (Words{"r0→r3", "r3→r7"}));
  EXPECT_EQ(words(network, routes.between(Rank{0}, Rank{2})), (Words{"r0→r1", "r1→r2"}));
  EXPECT_EQ(words(network, routes.between(Rank{1}, Rank{3})), (Words{"r1→r0", "r0→r3"}));
}

TEST(Routes, AreShortest) {
  const Network network = generate("torus:4x3");
  Routes routes(network, {.policy = RoutePolicy::shortest});
  EXPECT_EQ(words(network, routes.between(Rank{0}, Rank{7})).size(), 2U);
}

}  // namespace
}  // namespace tutti
