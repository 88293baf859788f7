#include "net/interface.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "support/errors.hpp"

namespace tutti {
namespace {

Interface interface(const std::string& name, const std::string& address) {
  return {.name = name, .address = Endpoint::parse(address + ":0")};
}

/// A host with containers: bridges, the ends of their cables, and an address on lo that others
/// reach.
std::vector<Interface> host() {
  return {interface("lo", "127.0.0.1"),        interface("docker0", "172.17.0.1"),
          interface("br-4f0e", "172.18.0.1"),  interface("eth0", "10.0.0.7"),
          interface("eth0", "[fe80::7%lo]"),   interface("eth01", "10.0.1.7"),
          interface("lo", "10.9.9.9"),         interface("lo", "[::1]"),
          interface("veth3a", "[fe80::3a%lo]")};
}

std::string hosts(const std::vector<Endpoint>& addresses) {
  std::string all;
  for (const Endpoint& each : addresses) all += (all.empty() ? "" : " ") + each.host();
  return all;
}

std::string selected(const std::string& filter) { return hosts(addresses_of(host(), filter)); }

TEST(Interfaces, OrderedByReach) {
  EXPECT_EQ(selected(""), "172.18.0.1 10.0.0.7 10.0.1.7 10.9.9.9 172.17.0.1 127.0.0.1 ::1");
}

TEST(Interfaces, SelectedByPrefix) {
  EXPECT_EQ(selected("eth0"), "10.0.0.7 10.0.1.7");
  EXPECT_EQ(selected("nothing,lo"), "10.9.9.9 127.0.0.1 ::1");
  EXPECT_EQ(selected("eth01,docker"), "10.0.1.7 172.17.0.1");
}

TEST(Interfaces, SelectedByExactName) {
  EXPECT_EQ(selected("=eth0"), "10.0.0.7");
  EXPECT_EQ(selected("=eth01,docker0,br"), "10.0.1.7 172.17.0.1");
}

TEST(Interfaces, ExcludedByName) {
  EXPECT_EQ(selected("^docker,br-,lo,veth"), "10.0.0.7 10.0.1.7");
  EXPECT_EQ(selected("^=eth0,docker0,br-4f0e,l"), "10.0.1.7 10.9.9.9 127.0.0.1 ::1");
  EXPECT_EQ(selected("^=l"), selected(""));
}

TEST(Interfaces, LinkLocalOnlyIfNothingElse) {
  EXPECT_EQ(selected("=veth3a"), "fe80::3a%lo");
  EXPECT_EQ(hosts(addresses_of(
                std::vector{interface("lo", "127.0.0.1"), interface("eth0", "[fe80::7%lo]")}, "")),
            "fe80::7%lo 127.0.0.1");
}

TEST(Interfaces, FilterThatLeavesNoneListsThem) {
  for (const std::string filter : {"=l", "nothing", ",", "=", "^l,d,b,e,v"}) {
    test::expect_error([&] { (void)selected(filter); }, ErrorCode::invalid_argument,
                       "the interface filter '" + filter +
                           "' leaves no address of this host; it has lo (127.0.0.1:0), docker0 "
                           "(172.17.0.1:0), ");
  }
  test::expect_error([] { (void)addresses_of({}, ""); }, ErrorCode::invalid_argument,
                     "it has none");
}

TEST(OwnAddresses, ListLoopbackLast) {
  const auto all = own_addresses("");
  ASSERT_FALSE(all.empty());
  bool seen = false;
  for (const Endpoint& each : all) {
    EXPECT_TRUE(!seen || each.is_loopback()) << each.text();
    seen |= each.is_loopback();
  }
}

TEST(OwnAddresses, AreThoseOfTheInterfacesUp) {
  for (const Interface& each : interfaces_up()) {
    EXPECT_FALSE(own_addresses("=" + each.name).empty()) << each.name;
    std::string others = "^=" + each.name;
    test::expect_error([&] { (void)addresses_of(std::vector{each}, others); },
                       ErrorCode::invalid_argument, each.name + " (" + each.address.text());
  }
}

}  // namespace
}  // namespace tutti
