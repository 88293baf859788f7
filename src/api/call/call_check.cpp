#include "api/call/call_check.hpp"

#include <tutti/error.hpp>

#include "core/buffer_limit.hpp"

namespace tutti {
namespace {

bool overlap(const std::byte* a, std::size_t a_bytes, const std::byte* b, std::size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

[[noreturn]] void refuse(const Caller& caller, const Call& call, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, words(call, caller.self) + ": " + why);
}

}  // namespace

std::string words(const Call& call, Rank self) {
  std::string text = "rank " + std::to_string(self) + ": " + std::string(name(call.collective));
  if (call.collective == Collective::barrier) return text;
  const bool known = call.dtype <= last_dtype;
  text += call.counts.empty() ? " of " + std::to_string(call.count) : " with counts, of";
  text += known ? " " + std::string(name(call.dtype)) : " elements";
  if (has_root(call.collective)) text += ", root " + std::to_string(call.root);
  return text;
}

namespace {

/// Numbers that C and other languages may give without a meaning.
void check_numbers(const Call& call, const Caller& caller) {
  if (call.collective > Collective::barrier) {
    throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(caller.self) +
                                                 ": there is no collective number " +
                                                 std::to_string(static_cast<int>(call.collective)));
  }
  if (call.dtype > last_dtype) {
    refuse(caller, call,
           "there is no dtype number " + std::to_string(static_cast<int>(call.dtype)) +
               "; use 0 (i8) to " + std::to_string(static_cast<int>(last_dtype)) + " (" +
               std::string(name(last_dtype)) + ")");
  }
  if (call.options.reproducible > Reproducible::exact) {
    refuse(caller, call,
           "there is no level of reproducibility number " +
               std::to_string(static_cast<int>(call.options.reproducible)) +
               "; use 0 (run) to 2 (exact)");
  }
}

void check_operation(const Call& call, const Caller& caller) {
  const Op op = call.reduction.op();
  if (op > Op::bxor) {
    refuse(caller, call,
           "there is no op number " + std::to_string(static_cast<int>(op)) +
               "; use 0 (sum) to 7 (bxor)");
  }
  if (!applies(op, call.dtype)) {
    refuse(caller, call,
           std::string(name(op)) + " is for " + std::string(domain(op)) + ", not for " +
               std::string(name(call.dtype)));
  }
  const bool exact = call.options.reproducible == Reproducible::exact;
  if (exact && op == Op::prod && !is_integral(call.dtype)) {
    refuse(caller, call, "reproducible = exact is for sum and avg; use order for prod");
  }
  if (call.element_bytes != 0 && call.element_bytes != size_of(call.dtype)) {
    refuse(caller, call,
           "elements of " + in_plural(call.element_bytes, "byte") +
               " need a user-defined function to combine them");
  }
}

void check_reduction(const Call& call, const Caller& caller) {
  const bool custom = call.reduction.combine() != nullptr;
  if (is_reduction(call.collective) && custom && call.options.reproducible == Reproducible::exact) {
    refuse(caller, call,
           "reproducible = exact is for sum and avg; use order for a user-defined function");
  }
  if (custom && !*call.reduction.combine()) {
    refuse(caller, call, "the function to combine by is empty");
  }
  if (is_reduction(call.collective) && !custom) check_operation(call, caller);
}

}  // namespace

void check(const Call& call, const Caller& caller) {
  check_numbers(call, caller);
  check_reduction(call, caller);
  const Shape& shape = call.options.shape;
  if (!shape.empty() && shape.size() != caller.ranks) {
    refuse(caller, call,
           "the shape " + to_string(shape) + " is for " + in_plural(shape.size(), "rank") +
               ", but the communicator has " + std::to_string(caller.ranks));
  }
  const std::size_t element = element_bytes_of(call);
  if (has_root(call.collective) && call.root >= caller.ranks) {
    refuse(caller, call,
           "root " + std::to_string(call.root) + " is not one of the ranks 0 to " +
               std::to_string(caller.ranks - 1));
  }
  if (call.count > most_buffer_bytes / element / caller.ranks) {
    refuse(caller, call, "that many elements do not fit into memory");
  }
  if (!call.counts.empty() && call.counts.size() != caller.ranks) {
    refuse(caller, call,
           in_plural(call.counts.size(), "count") + " for " + in_plural(caller.ranks, "rank") +
               ": give one for each rank");
  }
  if (!call.counts.empty() && call.collective == Collective::alltoall &&
      call.output_counts.size() != caller.ranks) {
    refuse(caller, call,
           in_plural(call.output_counts.size(), "output count") + " for " +
               in_plural(caller.ranks, "rank") + ": give one for each rank");
  }
}

