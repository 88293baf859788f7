#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tutti/call.hpp>

#include "api/call/blueprint_cache.hpp"
#include "exec/plan.hpp"
#include "flight/record.hpp"
#include "kernels/fold.hpp"
#include "select/method.hpp"
#include "select/thresholds.hpp"

namespace tutti {

/// A compiled call: everything that does not depend on the addresses of its buffers.
struct CompiledCall {
  /// A plan to run `repeats` times, each time with the caller's buffers `stride` bytes further on.
  struct Part {
    Plan plan;
    std::uint64_t repeats = 1;
    std::size_t stride = 0;
  };

  std::vector<Part> parts;
  std::size_t scratch_bytes = 0;
  std::size_t spare_bytes = 0;
  /// Null if the call reduces nothing, or with a user-defined function.
  Fold fold = nullptr;
  std::size_t element_bytes = 0;
  std::uint64_t inputs = 0;       ///< Elements.
  std::uint64_t outputs = 0;      ///< Elements.
  std::size_t barrier_bytes = 0;  ///< Bytes that a barrier reads; it writes as many.
  bool is_average = false;
  bool is_exact = false;
  /// For the flight recorder, with the signature on which all ranks must agree.
  FlightCall flight{};
};

/// The arguments of compile_call().
struct Compilation {
  const Call& call;
  const Method& method;
  Rank self;
  std::uint32_t ranks;
  Aliasing aliasing;
  std::span<const std::uint32_t> lanes;
  /// The shape of the ranks on the hosts; empty if hosts have different numbers of ranks.
  const Shape& hosts;
  Thresholds thresholds{};
  BlueprintCache& blueprints;
};

/// Returns the algorithm or schedule that the call names. Requires: it names one. Throws
/// invalid_argument or unsupported if it does not fit the call.
[[nodiscard]] Method named_method(const Call& call, std::uint32_t ranks);

/// Requires: the call is valid.
[[nodiscard]] CompiledCall compile_call(const Compilation& compilation);

/// Post-processes the outputs after the last fold. Divides averages. An exact sum on a single rank,
/// which had no fold, is folded here so that it gets the same rounding.
void finish_outputs(const CompiledCall& compiled, const Call& call, std::uint32_t ranks);

/// Returns the kernel that folds the contributions of a reduction.
/// Requires: the reduction is not user-defined, and the op applies to the dtype.
[[nodiscard]] Fold fold_for(const Call& call);

/// Elements in the input and output of a rank.
struct CallExtent {
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  /// The offset of the smaller buffer in the larger one if the call is in place.
  std::uint64_t own_block = 0;
};
[[nodiscard]] CallExtent extent_of(const Call& call, Rank self, std::uint32_t ranks);

[[nodiscard]] std::size_t element_bytes_of(const Call& call);

/// True if all contributions to an element must be folded at once. That is so if the bits depend on
/// the order of folding but must not depend on the algorithm.
[[nodiscard]] bool needs_one_fold(const Call& call);

}  // namespace tutti
