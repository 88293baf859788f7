#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "api/c/calls.h"
#include "support/eventually.hpp"
#include "support/variable.hpp"

namespace tutti::test {
namespace {

std::string last_error() { return tuttiGetLastError(nullptr); }

tuttiUniqueId new_id() {
  tuttiUniqueId id;
  EXPECT_EQ(tuttiGetUniqueId(&id), tuttiSuccess) << last_error();
  return id;
}

/// Joins, makes every call and leaves. Returns the first fault, or an empty text.
std::string take_part(int ranks, const tuttiUniqueId& id, int rank) {
  tuttiComm_t comm = nullptr;
  if (tuttiCommInitRank(&comm, ranks, id, rank) != tuttiSuccess) return last_error();
  std::array<char, 1000> fault{};
  (void)c_check_calls(comm, fault.data(), fault.size());
  if (tuttiCommDestroy(comm) != tuttiSuccess) return last_error();
  return fault.data();
}

void write_all(int fd, const void* data, std::size_t bytes) {
  ASSERT_EQ(write(fd, data, bytes), static_cast<ssize_t>(bytes));
}

/// Child processes, each of which runs a function and returns a text.
class Processes {
 public:
  using Body = std::function<std::string()>;

  void start(const Body& body) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      alarm(100);  // Ends the process even if it hangs.
      const std::string fault = body();
      (void)!write(ends[1], fault.data(), fault.size());
      _exit(fault.empty() ? 0 : 1);
    }
    close(ends[1]);
    children_.push_back({pid, ends[0]});
  }

  /// Waits for all children. Returns their texts, in order.
  std::vector<std::string> finish() {
    std::vector<std::string> faults;
    for (const Child& child : children_) {
      std::string fault;
      std::array<char, 2000> part{};
      for (ssize_t n = 0; (n = read(child.pipe, part.data(), part.size())) > 0;) {
        fault.append(part.data(), static_cast<std::size_t>(n));
      }
      close(child.pipe);
      int status = 0;
      waitpid(child.pid, &status, 0);
      if (WIFSIGNALED(status)) {
        fault += " (killed by signal " + std::to_string(WTERMSIG(status)) + ")";
      } else if (fault.empty() && WEXITSTATUS(status) != 0) {
        fault = "ended with status " + std::to_string(WEXITSTATUS(status));
      }
      faults.push_back(fault);
    }
    children_.clear();
    return faults;
  }

  void expect_well() {
    for (const std::string& fault : finish()) EXPECT_EQ(fault, "");
  }

 private:
  struct Child {
    pid_t pid;
    int pipe;
  };
  std::vector<Child> children_;
};

/// Rank 0 makes the id in its own process and passes it to the others through a pipe.
void check_processes(int ranks) {
  const Variable bound("TUTTI_TIMEOUT", "20");
  std::array<int, 2> mail{};
  ASSERT_EQ(pipe(mail.data()), 0);
  Processes processes;
  for (int rank = 0; rank < ranks; ++rank) {
    processes.start([&, rank]() -> std::string {
      tuttiUniqueId id;
      if (rank == 0) {
        id = new_id();
        for (int copy = 1; copy < ranks; ++copy)
          write_all(mail[1], id.internal, sizeof id.internal);
      } else if (read(mail[0], id.internal, sizeof id.internal) != sizeof id.internal) {
        return "no id arrived";
      }
      return take_part(ranks, id, rank);
    });
  }
  close(mail[0]);
  close(mail[1]);
  processes.expect_well();
}

