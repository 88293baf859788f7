#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "rendezvous/exchange_runs.hpp"
#include "rendezvous/tcp_member.hpp"
#include "rendezvous/tcp_root.hpp"
#include "support/errors.hpp"
#include "support/ipv6.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using namespace test;

class Ranks : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Ranks, GatherAllContributions) { expect_all_met(meet(GetParam(), listen_here(), 3), 3); }

TEST_P(Ranks, GatherAllContributionsEncrypted) {
  const std::uint32_t size = GetParam();
  expect_all_met(meet(size, listen_here(), 3, 20s, private_groups(size)), 3);
}

INSTANTIATE_TEST_SUITE_P(TcpExchange, Ranks, testing::Values(1, 2, 5, 32));

TEST(TcpExchange, MeetsOverIpv6) {
  if (!has_ipv6()) GTEST_SKIP() << "this host has no IPv6";
  expect_all_met(meet(4, listen_here("[::1]:0")));
}

TEST(TcpExchange, MeetsAtAnAbstractSocket) {
  const Endpoint name = Endpoint::within_host("tutti tests " + std::to_string(getpid()));
  std::vector<Group> who;
  for (std::uint32_t r = 0; r < 3; ++r) {
    who.push_back(group(r, 3));
    who.back().secret = {};
  }
  expect_all_met(meet(3, listen_on(name, {}), 1, 20s, who));
}

class Contributions : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] static Group of(std::uint32_t rank) {
    return GetParam() ? private_group(rank, 2) : group(rank, 2);
  }
};

TEST_P(Contributions, MayBeEmptyAndLong) {
  Socket listener = listen_here();
  const Endpoint endpoint = bound_to(listener);
  const std::string longest(Frame::most_bytes, 'x');
  std::vector<std::string> seen;
  std::thread other([&] {
    TcpMember member(of(1), at(endpoint), in(20s));
    seen = member.all_gather(longest);
    (void)member.all_gather("");
  });
  TcpRoot root(of(0), std::move(listener), in(20s));
  EXPECT_EQ(root.all_gather(""), (std::vector<std::string>{"", longest}));
  EXPECT_EQ(root.all_gather(longest), (std::vector<std::string>{longest, ""}));
  other.join();
  EXPECT_EQ(seen, (std::vector<std::string>{"", longest}));
  test::expect_error([&] { (void)root.all_gather(longest + "x"); }, ErrorCode::invalid_argument,
                     "rank 0");
}

INSTANTIATE_TEST_SUITE_P(TcpExchange, Contributions, testing::Bool(),
                         [](const auto& each) { return each.param ? "Encrypted" : "Plain"; });

TEST(TcpExchange, WaitsForALateRoot) {
  Endpoint endpoint;
  {
    const Socket reserved = listen_here();
    endpoint = bound_to(reserved);
  }
  Result member;
  std::thread other([&] {
    member =
        play([&] { return std::make_unique<TcpMember>(group(1, 2), at(endpoint), in(20s)); }, 1, 1);
  });
  std::this_thread::sleep_for(300ms);
  Result root =
      play([&] { return std::make_unique<TcpRoot>(group(0, 2), listen_on(endpoint, {}), in(20s)); },
           0, 1);
  other.join();
  expect_all_met({root, member});
}

TEST(TcpExchange, WaitsForARootThatListensButDoesNotAccept) {
  Socket listener = listen_here();
  const Endpoint endpoint = bound_to(listener);
  Result member;
  std::thread other([&] {
    member =
        play([&] { return std::make_unique<TcpMember>(group(1, 2), at(endpoint), in(20s)); }, 1, 1);
  });
  std::this_thread::sleep_for(300ms);
  Result root = play(
      [&] { return std::make_unique<TcpRoot>(group(0, 2), std::move(listener), in(20s)); }, 0, 1);
  other.join();
  expect_all_met({root, member});
}

TEST(TcpExchange, FindsTheRootAmongSeveralAddresses) {
  Socket listener = listen_here();
  const Endpoint right = bound_to(listener);
  // Nothing listens at the first; at the second a process listens and does not answer.
  const Socket silent = listen_here();
  Endpoint unused;
  {
    const Socket closed = listen_here();
    unused = bound_to(closed);
  }
  Result member;
  std::thread other([&] {
    const auto find = [&] { return std::vector<Endpoint>{unused, bound_to(silent), right}; };
    member = play([&] { return std::make_unique<TcpMember>(group(1, 2), find, in(20s)); }, 1, 1);
  });
  Result root = play(
      [&] { return std::make_unique<TcpRoot>(group(0, 2), std::move(listener), in(20s)); }, 0, 1);
  other.join();
  expect_all_met({root, member});
}

