#include "rendezvous/rendezvous.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "net/socket.hpp"
#include "support/errors.hpp"
#include "support/ipv6.hpp"
#include "support/temporary_directory.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

Clock::time_point in(Clock::duration time) { return Clock::now() + time; }

std::uint16_t free_port() { return bound_to(listen_on(Endpoint::parse("127.0.0.1:0"), {})).port(); }

void meet(std::vector<Launch> launches) {
  std::vector<std::thread> threads;
  for (const Launch& launch : launches) {
    threads.emplace_back([&launch, &launches] {
      // Two communicators, one after the other, at the same address.
      for (int i = 0; i < 2; ++i) {
        const auto exchange = open_exchange(launch, in(10s));
        const auto all = exchange->all_gather(std::to_string(launch.rank));
        ASSERT_EQ(all.size(), launches.size());
        for (std::size_t r = 0; r < all.size(); ++r) EXPECT_EQ(all[r], std::to_string(r));
      }
    });
  }
  for (std::thread& each : threads) each.join();
}

std::vector<Launch> launches(std::uint32_t size, const Launch& like) {
  std::vector<Launch> all(size, like);
  for (std::uint32_t r = 0; r < size; ++r) {
    all[r].rank = Rank(r);
    all[r].size = size;
  }
  return all;
}

TEST(Rendezvous, OneRankNeedsNoOther) {
  const auto exchange = open_exchange(Launch{}, in(1s));
  EXPECT_EQ(exchange->all_gather("me"), std::vector<std::string>{"me"});
}

TEST(Rendezvous, UsesLoopbackWithoutASecret) {
  for (const std::string host : {"127.0.0.1", "::1", "localhost"}) {
    if (host == "::1" && !test::has_ipv6()) continue;
    meet(launches(3, {.root_host = host, .root_port = free_port()}));
  }
}

TEST(Rendezvous, UsesASocketNamedAfterTheJob) {
  meet(launches(3, {.root_name = "tests/" + std::to_string(getpid()), .job = "j"}));
}

TEST(Rendezvous, ListensEverywhereWithASecret) {
  // Rank 0 may not know the address by which others reach it; this one is of no host.
  Launch root{.size = 2, .root_host = "192.0.2.1", .root_port = free_port(), .secret = {"s"}};
  Launch member = root;
  member.rank = Rank(1);
  member.root_host = "127.0.0.1";
  meet({root, member});
}

TEST(Rendezvous, NeedsASecretAcrossHosts) {
  for (const std::uint32_t rank : {0U, 1U}) {
    const Launch launch{
        .rank = Rank(rank), .size = 2, .root_host = "192.0.2.1", .root_port = 29500};
    test::expect_error([&] { (void)open_exchange(launch, in(5s)); }, ErrorCode::invalid_argument,
                       "set TUTTI_SECRET");
  }
}

TEST(Rendezvous, NamesThePortInUse) {
  const Socket taken = listen_on(Endpoint::parse("127.0.0.1:0"), {});
  const Launch launch{.size = 2, .root_host = "127.0.0.1", .root_port = bound_to(taken).port()};
  test::expect_error([&] { (void)open_exchange(launch, in(5s)); }, ErrorCode::invalid_argument,
                     "port " + std::to_string(launch.root_port) + " is in use");
}

TEST(Rendezvous, UsesAnInheritedListener) {
  const Socket listener = listen_on(Endpoint::parse("127.0.0.1:0"), {});
  std::vector<Launch> both = launches(
      2, {.root_host = "127.0.0.1", .root_port = bound_to(listener).port(), .secret = {"s"}});
  both[0].root_fd = listener.fd();
  meet(both);
  // It stays open for the next communicator.
  EXPECT_NE(fcntl(listener.fd(), F_GETFD), -1);
  both[0].root_fd = STDIN_FILENO;
  test::expect_error([&] { (void)open_exchange(both[0], in(1s)); }, ErrorCode::invalid_argument,
                     "TUTTI_ROOT_FD=0");
}

// Real processes ------------------------------------------------------------------------------

