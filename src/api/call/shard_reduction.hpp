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

/// Reductions to which ranks bring different numbers of contributions, made of ordinary calls.
///
/// Ranks tell each other how many they bring. Then every element has an owner: all addends of it
/// travel to the owner by an alltoall, which folds them at once, so that neither their order nor
/// the number of ranks matters; and results travel to those who want them by an allgather or a
/// gather. Where a rank brings three or more, it sends fewer addends with the same exact sum (see
/// distil()).
///
/// For one thread at a time.
class ShardReduction {
 public:
  /// Does an ordinary call.
  using Run = std::function<void(const Call&)>;

  ShardReduction(Selector selector, Rank self, std::uint32_t ranks);

  /// Requires: a valid call with shards.
  void perform(const Call& call, const Run& run);

  /// For the calls it is made of: they may be prepared while another thread prepares others.
  [[nodiscard]] Selector& selector() { return selector_; }
  [[nodiscard]] PlanCache& plans() { return plans_; }

 private:
  /// Elements that stand together.
  struct Stretch {
    std::uint64_t begin = 0;
    std::uint64_t length = 0;
  };
  /// As much of the data as is done at once: a stretch of the input for each owner.
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
