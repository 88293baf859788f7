#pragma once

#include <chrono>

namespace tutti {

/// Lets the system close a TCP connection whose peer has been silent for `lost_after`, by
/// keep-alive probes and the user timeout. The system's own limits are nine hours for an idle
/// connection and 24 days for one with data in flight. Has no effect on a connection within the
/// host.
void set_keep_alive(int fd, std::chrono::milliseconds lost_after);

}  // namespace tutti
