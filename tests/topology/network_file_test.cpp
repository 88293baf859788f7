#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <tutti/network/generator.hpp>
#include <tutti/network/network_dot.hpp>
#include <tutti/network/network_file.hpp>
#include <tutti/network/network_json.hpp>
#include <tutti/network/network_xml.hpp>
#include <tutti/network/routes.hpp>
#include <tutti/network/stretch.hpp>

#include "support/errors.hpp"
#include "support/golden.hpp"

namespace tutti {
namespace {

using test::expect_error;

const std::string root = std::string(TUTTI_GOLDEN_DIR) + "/../..";

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(NetworkJson, RoundTrips) {
  for (const Generator& each : generators()) {
    SCOPED_TRACE(each.name);
    Network network = generate(each.example);
    network.own_routes.push_back(
        {.from = Rank{0}, .to = Rank{1}, .links = Routes(network).between(Rank{0}, Rank{1})});
    network.links.front().latency = 1.0 / 3;
    network.links.front().bytes_per_second = 1e9 / 7;
    const Network read = network_from_json(to_json(network));
    if (!std::holds_alternative<wiring::Torus>(network.wiring)) network.wiring = {};
    EXPECT_EQ(read, network);
  }
}

/// A file with one line replaced.
std::string small(std::size_t line = 0, const std::string& text = "") {
  std::vector<std::string> lines{
      R"({"format": "tutti-network", "version": 1,)",
      R"( "nodes": [)",
      R"(  {"name": "A", "kind": "rank"},)",
      R"(  {"name": "B", "kind": "rank"},)",
      R"(  {"name": "s", "kind": "switch"}],)",
      R"( "links": [)",
      R"(  {"from": "A", "to": "s", "bandwidth": 5, "both_ways": true},)",
      R"(  {"from": "s", "to": "B", "bandwidth": "1GB/s", "latency": "2us", "both_ways": true}],)",
      R"( "routes": [)",
      R"(  ["A", "s", "B"]]})"};
  if (line > 0) lines.at(line - 1) = text;
  std::string all;
  for (const std::string& each : lines) all += each + "\n";
  return all;
}

TEST(NetworkJson, ReadsUnitsAndRoutes) {
  const Network network = network_from_json(small());
  EXPECT_EQ(network.links.at(2),
            (Link{.from = NodeId{2}, .to = NodeId{1}, .bytes_per_second = 1e9, .latency = 2e-6}));
  EXPECT_EQ(network.own_routes.at(0).links, (std::vector<LinkId>{LinkId{0}, LinkId{2}}));
}

TEST(NetworkJson, RejectsExcessiveInput) {
  const auto refused = [](const std::string& text, const std::string& part) {
    expect_error([&] { (void)network_from_json(text); }, ErrorCode::invalid_argument, part);
  };
  constexpr std::size_t many = 300000;
  refused(std::string(many, '[') + std::string(many, ']'), "line 1: more than 100 nested brackets");
  std::string members = "{";
  for (std::size_t i = 0; i < many; ++i) members += "\"" + std::to_string(i) + "\": 0,\n";
  refused(members + "\"\": 0}", "line 1, at /: the member \"format\" is missing");
  std::string torus = R"("torus": [1)";
  for (std::size_t i = 0; i < many; ++i) torus += ", 1";
  refused(small(1, R"({"format": "tutti-network", "version": 1, )" + torus + "],"),
          "the torus has 300001 dimensions");
  torus = R"("torus": [2)";
  for (int i = 1; i < 32; ++i) torus += ", 2";
  refused(small(1, R"({"format": "tutti-network", "version": 1, )" + torus + "],"),
          "need 4294967296 ranks, but there are 2");
}

TEST(NetworkJson, ErrorsNameTheLineAndThePath) {
  const auto refused = [](std::size_t line, const std::string& text, const std::string& part) {
    SCOPED_TRACE(text);
    expect_error([&] { (void)network_from_json(small(line, text)); }, ErrorCode::invalid_argument,
                 part);
  };
  refused(1, R"({"format": "other", "version": 1,)",
          "line 1, at /format: expected \"tutti-network\"");
  refused(1, R"({"format": "tutti-network", "version": 2,)",
          "line 1, at /version: expected a whole number from 1 to 1, not 2");
  refused(1, R"({"format": "tutti-network", "version": 1, "nods": 1,)",
          "line 1, at /nods: unknown member \"nods\". Did you mean 'nodes'?");
  refused(3, R"({"name": "A", "kind": "rank"},,)", "line 3, column 31: this is not JSON");
  refused(3, R"({"name": "A", "name": "A"},)", "line 3: duplicate member \"name\"");
  refused(3, R"({"name": "A", "kind": "rnk"},)",
          "line 3, at /nodes/0/kind: unknown kind of node 'rnk'. Did");
  refused(3, R"({"kind": "rank"},)", "line 3, at /nodes/0: the member \"name\" is missing");
  refused(4, R"({"name": "A", "kind": "rank"},)",
          "line 4, at /nodes/1/name: another node already has the name 'A'");
  refused(4, R"({"name": "B", "kind": "host"},)",
          "line 10, at /routes/0/2: a route begins and ends at a rank");
  refused(7, R"({"from": "A", "to": "t", "bandwidth": 5},)",
          "line 7, at /links/0/to: there is no node 't'");
  refused(7, R"({"from": "A", "to": "s", "bandwidth": 0},)",
          "line 7, at /links/0: the link A→s has a bandwidth of 0");
  refused(7, R"({"from": "A", "to": "s", "bandwidth": "0GB/s"},)",
          "line 7, at /links/0/bandwidth: '0GB/s' is not");
  refused(7, R"({"from": "A", "to": "s", "bandwidth": true},)",
          "line 7, at /links/0/bandwidth: expected a string, not true");
  refused(7, R"({"from": "A", "to": "A", "bandwidth": 1},)",
          "line 7, at /links/0: the link A→A connects a node with itself");
  refused(7, R"({"from": "A", "to": "s", "bandwidth": 5},)",
          "line 6, at /links: no path leads from B to A");
  refused(7, R"({"from": "A", "to": "s", "bandwidth": 5, "latency": -1, "both_ways": true},)",
          "line 7, at /links/0: the link A→s has a latency of -1");
  refused(10, R"(  ["A", "B"]]})", "line 10, at /routes/0/1: there is no link from A to B");
  refused(10, R"(  ["A"]]})", "line 10, at /routes/0: a route is a list of at least two names");
  refused(10, R"(  ["A", "s", "B"]])", "this is not JSON");
  refused(1, R"({"format": "tutti-network", "version": 1, "torus": [2],)",
          "line 1, at /torus: the torus has no link from A to its neighbour B");
  refused(1, R"({"format": "tutti-network", "version": 1, "torus": [2, 2],)",
          "line 1, at /torus: the dimensions of the torus need 4 ranks, but there are 2");
  expect_error([] { (void)network_from_json("[1]"); }, ErrorCode::invalid_argument,
               "at /: expected an object in braces, not an array");
}

TEST(NetworkFile, NamesTheFileInErrors) {
  expect_error([] { (void)load_network("/nowhere/net.json"); }, ErrorCode::invalid_argument,
               "cannot read the file '/nowhere/net.json'");
  expect_error([] { (void)load_network("no_such"); }, ErrorCode::invalid_argument,
               "unknown network 'no_such'");
  expect_error([] { (void)load_network(root + "/tests/topology/files/nccl.xml:hosts=x"); },
               ErrorCode::invalid_argument, "'x' is not a number of hosts");
}

TEST(NetworkFile, EveryExampleIsValid) {
  for (const char* name : {"lecture", "two_servers", "gpu_cluster"}) {
    const Network network = load_network(root + "/examples/networks/" + name + ".json");
    EXPECT_NO_THROW(Routes{network}) << name;
  }
  EXPECT_EQ(load_network(root + "/examples/networks/gpu_cluster.json").rank_count(), 64U);
}

TEST(NetworkXml, MapsGpusNicsAndNvlinks) {
  const std::string path = root + "/tests/topology/files/nccl.xml";
  const Network one = load_network(path);
  EXPECT_EQ(one.rank_count(), 2U);
  const Network four = load_network(path + ":hosts=4");
  EXPECT_EQ(four.rank_count(), 8U);
  Routes routes(four);
  EXPECT_EQ(four.describe(routes.between(Rank{0}, Rank{1}).front()), "h0.gpu0→h0.nvswitch");
  // GPU, PCI switch, card, net, rail switch; then the same in reverse.
  EXPECT_EQ(routes.between(Rank{0}, Rank{6}).size(), 8U);
}

TEST(NetworkXml, ErrorsNameTheLine) {
  const auto refused = [](const std::string& what, const std::string& instead,
                          const std::string& part) {
    std::string text = contents(root + "/tests/topology/files/nccl.xml");
    ASSERT_NE(text.find(what), std::string::npos);
    text.replace(text.find(what), what.size(), instead);
    expect_error([&] { (void)network_from_xml(text); }, ErrorCode::invalid_argument, part);
  };
  refused("16.0 GT/s", "17 GT/s", "line 3: unknown link speed '17 GT/s PCIe'");
  refused("speed=\"200000\"", "speed=\"fast\"", "line 11: <net> needs a positive number");
  refused("dev=\"1\"", "dve=\"1\"", "line 18: <gpu> needs the attribute 'dev'");
  refused("target=\"0000:11:00.0\"", "target=\"1\"", "line 20: no GPU has the bus id '1'");
  refused("</system>", "</sytem>", "line 24: this is not XML");
  refused("<system version=\"1\">", "<system><other>", "this is not XML");
  expect_error([] { (void)network_from_xml("<graphs/>"); }, ErrorCode::invalid_argument,
               "line 1: the element <system>");
  expect_error([] { (void)network_from_xml("<system/>"); }, ErrorCode::invalid_argument,
               "line 1: no <cpu> contains a <gpu>");
}

TEST(NetworkXml, RejectsExcessiveInput) {
  const auto refused = [](const std::string& inside, const std::string& part) {
    expect_error([&] { (void)network_from_xml("<system>" + inside + "</system>"); },
                 ErrorCode::invalid_argument, part);
  };
  std::string nested;
  for (int i = 0; i < 100000; ++i) nested += "<pci busid=\"" + std::to_string(i) + "\">";
  for (int i = 0; i < 100000; ++i) nested += "</pci>";
  refused("<cpu numaid=\"0\">" + nested + "</cpu>", "more than 256 nested <pci>");
  std::string cpus;
  for (int i = 0; i < 20000; ++i) cpus += "<cpu numaid=\"" + std::to_string(i) + "\"/>";
  refused(cpus, "there are more than 1024 <cpu>");
}

TEST(NetworkGolden, Dot) {
  test::expect_golden("topology/server.dot", to_dot(generate("server:p=2,hosts=2")));
}

TEST(NetworkGolden, Nccl) {
  test::expect_golden("topology/nccl-1.json",
                      to_json(load_network(root + "/tests/topology/files/nccl.xml")));
}

TEST(NetworkGolden, Json) {
  test::expect_golden("topology/torus-2x3.json", to_json(generate("torus:2x3")));
}

/// The example of the lectures: two overlays on the same four hosts and the same underlay.
TEST(Stretch, MatchesTheLectureExample) {
  const Network network = load_network(root + "/examples/networks/lecture.json");
  Routes routes(network);
  const Rank a{0};
  const Rank b{1};
  const Rank c{2};
  const Rank d{3};
  const Stretch far = stretch(routes, ring_hops(std::vector{a, c, d, b}));
  EXPECT_EQ(far.average, 3.5);
  EXPECT_EQ(far.worst, 5U);
  EXPECT_EQ(far.links, (std::vector<std::uint32_t>{2, 5, 2, 5}));
  const Stretch near = stretch(routes, ring_hops(std::vector{a, c, b, d}));
  EXPECT_EQ(near.average, 2.5);
  EXPECT_EQ(near.worst, 3U);
  EXPECT_EQ(near.worst_hop, (Hop{c, b}));
  for (const std::uint32_t count :
       hops_per_link(network, routes, ring_hops(std::vector{a, c, b, d}))) {
    EXPECT_LE(count, 1U);
  }
}

TEST(Stretch, IsZeroWithoutHops) {
  const Network network = generate("star:p=1");
  Routes routes(network);
  EXPECT_EQ(stretch(routes, ring_hops(std::vector{Rank{0}})).average, 0);
}

}  // namespace
}  // namespace tutti
