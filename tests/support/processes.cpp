#include "support/processes.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "api/communicator_impl.hpp"
#include "api/settings.hpp"
#include "rendezvous/tcp_member.hpp"
#include "rendezvous/tcp_root.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 60s;

std::unique_ptr<Exchange> meet(Group group, Socket& listener, const Endpoint& root) {
  const Clock::time_point deadline = Clock::now() + patience;
  if (group.rank == Rank{0}) {
    return std::make_unique<TcpRoot>(std::move(group), std::move(listener), deadline);
  }
  return std::make_unique<TcpMember>(
      std::move(group), [&] { return std::vector{root}; }, deadline);
}

/// The settings of the environment, with these changes.
CommunicatorSettings settings_with(const FabricSettings& fabric,
                                   std::chrono::milliseconds timeout) {
  CommunicatorSettings settings = settings_from_environment();
  settings.timeout = timeout;
  settings.fabric.transport = fabric.transport;
  settings.fabric.secret = fabric.secret;
  if (!fabric.host_id.empty()) settings.fabric.host_id = fabric.host_id;
  return settings;
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t bytes = read(fd, buffer, sizeof buffer);
    if (bytes <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(bytes));
  }
}

std::string be(std::uint32_t rank, std::uint32_t ranks, const FabricSettings& fabric,
               Meeting& meeting, const ProcessWork& work) {
  try {
    Communicator communicator = meeting.join(rank, ranks, fabric, patience);
    return work(communicator);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

std::string choice_of(Way way) {
  return way == Way::automatic ? "" : way == Way::memory ? "shm" : "tcp";
}

Meeting::Meeting()
    : listener_(listen_on(Endpoint::parse("127.0.0.1:0"), {})), root_(bound_to(listener_)) {}

std::unique_ptr<Exchange> Meeting::exchange(std::uint32_t rank, std::uint32_t ranks) {
  return meet({.rank = rank, .size = ranks, .job = "test", .secret = {.bytes = "s"}}, listener_,
              root_);
}

Communicator Meeting::join(std::uint32_t rank, std::uint32_t ranks, const FabricSettings& fabric,
                           std::chrono::milliseconds timeout) {
  const std::unique_ptr<Exchange> exchange = this->exchange(rank, ranks);
  return Communicator(
      std::make_unique<Communicator::Impl>(*exchange, rank, ranks, settings_with(fabric, timeout)));
}

std::string run_processes(std::uint32_t ranks, Way way, const ProcessWork& work,
                          std::uint32_t ranks_per_host, const Secret& secret) {
  Meeting meeting;
  struct Child {
    pid_t pid;
    int output;
  };
  std::vector<Child> children;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    int ends[2];
    if (pipe(ends) != 0) return "no pipe";
    const pid_t pid = fork();
    if (pid == 0) {
      FabricSettings fabric{.transport = choice_of(way), .secret = secret};
      if (ranks_per_host > 0) fabric.host_id = std::to_string(rank / ranks_per_host);
      const std::string fault = be(rank, ranks, fabric, meeting, work);
      const ssize_t written = ::write(ends[1], fault.data(), fault.size());
      _exit(written == static_cast<ssize_t>(fault.size()) ? 0 : 1);
    }
    close(ends[1]);
    children.push_back({.pid = pid, .output = ends[0]});
  }
  std::string faults;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::string fault = read_all(children[rank].output);
    close(children[rank].output);
    int status = 0;
    waitpid(children[rank].pid, &status, 0);
    if (!fault.empty()) faults += "rank " + std::to_string(rank) + ": " + fault + "\n";
    if (status != 0) {
      faults +=
          "rank " + std::to_string(rank) + " ended with status " + std::to_string(status) + "\n";
    }
  }
  return faults;
}

}  // namespace tutti::test
