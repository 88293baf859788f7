#pragma once

#include <cstdint>
#include <optional>

#include "api/communicator_impl.hpp"

namespace tutti {

/// See Communicator::split().
[[nodiscard]] std::optional<Communicator> split(Communicator::Impl& parent,
                                                std::optional<std::uint32_t> color,
                                                std::uint32_t key,
                                                const CommunicatorOptions& options);

}  // namespace tutti