TEST(TcpExchange, RankThatConnectsByTwoAddressesJoinsOnce) {
  Socket listener = listen_everywhere({});
  const std::uint16_t port = bound_to(listener).port();
  std::vector<std::thread> others;
  std::vector<Result> results(9);
  for (std::uint32_t r = 1; r < 9; ++r) {
    others.emplace_back([&, r] {
      const auto find = [&] {
        return std::vector<Endpoint>{Endpoint::parse("127.0.0.1:0").with_port(port),
                                     Endpoint::parse("[::1]:0").with_port(port),
                                     Endpoint::parse("127.0.0.2:0").with_port(port)};
      };
      results[r] =
          play([&] { return std::make_unique<TcpMember>(group(r, 9), find, in(20s)); }, r, 1);
    });
  }
  // By now all have connected by all three addresses.
  std::this_thread::sleep_for(700ms);
  results[0] = play(
      [&] { return std::make_unique<TcpRoot>(group(0, 9), std::move(listener), in(20s)); }, 0, 1);
  for (std::thread& each : others) each.join();
  expect_all_met(results);
}

TEST(TcpExchange, ResolvesANameAgain) {
  Socket listener = listen_here();
  const Endpoint endpoint = bound_to(listener);
  std::atomic<int> asked = 0;
  Result member;
  std::thread other([&] {
    const auto find = [&]() -> std::vector<Endpoint> {
      if (asked++ == 0) throw Error(ErrorCode::invalid_argument, "cannot find the host 'x'");
      return {endpoint};
    };
    member = play([&] { return std::make_unique<TcpMember>(group(1, 2), find, in(20s)); }, 1, 1);
  });
  Result root = play(
      [&] { return std::make_unique<TcpRoot>(group(0, 2), std::move(listener), in(20s)); }, 0, 1);
  other.join();
  expect_all_met({root, member});
}

// Failures -----------------------------------------------------------------------------

TEST(TcpExchange, NamesMissingRanks) {
  const auto begun = Clock::now();
  const auto results = meet(5, listen_here(), 1, 700ms, {group(0, 5), group(1, 5), group(3, 5)});
  EXPECT_LT(Clock::now() - begun, 3s);
  for (const Result& result : results) {
    EXPECT_EQ(name(result.code), "timed_out") << result.error;
    EXPECT_NE(result.error.find("ranks 2 and 4"), std::string::npos) << result.error;
  }
}

TEST(TcpExchange, NamesMissingRanksThoughTheRootWouldWaitLonger) {
  Socket listener = listen_here();
  const Endpoint endpoint = bound_to(listener);
  Result member;
  std::thread other([&] {
    member = play([&] { return std::make_unique<TcpMember>(group(1, 4), at(endpoint), in(600ms)); },
                  1, 1);
  });
  const Result root = play(
      [&] { return std::make_unique<TcpRoot>(group(0, 4), std::move(listener), in(10s)); }, 0, 1);
  other.join();
  EXPECT_EQ(name(member.code), "timed_out");
  EXPECT_NE(member.error.find("ranks 2 and 3"), std::string::npos) << member.error;
  // The root then does not wait any longer either.
  EXPECT_EQ(name(root.code), "timed_out");
  EXPECT_NE(root.error.find("rank 1 waits no longer for ranks 2 and 3"), std::string::npos)
      << root.error;
}

TEST(TcpExchange, ListsTheAddressesThatItTried) {
  Endpoint endpoint;
  {
    const Socket closed = listen_here();
    endpoint = bound_to(closed);
  }
  const Socket silent = listen_here();
  const auto find = [&] { return std::vector<Endpoint>{endpoint, bound_to(silent)}; };
  for (const std::string& part :
       {std::string("rank 1 on host "), endpoint.text() + ": Connection refused",
        bound_to(silent).text()}) {
    test::expect_error([&] { const TcpMember member(group(1, 2), find, in(400ms)); },
                       ErrorCode::timed_out, part);
  }
}