/// The processes below run this: two communicators, two rounds each.
TEST(Launched, DISABLED_Worker) {
  const Launch launch = read_environment(environment_variable);
  for (int i = 0; i < 2; ++i) {
    const auto exchange = open_exchange(launch, Clock::now() + launch.timeout);
    for (int round = 0; round < 2; ++round) {
      const auto all = exchange->all_gather("rank" + std::to_string(launch.rank));
      ASSERT_EQ(all.size(), launch.size);
      for (std::size_t r = 0; r < all.size(); ++r) {
        ASSERT_EQ(all[r], "rank" + std::to_string(r));
      }
    }
  }
  std::printf("rank %u of %u met all by %s\n", launch.rank, launch.size,
              std::string(name(launch.how)).c_str());
}

/// This program, at a path without spaces: it is named in shells within shells. It runs its one
/// test even where its parent runs a part of all.
std::string worker() {
  static const test::TemporaryDirectory directory;
  const std::string link = directory.path("worker");
  if (!std::filesystem::exists(link)) {
    std::filesystem::create_symlink(std::filesystem::read_symlink("/proc/self/exe"), link);
  }
  return "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX " + link +
         " --gtest_filter=Launched.DISABLED_Worker --gtest_also_run_disabled_tests";
}

std::string run(const std::string& command) {
  FILE* const pipe = popen(("timeout 60 " + command + " 2>&1").c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer{};
  while (fgets(buffer.data(), buffer.size(), pipe) != nullptr) output += buffer.data();
  EXPECT_EQ(pclose(pipe), 0) << output;
  return output;
}

bool is_installed(const std::string& command) {
  return std::system(("command -v " + command + " >/dev/null").c_str()) == 0;
}

void expect_all_met(const std::string& output, int ranks, const std::string& how) {
  for (int r = 0; r < ranks; ++r) {
    const std::string line =
        "rank " + std::to_string(r) + " of " + std::to_string(ranks) + " met all by " + how;
    EXPECT_NE(output.find(line), std::string::npos) << output;
  }
}

TEST(Launched, RunsUnderHydra) {
  if (!is_installed("mpiexec.hydra")) {
    GTEST_SKIP() << "mpiexec.hydra is missing: install the Debian package hydra";
  }
  expect_all_met(run("env TUTTI_TIMEOUT=20 mpiexec.hydra -n 3 " + worker()), 3, "PMI");
}

TEST(Launched, RunsUnderOpenMpi) {
  if (!is_installed("mpirun.openmpi")) {
    GTEST_SKIP() << "mpirun.openmpi is missing: install the Debian package openmpi-bin";
  }
  expect_all_met(run("env TUTTI_TIMEOUT=20 OMPI_ALLOW_RUN_AS_ROOT=1 "
                     "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi --oversubscribe -np 3 " +
                     worker()),
                 3, "Open MPI");
}

/// Starts one worker per rank in a shell that sets the variables of its rank.
std::string run_by_shell(int ranks, const std::string& variables) {
  std::string script;
  for (int r = 0; r < ranks; ++r) {
    script +=
        "env RANK_=" + std::to_string(r) + " sh -c '" + variables + " exec " + worker() + "' & ";
  }
  return run("sh -c \"" + script + " wait\"");
}

TEST(Launched, RunsWithTuttiVariables) {
  const std::string root = "127.0.0.1:" + std::to_string(free_port());
  expect_all_met(run_by_shell(4, "TUTTI_TIMEOUT=20 TUTTI_RANK=\\$RANK_ TUTTI_SIZE=4 TUTTI_ROOT=" +
                                     root + " TUTTI_SECRET=s"),
                 4, "tutti");
}

TEST(Launched, RunsWithTorchrunVariables) {
  expect_all_met(run_by_shell(3,
                              "TUTTI_TIMEOUT=20 RANK=\\$RANK_ WORLD_SIZE=3 LOCAL_RANK=\\$RANK_ "
                              "LOCAL_WORLD_SIZE=3 MASTER_ADDR=localhost MASTER_PORT=" +
                                  std::to_string(free_port())),
                 3, "torchrun");
}

}  // namespace
}  // namespace tutti
