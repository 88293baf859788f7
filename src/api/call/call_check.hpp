#pragma once

#include <cstdint>
#include <string>

#include <tutti/communicator.hpp>

#include "api/call/compiled_call.hpp"
#include "core/quantity.hpp"

namespace tutti {

/// The rank that makes a call, and the size of its communicator.
struct Caller {
  Rank self;
  std::uint32_t ranks = 1;
};

/// Each of these throws invalid_argument, which names the rank, the call and the cure, if the call
/// is invalid. check() looks at everything but the values of counts, the buffers and shards.
void check(const Call& call, const Caller& caller);
/// Checks the values of counts. Need not be repeated for the same counts.
void check_counts(const Call& call, const Caller& caller);
/// Checks the buffers. Returns whether the call is in place.
[[nodiscard]] Aliasing check_buffers(const Call& call, const CallExtent& extent,
                                     const Caller& caller);
/// Checks what check() and check_counts() do not check of a call with shards.
void check_shards(const Call& call, const CallExtent& extent, const Caller& caller);

/// "rank 2: reduce of 100 f32, root 0".
[[nodiscard]] std::string words(const Call& call, Rank self);

}  // namespace tutti