TEST(TcpExchange, RejectsTheSameRankTwice) {
  Socket listener = listen_here();
  const Endpoint endpoint = bound_to(listener);
  std::vector<Result> results(3);
  std::atomic<bool> is_rejected = false;
  const auto join = [&](std::size_t place) {
    results[place] =
        play([&] { return std::make_unique<TcpMember>(group(1, 3), at(endpoint), in(10s)); }, 1, 1);
    if (!results[place].error.empty()) is_rejected = true;
  };
  std::thread one([&] { join(1); });
  std::thread two([&] { join(2); });
  Result third;
  std::thread last([&] {
    for (int i = 0; i < 1000 && !is_rejected; ++i) std::this_thread::sleep_for(10ms);
    third =
        play([&] { return std::make_unique<TcpMember>(group(2, 3), at(endpoint), in(10s)); }, 2, 1);
  });
  results[0] = play(
      [&] { return std::make_unique<TcpRoot>(group(0, 3), std::move(listener), in(10s)); }, 0, 1);
  one.join();
  two.join();
  last.join();
  if (results[1].error.empty()) std::swap(results[1], results[2]);
  EXPECT_EQ(name(results[1].code), "mismatch");
  EXPECT_NE(
      results[1].error.find("it claims to be rank 1, which has already joined from 127.0.0.1"),
      std::string::npos)
      << results[1].error;
  expect_all_met({results[0], results[2], third});
}

struct WrongRank {
  std::string name;
  Group group;
  ErrorCode code;
  std::string part;
};

class WrongRanks : public testing::TestWithParam<WrongRank> {};

TEST_P(WrongRanks, AreToldTheReason) {
  const auto begun = Clock::now();
  const auto results = meet(2, listen_here(), 1, 2s, {group(0, 2), GetParam().group});
  EXPECT_EQ(name(results[1].code), name(GetParam().code)) << results[1].error;
  EXPECT_NE(results[1].error.find(GetParam().part), std::string::npos) << results[1].error;
  // The root waits for the right rank, and its error names the one that was rejected.
  EXPECT_EQ(name(results[0].code), "timed_out");
  EXPECT_NE(results[0].error.find("rank 1 of 2"), std::string::npos) << results[0].error;
  if (GetParam().name != "Secret") {
    EXPECT_NE(results[0].error.find(GetParam().part), std::string::npos) << results[0].error;
  }
  EXPECT_LT(Clock::now() - begun, 10s);
}

INSTANTIATE_TEST_SUITE_P(TcpExchange, WrongRanks,
                         testing::Values(WrongRank{"Size", group(1, 3), ErrorCode::mismatch,
                                                   "rank 1 of 3, but this job has 2 ranks"},
                                         WrongRank{"Zero", group(0, 2), ErrorCode::mismatch,
                                                   "rank 0, which is this process"},
                                         WrongRank{"Rank", group(2, 2), ErrorCode::mismatch,
                                                   "ranks of this job are 0 to 1"},
                                         WrongRank{"Job", group(1, 2, "other"), ErrorCode::mismatch,
                                                   "job other, this is job job"},
                                         WrongRank{"Secret", group(1, 2, "job", {.bytes = "wrong"}),
                                                   ErrorCode::mismatch, "TUTTI_SECRET"}),
                         [](const auto& each) { return each.param.name; });

TEST(TcpExchange, FailsAtOnceIfOnlyOneEndEncrypts) {
  for (const bool root_does : {false, true}) {
    const Group root = root_does ? private_group(0, 2) : group(0, 2);
    const Group member = root_does ? group(1, 2) : private_group(1, 2);
    Socket listener = listen_here();
    const Endpoint endpoint = bound_to(listener);
    const auto begun = Clock::now();
    std::thread other([&] {
      test::expect_error([&] { const TcpMember fails(member, at(endpoint), in(10s)); },
                         ErrorCode::mismatch, "TUTTI_TLS=1 for all ranks, or for none");
      EXPECT_LT(Clock::now() - begun, 2s);
    });
    testing::internal::CaptureStderr();
    (void)play([&] { return std::make_unique<TcpRoot>(root, std::move(listener), in(1s)); }, 0, 1);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("TUTTI_TLS"), std::string::npos);
    other.join();
  }
}

