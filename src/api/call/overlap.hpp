#pragma once

#include <span>

#include <tutti/message.hpp>

namespace tutti {

/// Whether a send and a receive share memory. Sends may share it with each other. Takes time
/// n log n for n messages.
[[nodiscard]] bool overlap(std::span<const Outgoing> out, std::span<const Incoming> in);

}  // namespace tutti
