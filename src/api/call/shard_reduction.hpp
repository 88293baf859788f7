#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <tutti/call.hpp>

#include "api/call/plan_cache.hpp"
#include "kernels/fold.hpp"
#include "select/selector.hpp"

namespace tutti {

/// Reductions in which ranks contribute different numbers of shards, built from ordinary calls.
///
/// First the ranks exchange their numbers of shards. Every element has an owner. An alltoall sends
/// all addends of an element to its owner, which folds them at once, so neither their order nor the
/// number of ranks matters. An allgather or gather then distributes the results. A rank with three
/// or more shards sends fewer addends with the same exact sum (see distil()).
///
/// Not thread-safe.
class ShardReduction {
 public:
  /// Runs an ordinary call.
  using Run = std::function<void(const Call&)>;

  ShardReduction(Selector selector, Rank self, std::uint32_t ranks);

  /// Requires: a valid call with shards.
  void perform(const Call& call, const Run& run);

  /// For the calls it consists of. Separate from those of the communicator, since another thread
  /// may prepare calls at the same time.
  [[nodiscard]] Selector& selector() { return selector_; }
  [[nodiscard]] PlanCache& plans() { return plans_; }

 private:
  /// A range of contiguous elements.
  struct Stretch {
    std::uint64_t begin = 0;
    std::uint64_t length = 0;
  };
  /// The part of the data that is reduced at once: one stretch of the input for each owner.
  using Segment = std::vector<Stretch>;
  class Task;

  [[nodiscard]] std::byte* memory(std::size_t bytes);

  Selector selector_;
  PlanCache plans_;
  Rank self_;
  std::uint32_t ranks_;
  std::shared_ptr<std::byte> memory_;
  std::size_t memory_bytes_ = 0;
};

}  // namespace tutti