void check_counts(const Call& call, const Caller& caller) {
  if (call.counts.empty()) return;
  if (!has_block_per_rank(call.collective) && call.collective != Collective::alltoall) {
    refuse(caller, call, "this collective has no blocks, so it takes no counts");
  }
  const std::uint64_t most = most_buffer_bytes / element_bytes_of(call) / caller.ranks;
  for (const auto& counts : {call.counts, call.output_counts}) {
    for (const std::uint64_t count : counts) {
      if (count <= most) continue;
      refuse(caller, call,
             "a count is " + std::to_string(count) + ": that many elements do not fit into memory");
    }
  }
  if (call.collective == Collective::alltoall &&
      call.counts[caller.self] != call.output_counts[caller.self]) {
    refuse(caller, call,
           "the count to this rank itself (" + std::to_string(call.counts[caller.self]) +
               ") must equal the output count from itself (" +
               std::to_string(call.output_counts[caller.self]) + ")");
  }
}

Aliasing check_buffers(const Call& call, const CallExtent& extent, const Caller& caller) {
  const std::size_t element = element_bytes_of(call);
  const std::size_t in_bytes = extent.input * element;
  const std::size_t out_bytes = extent.output * element;
  const auto* const in = static_cast<const std::byte*>(call.input);
  const auto* const out = static_cast<const std::byte*>(call.output);
  if (in_bytes > 0 && in == nullptr) {
    refuse(caller, call, "the input is null: give it " + in_plural(in_bytes, "byte"));
  }
  if (out_bytes > 0 && out == nullptr) {
    refuse(caller, call, "the output is null: give it " + in_plural(out_bytes, "byte"));
  }
  if (in_bytes == 0 || out_bytes == 0) return Aliasing::out_of_place;
  const std::size_t own = extent.own_block * element;
  const bool in_place = in_bytes >= out_bytes ? out == in + own : in == out + own;
  // Buffers of equal length are in place if they are the same memory.
  if (in_place || (in == out && in_bytes == out_bytes)) return Aliasing::in_place;
  if (overlap(in, in_bytes, out, out_bytes)) {
    refuse(caller, call,
           "input and output overlap; separate them, or make the call in place: the shorter one "
           "at this rank's block of the longer one, " +
               in_plural(own, "byte") + " from its start");
  }
  return Aliasing::out_of_place;
}

void check_shards(const Call& call, const CallExtent& extent, const Caller& caller) {
  if (!is_reduction(call.collective) || call.collective == Collective::barrier) {
    refuse(caller, call, "this collective is not a reduction, so it takes no shards");
  }
  if (call.reduction.combine() != nullptr) {
    refuse(caller, call, "shards need a built-in operation, not a user-defined function");
  }
  if (call.options.reproducible != Reproducible::exact &&
      !is_associative(call.reduction, call.dtype)) {
    refuse(caller, call, "shards need reproducible = exact");
  }
  if (!call.options.algorithm.empty()) {
    refuse(caller, call, "a reduction of shards takes no algorithm; leave it out");
  }
  for (const void* const shard : *call.shards) {
    Call one = call;
    one.input = shard;
    (void)check_buffers(one, extent, caller);
  }
  if (extent.output > 0 && call.output == nullptr) {
    refuse(
        caller, call,
        "the output is null: give it " + in_plural(extent.output * element_bytes_of(call), "byte"));
  }
}

}  // namespace tutti
