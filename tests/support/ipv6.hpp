#pragma once

#include <tutti/error.hpp>

#include "net/socket.hpp"

namespace tutti::test {

/// Whether this host has the loopback address of IPv6. Containers often have none.
[[nodiscard]] inline bool has_ipv6() {
  try {
    (void)listen_on(Endpoint::parse("[::1]:0"), {});
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace tutti::test
