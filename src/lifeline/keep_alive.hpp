#pragma once

#include <chrono>

namespace tutti {

/// Lets the system break a TCP connection off whose other end has said nothing for so long, as far
/// as it can count: nine hours for one that is idle, and 24 days for one with data under way. Of no
/// effect on a connection within the host.
void break_off_silence(int fd, std::chrono::milliseconds lost_after);

}  // namespace tutti
