#pragma once

#include <string>

#include "net/socket.hpp"

namespace tutti::test {

/// An address with a port that was free a moment ago.
inline std::string free_address() {
  const Socket socket = listen_on(Endpoint::parse("127.0.0.1:0"), {});
  return bound_to(socket).text();
}

}  // namespace tutti::test
