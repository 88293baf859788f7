#pragma once

#include <string>
#include <vector>

#include "net/socket.hpp"

namespace tutti {

/// Where a rank can be reached.
struct Contact {
  std::string host{};                 ///< For people to read.
  std::vector<Endpoint> endpoints{};  ///< In the order in which to try them.
};

}  // namespace tutti
