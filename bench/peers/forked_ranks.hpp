#pragma once

#include <functional>

namespace peers {

/// Runs `be(rank)` for each rank: rank 0 in this process, the others in child processes, which end
/// with it. Returns the first exit status that is not 0.
[[nodiscard]] int run_forked(int ranks, const std::function<int(int rank)>& be);

}  // namespace peers
