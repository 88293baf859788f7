#pragma once

#include <cstdint>

#include "api/communicator_impl.hpp"

namespace tutti {

/// See Communicator::shrink().
[[nodiscard]] Regrouped shrink(Communicator::Impl& parent, std::uint64_t completed);

}  // namespace tutti