void check_threads(int ranks, const tuttiUniqueId& id) {
  std::vector<std::thread> threads;
  std::vector<std::string> faults(static_cast<std::size_t>(ranks));
  // The last rank first: ranks that start early wait for rank 0.
  for (int rank = ranks - 1; rank >= 0; --rank) {
    threads.emplace_back(
        [&, rank] { faults[static_cast<std::size_t>(rank)] = take_part(ranks, id, rank); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& fault : faults) EXPECT_EQ(fault, "");
}

TEST(CApi, ServesOneRank) { EXPECT_EQ(take_part(1, new_id(), 0), ""); }

TEST(CApi, ServesProcesses) { check_processes(3); }

TEST(CApi, ServesProcessesOverTcp) {
  const Variable tcp("TUTTI_TRANSPORT", "tcp");
  check_processes(3);
}

TEST(CApi, ServesChildrenOfTheProcessThatMadeTheId) {
  const tuttiUniqueId id = new_id();
  Processes processes;
  for (int rank = 0; rank < 2; ++rank) processes.start([&] { return take_part(2, id, rank); });
  processes.expect_well();
}

TEST(CApi, ServesThreads) {
  for (const int ranks : {2, 4}) check_threads(ranks, new_id());
}

TEST(CApi, KeepsIdsApart) {
  const tuttiUniqueId one = new_id();
  const tuttiUniqueId other = new_id();
  EXPECT_STRNE(one.internal, other.internal);
  std::thread first([&] { check_threads(2, one); });
  std::thread second([&] { check_threads(3, other); });
  first.join();
  second.join();
}

TEST(CApi, RejectsNull) {
  tuttiComm_t comm = nullptr;
  ASSERT_EQ(tuttiCommInitRank(&comm, 1, new_id(), 0), tuttiSuccess) << last_error();
  std::array<char, 1000> fault{};
  EXPECT_EQ(c_check_nulls(comm, fault.data(), fault.size()), 0) << fault.data();
  EXPECT_EQ(tuttiCommDestroy(comm), tuttiSuccess);
}

void expect_refused(int ranks, const tuttiUniqueId& id, int rank, const std::string& part) {
  int place = 0;
  auto* comm = reinterpret_cast<tuttiComm_t>(&place);
  EXPECT_EQ(tuttiCommInitRank(&comm, ranks, id, rank), tuttiInvalidArgument);
  EXPECT_EQ(comm, nullptr);
  EXPECT_NE(last_error().find(part), std::string::npos) << last_error();
}

TEST(CApi, RejectsInvalidIds) {
  tuttiUniqueId id{};
  expect_refused(2, id, 1, "not a unique id");
  std::memset(id.internal, 'x', sizeof id.internal);
  expect_refused(2, id, 0, "not a unique id");
  id = new_id();
  id.internal[50] = '\0';
  expect_refused(2, id, 1, "not a unique id");
}

TEST(CApi, RejectsInvalidRanks) {
  const tuttiUniqueId id = new_id();
  expect_refused(2, id, 2, "rank 2 of 2");
  expect_refused(2, id, -1, "rank is -1");
  expect_refused(-2, id, 0, "nranks is -2");
  expect_refused(0, id, 0, "rank 0 of 0");
  EXPECT_EQ(take_part(1, id, 0), "");  // The id is still valid.
}

TEST(CApi, RankZeroMustBeInTheProcessThatMadeTheId) {
  std::array<int, 2> mail{};
  ASSERT_EQ(pipe(mail.data()), 0);
  Processes processes;
  processes.start([&] {
    const tuttiUniqueId id = new_id();
    write_all(mail[1], id.internal, sizeof id.internal);
    return std::string();
  });
  processes.expect_well();
  tuttiUniqueId id;
  ASSERT_EQ(read(mail[0], id.internal, sizeof id.internal), ssize_t{sizeof id.internal});
  expect_refused(2, id, 0, "rank 0 must be in the process that made the unique id");
  close(mail[0]);
  close(mail[1]);
}

/// True if a process listens on this port of the loopback interface.
bool listens(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool connected =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return connected;
}

TEST(CApi, UsesAnIdOnceAndThenStopsListening) {
  const tuttiUniqueId id = new_id();
  int port = 0;
  ASSERT_EQ(std::sscanf(id.internal, "tutti1 %*s %d 127.0.0.1", &port), 1) << id.internal;
  EXPECT_TRUE(listens(port));
  EXPECT_EQ(take_part(1, id, 0), "");
  EXPECT_FALSE(listens(port));
  expect_refused(1, id, 0, "an id makes one communicator");
}

TEST(CApi, NamesMissingRanks) {
  const Variable impatience("TUTTI_TIMEOUT", "0.3");
  tuttiComm_t comm = nullptr;
  EXPECT_EQ(tuttiCommInitRank(&comm, 2, new_id(), 0), tuttiTimedOut);
  EXPECT_NE(last_error().find("rank 1"), std::string::npos) << last_error();
}

TEST(CApi, LastErrorIsPerThread) {
  EXPECT_EQ(tuttiBarrier(nullptr), tuttiInvalidArgument);
  std::thread([] { EXPECT_EQ(last_error(), ""); }).join();
  EXPECT_EQ(last_error(), "tuttiBarrier: comm is NULL");
}

TEST(CApi, UsesTheSecretOfTheUser) {
  const Variable near("TUTTI_SOCKET_IFNAME", "=lo");
  const Variable secret("TUTTI_SECRET", "known-to-the-ranks-only");
  const tuttiUniqueId id = new_id();
  EXPECT_EQ(std::string(id.internal).find("known"), std::string::npos);
  Processes processes;
  for (int rank = 0; rank < 2; ++rank) processes.start([&] { return take_part(2, id, rank); });
  processes.expect_well();
}

TEST(CApi, ConnectsWithTls) {
  const Variable near("TUTTI_SOCKET_IFNAME", "=lo");
  const Variable secret("TUTTI_SECRET", "known-to-the-ranks-only");
  const Variable tls("TUTTI_TLS", "1");
  const Variable transport("TUTTI_TRANSPORT", "tcp");
  const tuttiUniqueId id = new_id();
  Processes processes;
  for (int rank = 0; rank < 2; ++rank) processes.start([&] { return take_part(2, id, rank); });
  processes.expect_well();
}

TEST(CApi, RejectsARankWithAnotherSecret) {
  const Variable impatience("TUTTI_TIMEOUT", "1");
  const Variable near("TUTTI_SOCKET_IFNAME", "=lo");
  const Variable secret("TUTTI_SECRET", "known-to-the-ranks-only");
  const tuttiUniqueId id = new_id();
  Processes processes;
  processes.start([&] { return take_part(2, id, 0); });
  processes.start([&] {
    setenv("TUTTI_SECRET", "guessed", 1);
    tuttiComm_t comm = nullptr;
    const bool is_mismatch = tuttiCommInitRank(&comm, 2, id, 1) == tuttiMismatch;
    return (is_mismatch ? "" : "no mismatch: ") + last_error();
  });
  const std::vector<std::string> errors = processes.finish();
  EXPECT_NE(errors[0].find("rank 1"), std::string::npos) << errors[0];
  EXPECT_NE(errors[1].find("secret"), std::string::npos) << errors[1];
  EXPECT_EQ(errors[1].find("no mismatch"), std::string::npos) << errors[1];
}

TEST(CApi, WorkIsInProgressUntilItIsDone) {
  const tuttiUniqueId id = new_id();
  std::array<int, 2> starter{};
  ASSERT_EQ(pipe(starter.data()), 0);
  std::thread other([&] {
    tuttiComm_t comm = nullptr;
    ASSERT_EQ(tuttiCommInitRank(&comm, 2, id, 1), tuttiSuccess) << last_error();
    char go = 0;
    ASSERT_EQ(read(starter[0], &go, 1), 1);
    const int out = 7;
    EXPECT_EQ(tuttiSend(&out, 1, tuttiInt, 0, comm), tuttiSuccess) << last_error();
    EXPECT_EQ(tuttiCommDestroy(comm), tuttiSuccess);
  });
  tuttiComm_t comm = nullptr;
  ASSERT_EQ(tuttiCommInitRank(&comm, 2, id, 0), tuttiSuccess) << last_error();
  int in = 0;
  int done = -1;
  tuttiWork_t work = nullptr;
  ASSERT_EQ(tuttiRecvAsync(&in, 1, tuttiInt, 1, comm, &work), tuttiSuccess) << last_error();
  EXPECT_EQ(tuttiWorkTest(work, &done), tuttiSuccess);
  EXPECT_EQ(done, 0);
  EXPECT_EQ(tuttiWorkWait(work, 0), tuttiInProgress);
  EXPECT_EQ(tuttiWorkWait(work, 20), tuttiInProgress);
  write_all(starter[1], "!", 1);
  EXPECT_EQ(tuttiCommDestroy(comm), tuttiSuccess);  // Waits for the call under way.
  EXPECT_EQ(tuttiWorkTest(work, &done), tuttiSuccess);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(tuttiWorkWait(work, INT64_MAX), tuttiSuccess);
  EXPECT_EQ(in, 7);
  EXPECT_EQ(tuttiWorkDestroy(work), tuttiSuccess);
  other.join();
  close(starter[0]);
  close(starter[1]);
}

TEST(CApi, WorkReportsItsError) {
  const Variable impatience("TUTTI_TIMEOUT", "3");
  const tuttiUniqueId id = new_id();
  std::atomic<bool> has_failed{false};
  std::thread other([&] {
    tuttiComm_t comm = nullptr;
    ASSERT_EQ(tuttiCommInitRank(&comm, 2, id, 1), tuttiSuccess) << last_error();
    EXPECT_TRUE(eventually([&] { return has_failed.load(); }));
    EXPECT_EQ(tuttiCommDestroy(comm), tuttiSuccess);
  });
  tuttiComm_t comm = nullptr;
  ASSERT_EQ(tuttiCommInitRank(&comm, 2, id, 0), tuttiSuccess) << last_error();
  tuttiWork_t work = nullptr;
  ASSERT_EQ(tuttiBarrierAsync(comm, &work), tuttiSuccess) << last_error();
  EXPECT_EQ(tuttiWorkWait(work, -1), tuttiTimedOut);
  has_failed = true;
  EXPECT_NE(last_error().find("rank 0: barrier"), std::string::npos) << last_error();
  EXPECT_EQ(tuttiWorkDestroy(work), tuttiSuccess);
  EXPECT_EQ(tuttiBarrier(comm), tuttiAborted);
  EXPECT_EQ(tuttiCommDestroy(comm), tuttiSuccess);
  other.join();
}

}  // namespace
}  // namespace tutti::test
