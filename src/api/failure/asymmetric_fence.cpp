#include "api/failure/asymmetric_fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tutti {
namespace {

bool membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

// False until initialized. Both sides then use full fences, which is also correct.
const bool AsymmetricFence::has_heavy = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);

void AsymmetricFence::heavy() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!has_heavy || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
  // On some systems a forked child does not inherit the registration.
  (void)membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  (void)membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

}  // namespace tutti
