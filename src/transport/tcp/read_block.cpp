#include "transport/tcp/read_block.hpp"

#include <mutex>
#include <vector>

#include "core/fork_safe_mutex.hpp"

namespace tutti {
namespace {

/// A block has 256 KiB.
constexpr std::size_t most_idle = 16;

}  // namespace

struct ReadBlock::Idle {
  ForkSafeMutex mutex;
  std::vector<Memory*> blocks;
};

/// Never destroyed: connections may end while the process exits.
ReadBlock::Idle& ReadBlock::idle() {
  static Idle* const all = [] {
    auto* const made = new Idle;
    made->blocks.reserve(most_idle);
    return made;
  }();
  return *all;
}

ReadBlock::Memory* ReadBlock::take() {
  Idle& idle = ReadBlock::idle();
  {
    const std::lock_guard lock(idle.mutex);
    if (!idle.blocks.empty()) {
      Memory* const memory = idle.blocks.back();
      idle.blocks.pop_back();
      memory->uses = 1;
      return memory;
    }
  }
  return new Memory;
}

void ReadBlock::give_back(Memory* memory) {
  Idle& idle = ReadBlock::idle();
  {
    const std::lock_guard lock(idle.mutex);
    if (idle.blocks.size() < most_idle) return idle.blocks.push_back(memory);
  }
  delete memory;
}

}  // namespace tutti