TEST(TcpExchange, DetectsAnotherSecretUnderTls) {
  Group wrong = private_group(1, 2);
  wrong.secret = Secret{.bytes = "wrong"}.encrypting();
  const auto begun = Clock::now();
  const auto results = meet(2, listen_here(), 1, 1s, {private_group(0, 2), wrong});
  EXPECT_LT(Clock::now() - begun, 2s);
  EXPECT_EQ(name(results[1].code), "mismatch") << results[1].error;
  EXPECT_NE(results[1].error.find("TUTTI_SECRET"), std::string::npos) << results[1].error;
  EXPECT_EQ(name(results[0].code), "timed_out");
}

TEST(TcpExchange, TellsAllRanksThatARankIsLost) {
  Socket listener = listen_here();
  const Endpoint endpoint = bound_to(listener);
  std::vector<Result> results(3);
  std::atomic<bool> joined = false;
  std::thread survivor([&] {
    results[1] = play(
        [&] {
          auto member = std::make_unique<TcpMember>(group(1, 4), at(endpoint), in(10s));
          joined = true;
          return member;
        },
        1, 1);
  });
  std::thread victim([&] {
    for (int i = 0; i < 1000 && !joined; ++i) std::this_thread::sleep_for(10ms);
    const TcpMember member(group(2, 4), at(endpoint), in(10s));
  });
  const auto begun = Clock::now();
  results[0] = play(
      [&] { return std::make_unique<TcpRoot>(group(0, 4), std::move(listener), in(10s)); }, 0, 1);
  survivor.join();
  victim.join();
  EXPECT_LT(Clock::now() - begun, 3s);
  for (const std::size_t r : {0, 1}) {
    EXPECT_EQ(name(results[r].code), "peer_lost");
    EXPECT_NE(results[r].error.find("rank 2 was lost"), std::string::npos) << results[r].error;
  }
}

TEST(TcpExchange, NamesARankThatIsLostInALaterRound) {
  Socket listener = listen_here();
  const Endpoint endpoint = bound_to(listener);
  std::vector<Result> results(4);
  std::vector<std::thread> others;
  for (std::uint32_t r = 1; r < 4; ++r) {
    others.emplace_back([&, r] {
      results[r] =
          play([&] { return std::make_unique<TcpMember>(group(r, 4), at(endpoint), in(10s)); }, r,
               r == 2 ? 1 : 2);
    });
  }
  results[0] = play(
      [&] { return std::make_unique<TcpRoot>(group(0, 4), std::move(listener), in(10s)); }, 0, 2);
  for (std::thread& each : others) each.join();
  for (const std::size_t r : {0, 1, 3}) {
    EXPECT_EQ(name(results[r].code), "peer_lost");
    EXPECT_NE(results[r].error.find("rank 2 was lost"), std::string::npos) << results[r].error;
    EXPECT_EQ(results[r].rounds.size(), 1U);
  }
}

TEST(TcpExchange, NamesRank0IfItIsLost) {
  Socket listener = listen_here();
  const Endpoint endpoint = bound_to(listener);
  Result member;
  std::thread other([&] {
    member =
        play([&] { return std::make_unique<TcpMember>(group(1, 2), at(endpoint), in(10s)); }, 1, 2);
  });
  (void)play([&] { return std::make_unique<TcpRoot>(group(0, 2), std::move(listener), in(10s)); },
             0, 1);
  other.join();
  EXPECT_EQ(name(member.code), "peer_lost");
  EXPECT_NE(member.error.find("rank 0 was lost"), std::string::npos) << member.error;
}

TEST(TcpExchange, NeedsASecretWhereOtherHostsCanConnect) {
  Group open = group(0, 2);
  open.secret = {};
  test::expect_error([&] { const TcpRoot root(open, listen_everywhere({}), in(1s)); },
                     ErrorCode::invalid_argument, "set TUTTI_SECRET");
  const TcpRoot fine(open, listen_here(), in(1s));
}

TEST(TcpExchange, NeedsAJobNameWithoutSpaces) {
  Group bad = group(0, 2);
  bad.job = "my job";
  test::expect_error([&] { const TcpRoot root(bad, listen_here(), in(1s)); },
                     ErrorCode::invalid_argument, "my job");
}

}  // namespace
}  // namespace tutti
