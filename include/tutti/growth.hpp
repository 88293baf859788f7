#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tutti {

/// How Communicator::grow() admits new processes.
struct Growth {
  /// Where rank 0 listens for them: "127.0.0.1:29600".
  std::string at{};
  std::uint32_t most = 1024;          ///< At most so many new processes.
  std::chrono::milliseconds wait{0};  ///< How long to wait for so many.
  /// For all ranks, new ones included, to connect. A new process that dies or stops meanwhile is
  /// noticed within about a second.
  std::chrono::milliseconds timeout{10000};
};

}  // namespace tutti
