#include "peers/starting_line.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "peers/pause.hpp"

namespace peers {
namespace {

constexpr std::size_t cache_line = 64;

std::runtime_error failure(const std::string& what) {
  return std::runtime_error("starting line: cannot " + what + ": " + std::strerror(errno));
}

}  // namespace

struct StartingLine::Counters {
  alignas(cache_line) std::atomic<unsigned> arrived{0};
  alignas(cache_line) std::atomic<unsigned> round{0};  // The last one in which all have arrived.
};

StartingLine::StartingLine(Peer& peer)
    : ranks_(static_cast<unsigned>(peer.ranks())),
      // The cores of the machine: a launcher may have bound this rank to one of them.
      is_crowded_(peer.ranks() > sysconf(_SC_NPROCESSORS_ONLN)) {
  std::string name = "/dev/shm/peers.XXXXXX";
  int file = -1;
  if (peer.rank() == 0) {
    file = mkstemp(name.data());
    if (file < 0 || ftruncate(file, sizeof(Counters)) != 0) throw failure("make a file");
  }
  peer.share(name);
  if (peer.rank() != 0) file = open(name.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) throw failure("open " + name);
  void* const memory = mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) throw failure("map memory");
  counters_ = static_cast<Counters*>(memory);  // Zeros, as the counters begin.
  peer.barrier();
  if (peer.rank() == 0) unlink(name.c_str());
}

StartingLine::~StartingLine() { munmap(counters_, sizeof(Counters)); }

void StartingLine::wait() {
  ++round_;
  if (counters_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks_) {
    counters_->arrived.store(0, std::memory_order_relaxed);
    counters_->round.store(round_, std::memory_order_release);
    return;
  }
  constexpr unsigned patience = 10'000;  // A few hundred microseconds.
  unsigned looks = 0;
  while (counters_->round.load(std::memory_order_acquire) != round_) {
    if (is_crowded_ || ++looks > patience) {
      sched_yield();
    } else {
      pause();
    }
  }
}

}  // namespace peers
