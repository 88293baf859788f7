#pragma once

#include <optional>

#include "api/communicator_impl.hpp"

namespace tutti {

/// See Communicator::grow(). New processes send requests for admission to rank 0. When the group
/// admits them, all ranks, old and new, create a larger group by a unique id.
[[nodiscard]] Regrouped grow(Communicator::Impl& parent, const Growth& growth);

}  // namespace tutti
