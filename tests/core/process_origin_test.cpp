#include "core/process_origin.hpp"

#include <gtest/gtest.h>

#include "support/forked_child.hpp"

namespace tutti::test {
namespace {

TEST(ProcessOrigin, TellsParentFromChild) {
  const ProcessOrigin before;
  EXPECT_TRUE(before.is_here());
  ForkedChild child([&]() -> std::string {
    if (before.is_here()) return "the child takes itself for the parent";
    const ProcessOrigin own;
    if (!own.is_here()) return "the child does not know itself";
    ForkedChild grandchild([&] {
      return before.is_here() || own.is_here() ? "the grandchild takes itself for another" : "";
    });
    return grandchild.wait();
  });
  EXPECT_EQ(child.wait(), "");
  EXPECT_TRUE(before.is_here());
}

}  // namespace
}  // namespace tutti::test
