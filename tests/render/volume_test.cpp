#include "render/volume.hpp"

#include <gtest/gtest.h>

#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/figures.hpp>

#include "render/story.hpp"

namespace tutti::test {
namespace {

struct Volume {
  double sent = 0;
  double least = 0;
};

Volume printed(const std::string& text) {
  Volume volume;
  EXPECT_EQ(std::sscanf(text.c_str(),
                        "no rank sends more than %lf times the data (%lf is the least possible)",
                        &volume.sent, &volume.least),
            2)
      << text;
  return volume;
}

/// The bytes that some rank has to send, relative to the data.
double least_of(Collective collective, double p) {
  if (p < 2) return 0;
  switch (collective) {
    case Collective::broadcast:
    case Collective::reduce:
      return 1;
    case Collective::gather:
      return 1 / p;
    case Collective::allreduce:
      return 2 * (p - 1) / p;
    default:
      return (p - 1) / p;
  }
}

TEST(Volume, IsThatOfTheFormulaForEveryAlgorithm) {
  for (const Algorithm& each : algorithms()) {
    if (each.collective == Collective::barrier) continue;
    for (std::uint32_t p = 1; p <= 17; ++p) {
      const Problem problem{.ranks = p, .shape = each.needs_shape() ? squarest(p) : Shape{}};
      const Schedule schedule = each.schedule(problem);
      const std::string text = render::volume_text(schedule);
      const Volume volume = printed(text);
      const double data = each.collective == Collective::alltoall
                              ? static_cast<double>(schedule.contract.chunks) / p
                              : static_cast<double>(schedule.contract.chunks);
      const auto sent = static_cast<double>(
          count(schedule, Layout::equal(schedule.contract.chunks, 1)).most_sent);
      const std::string where = std::string(each.name) + ", p=" + std::to_string(p) + ": " + text;
      EXPECT_NEAR(volume.least, least_of(each.collective, p), 5e-3) << where;
      EXPECT_NEAR(volume.sent, sent / data, 5e-3 * sent / data) << where;
      EXPECT_LE(volume.least, volume.sent) << where;
    }
  }
}

/// These have one chunk, of which the bound is a fraction.
TEST(Volume, OfOneChunkIsNotRoundedUp) {
  for (const char* name : {"ring_naive", "mesh", "root", "binary_tree", "binomial"}) {
    const Schedule schedule = algorithm("allreduce/" + std::string(name)).schedule({.ranks = 5});
    const std::string text = render::story(schedule, {}, render::Paint(false));
    EXPECT_NE(text.find("(1.6 is the least possible)"), std::string::npos) << text;
  }
}

TEST(Volume, TellsFiguresApart) {
  const auto text = [](const char* name, std::uint32_t p) {
    return render::volume_text(algorithm(name).schedule({.ranks = p}));
  };
  EXPECT_EQ(text("allreduce/ring_naive", 500),
            "no rank sends more than 2 times the data (1.996 is the least possible)");
  EXPECT_EQ(text("allreduce/ring", 500),
            "no rank sends more than 1.996 times the data (1.996 is the least possible)");
  EXPECT_EQ(text("barrier/dissemination", 8), "");
}

}  // namespace
}  // namespace tutti::test
