#include "api/call/shard_reduction.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include <tutti/error.hpp>
#include <tutti/schedule/layout.hpp>

#include "api/call/call_check.hpp"
#include "api/call/compiled_call.hpp"
#include "api/call/scratch_memory.hpp"
#include "kernels/distil.hpp"

namespace tutti {
namespace {

/// The maximum size of the addends of a segment. The total is three times as much, with the
/// distilled addends and the received ones.
constexpr std::uint64_t brought_bytes = std::uint64_t{2} << 20;

std::uint64_t sum(std::span<const std::uint64_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
}

/// True if addends can be replaced by fewer ones with the same exact sum: f32, f64, complex.
bool can_distil(const Call& call) {
  return !is_associative(call.reduction, call.dtype) && size_of(call.dtype) >= sizeof(float);
}
/// With fewer addends it does not pay: the exact sum of two is mostly not one number.
constexpr std::uint64_t least_distilled = 3;

}  // namespace

/// One call.
class ShardReduction::Task {
 public:
  Task(ShardReduction& owner, const Call& call, const Run& run)
      : owner_(owner),
        call_(call),
        run_(run),
        self_(owner.self_),
        ranks_(owner.ranks_),
        element_(size_of(call.dtype)),
        fold_(fold_for(call)),
        brings_(gathered(call.shards->size())) {}

  void perform() {
    total_ = sum(brings_);
    if (total_ == 0) {
      throw Error(ErrorCode::invalid_argument,
                  words(call_, owner_.self_) + ": no rank contributes a shard");
    }
    if (ranks_ == 1) {
      finish(static_cast<std::byte*>(call_.output), *call_.shards,
             extent_of(call_, owner_.self_, 1).output);
    } else if (std::ranges::all_of(brings_, [](std::uint64_t each) { return each == 1; })) {
      perform_ordinary();
    } else {
      for (const Segment& segment : segments()) reduce(segment);
    }
  }

 private:
  using Addends = std::vector<const void*>;

  void perform_ordinary() const {
    Call call = call_;
    call.input = call_.shards->front();
    call.shards.reset();
    run_(call);
  }

  /// Gathers a number from each rank.
  [[nodiscard]] std::vector<std::uint64_t> gathered(std::uint64_t own) const {
    std::vector<std::uint64_t> all(ranks_, own);
    if (ranks_ == 1) return all;
    Call call = part(Collective::allgather);
    call.input = &all[self_];
    call.output = all.data();
    call.count = 1;
    call.dtype = DType::u64;
    run_(call);
    return all;
  }

  /// Returns a call that is a part of this one, with its options.
  [[nodiscard]] Call part(Collective collective) const {
    return {.collective = collective,
            .dtype = call_.dtype,
            .root = call_.root,
            .options = {.timeout = call_.options.timeout,
                        .site = call_.options.site,
                        .tuning = call_.options.tuning}};
  }

  [[nodiscard]] std::vector<Segment> segments() const {
    const std::uint64_t most_brought = *std::ranges::max_element(brings_);
    const std::uint64_t fits =
        std::max<std::uint64_t>(ranks_, brought_bytes / element_ / most_brought);
    std::vector<Segment> all;
    if (call_.collective != Collective::reduce_scatter) {
      for (std::uint64_t begin = 0; begin < call_.count; begin += fits) {
        const Layout owners = Layout::balanced(ranks_, std::min(fits, call_.count - begin));
        Segment& segment = all.emplace_back();
        std::uint64_t at = begin;
        for (std::uint32_t r = 0; r < ranks_; ++r) {
          segment.push_back({.begin = at, .length = owners.size(Chunk{r})});
          at += segment.back().length;
        }
      }
      return all;
    }
    std::vector<std::uint64_t> blocks(call_.counts.begin(), call_.counts.end());
    if (blocks.empty()) blocks.assign(ranks_, call_.count);
    const std::uint64_t longest = *std::ranges::max_element(blocks);
    for (std::uint64_t begin = 0; begin < longest; begin += fits / ranks_) {
      Segment& segment = all.emplace_back();
      std::uint64_t at = 0;
      for (const std::uint64_t block : blocks) {
        const std::uint64_t left = block > begin ? block - begin : 0;
        segment.push_back({.begin = at + begin, .length = std::min(left, fits / ranks_)});
        at += block;
      }
    }
    return all;
  }

  [[nodiscard]] static std::uint64_t length_of(const Segment& segment) {
    std::uint64_t length = 0;
    for (const Stretch& each : segment) length += each.length;
    return length;
  }

  void reduce(const Segment& segment) {
    const std::uint64_t length = length_of(segment);
    const std::uint64_t own_length = segment[self_].length;
    const std::uint64_t most_brought = *std::ranges::max_element(brings_);
    // Memory for this rank's addends made contiguous, the distilled ones, those received, and the
    // results.
    const std::size_t row = length * element_;
    std::byte* const memory =
        owner_.memory(2 * call_.shards->size() * row +
                      most_brought * ranks_ * own_length * element_ + own_length * element_);
    std::byte* const planes = memory + call_.shards->size() * row;
    std::byte* const received = planes + call_.shards->size() * row;
    std::byte* const results = received + most_brought * ranks_ * own_length * element_;

    const Addends own = combined(in_one_piece(segment, length, memory), length, planes);
    const std::vector<std::uint64_t> sends = sent_by_each(own.size());
    const Addends all = exchanged(segment, own, sends, received);
    std::byte* const to = place_of_result(segment, results);
    finish(to, all, own_length);
    spread(segment, to);
  }

