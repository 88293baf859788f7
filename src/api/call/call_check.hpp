#pragma once

#include <cstdint>
#include <string>

#include <tutti/communicator.hpp>

#include "api/call/prepared_call.hpp"
#include "core/quantity.hpp"

namespace tutti {

/// Who makes a call.
struct Caller {
  Rank self;
  std::uint32_t ranks = 1;
};

/// Each of these throws invalid_argument, which names the rank, the call and the cure, if the call
/// cannot be right.
void check(const Call& call, const Caller& caller);
/// Those of its counts that need not be looked at again when the same counts come again.
void check_counts(const Call& call, const Caller& caller);
/// Tells whether the call is in place.
[[nodiscard]] Aliasing check_buffers(const Call& call, const CallExtent& extent,
                                     const Caller& caller);
/// Of a call with shards, all that check() and check_counts() do not look at.
void check_shards(const Call& call, const CallExtent& extent, const Caller& caller);

/// "rank 2: reduce of 100 f32, root 0".
[[nodiscard]] std::string words(const Call& call, Rank self);

}  // namespace tutti
