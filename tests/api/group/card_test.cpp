#include "api/group/card.hpp"

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "support/errors.hpp"

namespace tutti {
namespace {

Card card() {
  return {.host = "host",
          .network = "network",
          .name = "name",
          .pid = 42,
          .heap_fd = -1,
          .cores = {0, 3},
          .way = Way::tcp};
}

TEST(Card, IsReadAsItWasWritten) {
  const Card read = read_card(write(card()));
  EXPECT_EQ(write(read), write(card()));
  EXPECT_EQ(read.heap_fd, -1);
  EXPECT_EQ(read.cores, (std::vector<int>{0, 3}));
  EXPECT_EQ(read.way, Way::tcp);
}

TEST(Card, NamesMayBeAnyBytes) {
  Card odd = card();
  odd.name = "\xe9mile";
  EXPECT_EQ(read_card(write(odd)).name, "\xef\xbf\xbdmile");
}

TEST(Card, IsRefusedIfItMakesNoSense) {
  const auto refused = [](const std::string& what, const std::string& instead) {
    std::string text = write(card());
    ASSERT_NE(text.find(what), std::string::npos) << what;
    text.replace(text.find(what), what.size(), instead);
    test::expect_error([&] { (void)read_card(text); }, ErrorCode::mismatch, "the same version");
  };
  refused("{", "");
  refused("\"pid\":42", "\"pid\":4294967338");
  refused("\"pid\":42", "\"pid\":1e300");
  refused("\"pid\":42", "\"pid\":true");
  refused("\"way\":2", "\"way\":3");
  refused("\"cores\":[0,3]", "\"cores\":[0.5]");
  refused("\"host\"", "\"hast\"");
}

}  // namespace
}  // namespace tutti
