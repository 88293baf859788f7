#include "api/group/surroundings.hpp"

#include <gtest/gtest.h>

#include "support/forked_child.hpp"

namespace tutti::test {
namespace {

Surroundings known() {
  return {.boot = "b", .process_namespace = "pid:[1]", .network_namespace = "net:[2]"};
}

/// The names that a forked child computes.
std::string in_child(const Surroundings& surroundings) {
  ForkedChild child([&] { return surroundings.host("") + surroundings.network(); });
  return child.wait();
}

TEST(Surroundings, AreReadFromTheSystem) {
  const Surroundings here = Surroundings::read();
  EXPECT_NE(here.boot, "");
  EXPECT_TRUE(here.process_namespace.starts_with("pid:[")) << here.process_namespace;
  EXPECT_TRUE(here.network_namespace.starts_with("net:[")) << here.network_namespace;
}

TEST(Surroundings, AreEqualWithinANamespace) {
  EXPECT_EQ(in_child(known()), known().host("") + known().network());
  Surroundings other = known();
  other.network_namespace = "net:[3]";
  EXPECT_EQ(other.host(""), known().host(""));
  EXPECT_NE(other.network(), known().network());
  other.process_namespace = "pid:[3]";
  EXPECT_NE(other.host(""), known().host(""));
}

TEST(Surroundings, AreUniqueIfUnknown) {
  for (const auto part : {&Surroundings::boot, &Surroundings::process_namespace}) {
    Surroundings unknown = known();
    unknown.*part = "";
    EXPECT_EQ(unknown.host(""), unknown.host("")) << "equal for threads of one process";
    EXPECT_NE(in_child(unknown), unknown.host("") + unknown.network());
    ForkedChild child([&] { return unknown.host(""); });
    EXPECT_NE(child.wait(), unknown.host(""));
  }
  for (const auto part : {&Surroundings::boot, &Surroundings::network_namespace}) {
    Surroundings unknown = known();
    unknown.*part = "";
    EXPECT_EQ(unknown.network(), unknown.network());
    EXPECT_FALSE(is_known_network(unknown.network()));
    EXPECT_TRUE(is_known_network(known().network()));
    ForkedChild child([&] { return unknown.network(); });
    EXPECT_NE(child.wait(), unknown.network());
  }
}

TEST(Surroundings, DifferentHostIdsStayDifferent) {
  EXPECT_NE(known().host("\xe9"), known().host("\xe8"));
  EXPECT_NE(known().host("%e9"), known().host("\xe9"));
  for (const char each : known().host("a\xff\n\x7f z")) {
    EXPECT_TRUE(each >= ' ' && each < 0x7F) << static_cast<int>(each);
  }
}

}  // namespace
}  // namespace tutti::test