  /// Returns the segment of each shard of this rank. Copies it to `memory` if it is not contiguous.
  [[nodiscard]] Addends in_one_piece(const Segment& segment, std::uint64_t length,
                                     std::byte* memory) const {
    const bool is_one =
        segment.back().begin + segment.back().length - segment.front().begin == length;
    Addends addends;
    for (const void* const shard : *call_.shards) {
      const auto* const from = static_cast<const std::byte*>(shard);
      if (is_one) {
        addends.push_back(from + segment.front().begin * element_);
        continue;
      }
      addends.push_back(memory);
      for (const Stretch& each : segment) {
        if (each.length == 0) continue;
        std::memcpy(memory, from + each.begin * element_, each.length * element_);
        memory += each.length * element_;
      }
    }
    return addends;
  }

  /// Replaces the addends by fewer ones, if possible.
  [[nodiscard]] Addends combined(const Addends& addends, std::uint64_t length,
                                 std::byte* memory) const {
    std::vector<void*> planes;
    for (std::size_t j = 0; j < addends.size(); ++j) {
      planes.push_back(memory + j * length * element_);
    }
    std::size_t count = 0;
    if (is_associative(call_.reduction, call_.dtype) && addends.size() > 1) {
      fold_(planes[0], nullptr, addends.data(), addends.size(), length);
      count = 1;
    } else if (can_distil(call_) && addends.size() >= least_distilled) {
      count = distil(call_.dtype, planes.data(), addends.data(), addends.size(), length);
    }
    if (count == 0) return addends;
    return {planes.begin(), planes.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  [[nodiscard]] std::vector<std::uint64_t> sent_by_each(std::uint64_t own) const {
    const bool varies = can_distil(call_) && *std::ranges::max_element(brings_) >= least_distilled;
    if (varies) return gathered(own);
    std::vector<std::uint64_t> sends = brings_;
    if (is_associative(call_.reduction, call_.dtype)) {
      for (std::uint64_t& each : sends) each = std::min<std::uint64_t>(each, 1);
    }
    return sends;
  }

  /// Sends every owner its part of this rank's addends: in round j each rank sends its j-th addend.
  /// Returns all addends of the elements that this rank owns.
  [[nodiscard]] Addends exchanged(const Segment& segment, const Addends& own,
                                  std::span<const std::uint64_t> sends, std::byte* memory) const {
    const std::uint64_t own_length = segment[self_].length;
    std::uint64_t before = 0;
    for (std::uint32_t r = 0; r < self_; ++r) before += segment[r].length;
    Addends all;
    for (const void* const each : own) {
      all.push_back(static_cast<const std::byte*>(each) + before * element_);
    }
    for (std::uint64_t j = 0; j < *std::ranges::max_element(sends); ++j) {
      // This rank's own part is used where it is. It takes part in the alltoall only to keep the
      // offsets of the others.
      std::vector<std::uint64_t> to(ranks_, 0);
      std::vector<std::uint64_t> from(ranks_, 0);
      std::byte* at = memory;
      for (std::uint32_t r = 0; r < ranks_; ++r) {
        if (j < own.size()) to[r] = segment[r].length;
        if (j < sends[r]) from[r] = own_length;
        if (j < sends[r] && r != self_) all.push_back(at);
        at += from[r] * element_;
      }
      Call call = part(Collective::alltoall);
      call.input = j < own.size() ? own[j] : nullptr;
      call.output = memory;
      call.counts = to;
      call.output_counts = from;
      run_(call);
      memory = at;
    }
    return all;
  }

  [[nodiscard]] std::byte* place_of_result(const Segment& segment, std::byte* otherwise) const {
    if (segment[self_].length == 0) return otherwise;
    auto* const output = static_cast<std::byte*>(call_.output);
    switch (call_.collective) {
      case Collective::reduce:
        if (self_ != call_.root) return otherwise;
        break;
      case Collective::reduce_scatter: {
        const std::uint64_t block = extent_of(call_, owner_.self_, ranks_).own_block;
        return output + (segment[self_].begin - block) * element_;
      }
      default:
        break;
    }
    return output + segment[self_].begin * element_;
  }

  void finish(std::byte* to, std::span<const void* const> addends, std::uint64_t count) const {
    if (count == 0) return;
    fold_(to, nullptr, addends.data(), addends.size(), count);
    if (call_.reduction.op() == Op::avg) divide(call_.dtype, to, count, total_);
  }

  /// Distributes the results.
  void spread(const Segment& segment, const std::byte* result) const {
    if (call_.collective == Collective::reduce_scatter) return;
    const bool to_all = call_.collective == Collective::allreduce;
    std::vector<std::uint64_t> counts;
    for (const Stretch& each : segment) counts.push_back(each.length);
    Call call = part(to_all ? Collective::allgather : Collective::gather);
    call.input = result;
    if (to_all || self_ == call_.root) {
      call.output = static_cast<std::byte*>(call_.output) + segment.front().begin * element_;
    }
    call.counts = counts;
    run_(call);
  }

  ShardReduction& owner_;
  const Call& call_;
  const Run& run_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  std::size_t element_;
  Fold fold_;
  std::vector<std::uint64_t> brings_;  // The number of shards of each rank.
  std::uint64_t total_ = 0;
};

ShardReduction::ShardReduction(Selector selector, Rank self, std::uint32_t ranks)
    : selector_(std::move(selector)), self_(self), ranks_(ranks) {}

void ShardReduction::perform(const Call& call, const Run& run) { Task(*this, call, run).perform(); }

std::byte* ShardReduction::memory(std::size_t bytes) {
  if (bytes > memory_bytes_) {
    memory_.reset();
    memory_ = scratch_memory(bytes);
    memory_bytes_ = bytes;
  }
  return memory_.get();
}

}  // namespace tutti
