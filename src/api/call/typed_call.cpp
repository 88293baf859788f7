#include <numeric>
#include <string>

#include <tutti/typed_call.hpp>

namespace tutti {

void TypedCall::require_blocks(const char* call, std::size_t all, std::size_t one) const {
  if (all == one * size_) return;
  throw Error(ErrorCode::invalid_argument,
              "rank " + std::to_string(rank_) + ": " + call + ": " + std::to_string(all) +
                  " elements are not " + std::to_string(size_) + " blocks of " +
                  std::to_string(one) + "; for blocks of different lengths there is " + call +
                  "_v");
}

/// The longer of a rank's buffers holds all blocks, the shorter one its own block.
void TypedCall::require_counted(Collective collective, std::span<const std::uint64_t> counts,
                                std::uint64_t input, std::uint64_t output) const {
  if (counts.size() != size_) return;  // run() reports it.
  const std::uint64_t all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  const std::uint64_t own = counts[rank_];
  const bool spreads =
      collective == Collective::scatter || collective == Collective::reduce_scatter;
  const auto require = [&](const char* what, std::uint64_t has, std::uint64_t needs) {
    if (has == needs) return;
    throw Error(ErrorCode::invalid_argument,
                "rank " + std::to_string(rank_) + ": " + std::string(name(collective)) +
                    " with counts: the " + what + " has " + std::to_string(has) +
                    " elements, but the counts ask for " + std::to_string(needs));
  };
  const bool only_own_input =
      collective == Collective::gather || collective == Collective::allgather;
  if (only_own_input || input > 0) require("input", input, only_own_input ? own : all);
  if (collective == Collective::alltoall) return;
  if (spreads || output > 0) require("output", output, spreads ? own : all);
}

void TypedCall::require_equal(const char* call, std::size_t input, std::size_t output) const {
  if (input == output) return;
  throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank_) + ": " + call +
                                               ": the input has " + std::to_string(input) +
                                               " elements, the output " + std::to_string(output) +
                                               "; they must be equally long");
}

}  // namespace tutti
