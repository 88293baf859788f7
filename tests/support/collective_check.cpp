#include "support/collective_check.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include <tutti/memory.hpp>

#include "cli/measure/result_check.hpp"

namespace tutti::test {
namespace {

/// A buffer with guard bytes before and after it.
class Guarded {
 public:
  Guarded(std::size_t bytes, std::size_t misaligned, bool shared)
      : bytes_(bytes), begin_(guard + misaligned), total_(bytes + 2 * guard + misaligned) {
    if (shared) {
      memory_ = std::shared_ptr<std::byte>(static_cast<std::byte*>(allocate(total_)),
                                           [](std::byte* memory) { deallocate(memory); });
    } else {
      memory_ =
          std::shared_ptr<std::byte>(new std::byte[total_], std::default_delete<std::byte[]>());
    }
    std::memset(memory_.get(), 0xA5, total_);
  }

  [[nodiscard]] std::byte* data() const { return memory_.get() + begin_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] bool untouched_around() const {
    for (std::size_t i = 0; i < total_; ++i) {
      const bool inside = i >= begin_ && i < begin_ + bytes_;
      if (!inside && memory_.get()[i] != std::byte{0xA5}) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t guard = 64;
  std::size_t bytes_;
  std::size_t begin_;
  std::size_t total_;
  std::shared_ptr<std::byte> memory_;
};

/// The elements of the block from one rank to another. With counts, some are empty.
std::uint64_t block(const Trial& trial, std::uint32_t from, std::uint32_t to) {
  if (!trial.counted) return trial.count;
  switch (trial.collective) {
    case Collective::alltoall:
      return trial.count * ((from + 2 * to) % 3);
    case Collective::scatter:
    case Collective::reduce_scatter:
      from = to;
      break;
    default:
      break;
  }
  return trial.count * (from + 1) % (2 * trial.count + 1);
}

measure::ResultCheck check_of(const Trial& trial, const Communicator& communicator) {
  return {
      {.collective = trial.collective,
       .dtype = trial.dtype,
       .op = trial.op,
       .root = trial.root,
       .block = [&trial](std::uint32_t from, std::uint32_t to) { return block(trial, from, to); }},
      communicator.rank(),
      communicator.size(),
      trial.count};
}

/// Algorithms that use a shape get the squarest one.
Shape shape_for(const Trial& trial, std::uint32_t ranks) {
  const bool needs_shape = !trial.algorithm.empty() && algorithm(trial.algorithm).needs_shape();
  return needs_shape ? squarest(ranks) : Shape{};
}

}  // namespace

std::string words(const Trial& trial) {
  return (trial.algorithm.empty() ? std::string(name(trial.collective)) : trial.algorithm) + " " +
         std::string(name(trial.dtype)) + " " + std::string(name(trial.op)) + " count " +
         std::to_string(trial.count) + " root " + std::to_string(trial.root) +
         (trial.in_place ? " in place" : "") + (trial.counted ? " with counts" : "") +
         (trial.asynchronous ? " async" : "") + (trial.shared ? " shared" : "") +
         (trial.single_copy ? " single copy" : "") + (trial.misaligned > 0 ? " misaligned" : "");
}

std::string try_call(Communicator& communicator, const Trial& trial) {
  const std::uint32_t self = communicator.rank();
  const measure::ResultCheck check = check_of(trial, communicator);
  const std::size_t element = size_of(trial.dtype);
  const Guarded input(check.input_elements() * element, trial.misaligned, trial.shared);
  const Guarded output(check.output_elements() * element, trial.misaligned, trial.shared);
  const std::size_t in = input.size();
  const std::size_t out = output.size();
  std::byte* from = input.data();
  std::byte* to = output.data();
  const bool all_pairs = trial.collective == Collective::alltoall;
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t> output_counts;
  for (std::uint32_t r = 0; r < communicator.size(); ++r) {
    counts.push_back(block(trial, all_pairs ? self : r, r));
    output_counts.push_back(block(trial, r, self));
  }
  const std::size_t own = std::accumulate(counts.begin(), counts.begin() + self, 0UL) * element;
  const bool in_place = trial.in_place && in > 0 && out > 0;
  if (in_place && in > out) to = input.data() + own;
  if (in_place && in < out) from = output.data() + own;
  if (in_place && in == out) from = output.data();
  check.prepare(from, to);
  const std::vector<std::byte> kept(from, from + in);
  Call call{.collective = trial.collective,
            .input = from,
            .output = to,
            .count = trial.count,
            .dtype = trial.dtype,
            .reduction = trial.op,
            .root = trial.root,
            .options = {.algorithm = trial.algorithm,
                        .schedule = trial.schedule,
                        .shape = shape_for(trial, communicator.size()),
                        .timeout = trial.timeout,
                        .tuning = {.single_copy_from = trial.single_copy ? 1U : 0U}}};
  if (trial.counted) {
    call.count = 0;
    call.counts = counts;
    call.output_counts = output_counts;
  }
  if (trial.before_call) trial.before_call();
  if (trial.asynchronous) {
    communicator.start(call).wait();
  } else {
    communicator.run(call);
  }
  if (const std::uint64_t wrong = check.count_wrong(to); wrong > 0) {
    return "rank " + std::to_string(self) + ": " + std::to_string(wrong) + " wrong elements";
  }
  if (!input.untouched_around() || !output.untouched_around()) return "wrote beyond a buffer";
  if (!in_place && !std::equal(kept.begin(), kept.end(), from)) return "changed the input";
  return "";
}

}  // namespace tutti::test
