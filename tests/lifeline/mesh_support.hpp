#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "lifeline/mesh.hpp"

/// Members of a lifeline that are processes or threads of a test.
namespace tutti::test {

class Idle final : public Participant {
 public:
  [[nodiscard]] RankStatus status(std::uint64_t /*about*/) const override { return {}; }
  std::uint64_t seal() override { return 0; }
  std::optional<std::uint64_t> stop() override { return std::nullopt; }
  void wake() override {}
};

/// The listeners of processes that the test forks.
struct Listeners {
  /// At names within the host if `address` is empty.
  Listeners(std::uint32_t members, const std::string& address) {
    for (std::uint32_t member = 0; member < members; ++member) {
      sockets.push_back(listen_on(address.empty() ? random_name() : Endpoint::parse(address), {}));
      contacts.push_back({.host = "here", .endpoints = {bound_to(sockets.back())}});
    }
  }

  [[nodiscard]] std::unique_ptr<Mesh> mesh(std::uint32_t self, Lifeline& lifeline,
                                           Clock::duration patience,
                                           const Secret& secret = {.bytes = "s"}) {
    return std::make_unique<Mesh>(Mesh::Place{.self = self,
                                              .contacts = contacts,
                                              .listener = std::move(sockets[self]),
                                              .secret = secret,
                                              .group = "test",
                                              .processes = processes,
                                              .fully_connected = fully_connected},
                                  lifeline, Clock::now() + patience);
  }

  [[nodiscard]] static Endpoint random_name() {
    return Endpoint::within_host("tutti/test/" + Secret::random().bytes.substr(0, 16));
  }
  /// In a forked process: the listeners of the others would outlive them.
  void keep_only(std::uint32_t self) {
    for (std::uint32_t member = 0; member < sockets.size(); ++member) {
      if (member != self) sockets[member] = Socket();
    }
  }

  std::vector<Socket> sockets{};
  std::vector<Contact> contacts{};
  std::vector<int> processes{};
  std::uint32_t fully_connected = most_fully_connected;
};

/// Shared memory in which forked processes tell each other their pids.
class SharedPids {
 public:
  explicit SharedPids(std::uint32_t members)
      : members_(members),
        pids_(static_cast<std::atomic<int>*>(
            mmap(nullptr, size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedPids() { munmap(pids_, size()); }
  SharedPids(const SharedPids&) = delete;
  SharedPids& operator=(const SharedPids&) = delete;

  [[nodiscard]] std::vector<int> exchange(std::uint32_t self) const {
    pids_[self] = getpid();
    std::vector<int> pids;
    for (std::uint32_t member = 0; member < members_; ++member) {
      while (pids_[member] == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      pids.push_back(pids_[member]);
    }
    return pids;
  }

 private:
  [[nodiscard]] std::size_t size() const { return members_ * sizeof(std::atomic<int>); }

  std::uint32_t members_;
  std::atomic<int>* pids_;
};

}  // namespace tutti::test
