#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tutti/call.hpp>

#include "exec/plan.hpp"
#include "flight/record.hpp"
#include "kernels/fold.hpp"
#include "select/method.hpp"

namespace tutti {

/// A call made ready: everything that does not depend on where its data stands.
struct PreparedCall {
  /// A plan to be run so many times, each time with the caller's buffers so many bytes further on.
  struct Part {
    Plan plan;
    std::uint64_t repeats = 1;
    std::size_t stride = 0;
  };

  std::vector<Part> parts;
  std::size_t scratch_bytes = 0;
  std::size_t spare_bytes = 0;
  /// Null where nothing is reduced, or by a function of the caller's.
  Fold fold = nullptr;
  std::size_t element_bytes = 0;
  std::uint64_t outputs = 0;      ///< Elements.
  std::size_t barrier_bytes = 0;  ///< That a barrier reads, and as many that it writes.
  bool is_average = false;
  bool is_exact = false;
  /// As the flight recorder has it, with the signature of what all ranks must agree on.
  FlightCall flight{};
};

/// What a call is prepared for.
struct Preparation {
  const Call& call;
  const Method& method;
  Rank self;
  std::uint32_t ranks;
  Aliasing aliasing;
  std::span<const std::uint32_t> lanes;
  /// As the hosts have the ranks; empty if they have them unevenly.
  const Shape& hosts;
};

/// Algorithms that keep data on its way in tutti's own memory are run in parts of this many bytes,
/// so that no call needs more than twice as much, however long its data is.
inline constexpr std::size_t part_bytes = std::size_t{4} << 20;

/// The algorithm or schedule that the call names. Requires: it names one. Throws invalid_argument,
/// or unsupported, if that cannot do the call.
[[nodiscard]] Method named_method(const Call& call, std::uint32_t ranks);

/// Requires: the call is valid.
[[nodiscard]] PreparedCall prepare(const Preparation& preparation);

/// What is done to the outputs when all has been folded: averages are divided, and the exact sum of
/// one rank alone, which was not folded, is made what a fold makes of it.
void finish_outputs(const PreparedCall& prepared, const Call& call, std::uint32_t ranks);

/// What folds the contributions of a reduction.
/// Requires: it is not a function of the caller's, and the op applies to the dtype.
[[nodiscard]] Fold fold_for(const Call& call);

/// Elements in the input and output of a rank.
struct CallExtent {
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  /// Where in the larger buffer the smaller one stands when the call is in place.
  std::uint64_t own_block = 0;
};
[[nodiscard]] CallExtent extent_of(const Call& call, Rank self, std::uint32_t ranks);

[[nodiscard]] std::size_t element_bytes_of(const Call& call);

/// Whether all contributions to an element must be folded at once: the bits depend on how they are
/// combined, and must not depend on the algorithm.
[[nodiscard]] bool needs_one_fold(const Call& call);

}  // namespace tutti
