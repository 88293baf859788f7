#include "support/processes.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <tuple>

#include <gtest/gtest.h>

#include <tutti/memory.hpp>

#include "support/collective_check.hpp"
#include "support/errors.hpp"
#include "support/forked_child.hpp"
#include "support/problems.hpp"
#include "support/sanitizer.hpp"
#include "support/seccomp.hpp"
#include "support/variable.hpp"

namespace tutti::test {
namespace {

/// Every reduction algorithm with every dtype and operation.
void add_every_dtype_and_op(std::vector<Trial>& all) {
  for (const Algorithm* algorithm : every_algorithm()) {
    const bool combines = is_reduction(algorithm->collective);
    if (!combines || algorithm->collective == Collective::barrier) continue;
    for (const DType dtype : dtypes()) {
      for (const Op op : ops()) {
        if (!applies(op, dtype)) continue;
        all.push_back({.collective = algorithm->collective,
                       .algorithm = std::string(algorithm->name),
                       .dtype = dtype,
                       .op = op,
                       .count = 37});
      }
    }
  }
}

/// Every algorithm with several counts, blocks with counts, and every dtype and operation.
std::vector<Trial> trials(std::uint32_t ranks) {
  std::vector<Trial> all;
  for (const Algorithm* algorithm : every_algorithm()) {
    for (const std::uint64_t count : {0U, 1U, 13U, 513U, 20001U}) {
      Trial trial{.collective = algorithm->collective,
                  .algorithm = std::string(algorithm->name),
                  .count = count,
                  .root = static_cast<std::uint32_t>(count % ranks)};
      all.push_back(trial);
      trial.in_place = true;
      trial.shared = true;
      all.push_back(trial);
      trial.in_place = false;
      trial.asynchronous = true;
      all.push_back(trial);
    }
  }
  for (const Collective collective : collectives()) {
    const bool blocks = has_block_per_rank(collective) || collective == Collective::alltoall;
    if (blocks) all.push_back({.collective = collective, .count = 1000, .counted = true});
  }
  add_every_dtype_and_op(all);
  return all;
}

std::string try_all(Communicator& communicator) {
  for (const Trial& trial : trials(communicator.size())) {
    const std::string fault = try_call(communicator, trial);
    if (!fault.empty()) return words(trial) + ": " + fault;
  }
  return "";
}

class Processes : public ::testing::TestWithParam<std::tuple<Way, std::uint32_t>> {};

TEST_P(Processes, EveryAlgorithmIsCorrect) {
  const auto [way, ranks] = GetParam();
  if (sanitizer == "thread") GTEST_SKIP() << "these ranks are processes";
  if (is_sanitized && ranks > 3) GTEST_SKIP() << "fewer ranks are enough there";
  EXPECT_EQ(run_processes(ranks, way, try_all), "");
}

/// Calls whose messages are cut into segments.
std::string try_long_calls(Communicator& communicator) {
  for (const Algorithm* algorithm : every_algorithm()) {
    // More than two segments in a chunk of a block per rank.
    Trial trial{.collective = algorithm->collective,
                .algorithm = std::string(algorithm->name),
                .count = has_block_per_rank(algorithm->collective) ? 70000U : 350000U,
                .root = communicator.size() - 1};
    if (trial.collective == Collective::alltoall) trial.count = 70000;
    for (const bool shared : {false, true}) {
      trial.shared = shared;
      trial.in_place = !shared;
      const std::string fault = try_call(communicator, trial);
      if (!fault.empty()) return words(trial) + ": " + fault;
    }
    trial.shared = false;
    trial.single_copy = true;
    for (const bool in_place : {false, true}) {
      trial.in_place = in_place;
      const std::string fault = try_call(communicator, trial);
      if (!fault.empty()) return words(trial) + ": " + fault;
    }
  }
  return "";
}

TEST(Segments, EveryAlgorithmIsCorrectBetweenProcesses) {
  if (is_sanitized) GTEST_SKIP() << "shorter calls are enough there";
  for (const std::uint32_t ranks : {4U, 5U}) {
    EXPECT_EQ(run_processes(ranks, Way::memory, try_long_calls), "") << ranks << " ranks";
  }
}

TEST(SingleCopies, AreReplacedWhereTheSystemForbidsThem) {
  if (sanitizer == "thread") GTEST_SKIP() << "these ranks are processes";
  ForkedChild child([] {
    if (!forbid(SYS_process_vm_readv, EPERM)) return std::string();
    return run_processes(3, Way::memory, [](Communicator& communicator) {
      return try_call(communicator,
                      {.collective = Collective::alltoall, .count = 50'000, .single_copy = true});
    });
  });
  EXPECT_EQ(child.wait(), "");
}

std::string name_of_case(const ::testing::TestParamInfo<std::tuple<Way, std::uint32_t>>& each) {
  const auto [way, ranks] = each.param;
  return std::to_string(ranks) + (way == Way::memory ? "SharingMemory" : "OverTcp");
}

INSTANTIATE_TEST_SUITE_P(Api, Processes,
                         ::testing::Combine(::testing::Values(Way::memory, Way::tcp),
                                            ::testing::Values(1U, 2U, 3U, 4U, 5U, 8U)),
                         name_of_case);

TEST(Hosts, MixMemoryAndTcp) {
  if (is_sanitized) GTEST_SKIP() << "the transports are tested one by one";
  for (const auto& [ranks, per_host] : {std::pair(4U, 2U), {5U, 2U}}) {
    EXPECT_EQ(run_processes(ranks, Way::automatic, try_all, per_host), "")
        << ranks << " ranks, " << per_host << " per host";
  }
}

TEST(Hosts, TrafficCanBeEncrypted) {
  if (sanitizer == "thread") GTEST_SKIP() << "these ranks are processes";
  const Secret secret = Secret{.bytes = "s"}.encrypting();
  EXPECT_EQ(run_processes(3, Way::tcp, try_all, 0, secret), "");
  if (!is_sanitized) {
    EXPECT_EQ(run_processes(4, Way::automatic, try_all, 2, secret), "");
  }
}

TEST(Hosts, DescriptionNamesTransports) {
  const auto says = [](const std::string& words) {
    return [words](Communicator& communicator) {
      return communicator.description() == words ? "" : communicator.description();
    };
  };
  EXPECT_EQ(run_processes(4, Way::automatic,
                          says("4 ranks, shared memory within 2 hosts, TCP between them"), 2),
            "");
  EXPECT_EQ(run_processes(2, Way::automatic, says("2 ranks, shared memory")), "");
  EXPECT_EQ(run_processes(2, Way::tcp, says("2 ranks, TCP")), "");
  EXPECT_EQ(run_processes(2, Way::tcp, says("2 ranks, TCP with TLS"), 0,
                          Secret{.bytes = "s"}.encrypting()),
            "");
  EXPECT_EQ(run_processes(1, Way::tcp, says("1 rank, alone")), "");
}

/// The resident bytes of the memory segment that this process shares with the ranks of its host.
std::size_t touched_segment_bytes() {
  std::ifstream maps("/proc/self/smaps");
  bool is_segment = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:tutti ") != std::string::npos) is_segment = true;
    if (is_segment && line.rfind("Rss:", 0) == 0) return std::stoull(line.substr(4)) << 10;
  }
  return 0;
}

TEST(Hosts, ShareLittleMemoryWhileIdle) {
  for (const std::uint32_t ranks : {2U, 4U, 24U}) {
    EXPECT_EQ(run_processes(ranks, Way::memory,
                            [](Communicator& /*communicator*/) -> std::string {
                              const std::size_t own = touched_segment_bytes();
                              const bool little = own > 0 && own < std::size_t{2} << 20;
                              return little ? "" : std::to_string(own) + " bytes";
                            }),
              "");
  }
}

/// Limits files, including shared memory, to a few bytes, as if memory were used up.
class NoRoom {
 public:
  NoRoom() {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit little{.rlim_cur = 16, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &little);
  }
  ~NoRoom() { setrlimit(RLIMIT_FSIZE, &before_); }
  NoRoom(const NoRoom&) = delete;
  NoRoom& operator=(const NoRoom&) = delete;

 private:
  rlimit before_{};
};

TEST(Hosts, FallBackToTcpWhenSharedMemoryIsFull) {
  const NoRoom no_room;
  const auto add = [](Communicator& communicator) -> std::string {
    std::vector<int> data(1000, 1);
    communicator.all_reduce(data);
    if (data.back() != static_cast<int>(communicator.size())) return "wrong";
    return communicator.description();
  };
  EXPECT_EQ(run_processes(2, Way::automatic, add), "rank 0: 2 ranks, TCP\nrank 1: 2 ranks, TCP\n");
  const std::string refused = run_processes(2, Way::memory, add);
  EXPECT_NE(refused.find("rank 1: the ranks cannot all share memory: no room for"),
            std::string::npos)
      << refused;
}

TEST(Hosts, FallBackToTcpWithoutMemfd) {
  ForkedChild child([] {
    if (!forbid(SYS_memfd_create, ENOSYS)) return std::string();  // Not every system has seccomp.
    const auto add = [](Communicator& communicator) -> std::string {
      std::vector<int> data(1000, 1);
      communicator.all_reduce(data);
      if (data.back() != static_cast<int>(communicator.size())) return "wrong";
      expect_error([] { (void)allocate(100); }, ErrorCode::unsupported,
                   "cannot create shared memory");
      return testing::Test::HasFailure() ? "the wrong error" : communicator.description();
    };
    const std::string done =
        run_processes(2, Way::automatic, add) + run_processes(1, Way::automatic, add);
    return done == "rank 0: 2 ranks, TCP\nrank 1: 2 ranks, TCP\nrank 0: 1 rank, alone\n" ? ""
                                                                                         : done;
  });
  EXPECT_EQ(child.wait(), "");
}

TEST(Hosts, HostIdMayBeAnyBytes) {
  const auto add = [](Communicator& communicator) -> std::string {
    std::vector<int> data(1000, 1);
    communicator.all_reduce(data);
    return data.back() == 2 ? communicator.description() : "wrong";
  };
  for (const std::string id : {"\xe9", "caf\xc3\xa9", "\x01\xff"}) {
    const Variable told("TUTTI_HOSTID", id);
    EXPECT_EQ(run_processes(2, Way::automatic, add),
              "rank 0: 2 ranks, shared memory\nrank 1: 2 ranks, shared memory\n");
  }
}

}  // namespace
}  // namespace tutti::test
