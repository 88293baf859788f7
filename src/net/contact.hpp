#pragma once

#include <string>
#include <vector>

#include "net/socket.hpp"

namespace tutti {

/// The addresses at which a rank can be reached.
struct Contact {
  std::string host{};                 ///< For messages only.
  std::vector<Endpoint> endpoints{};  ///< In the order in which to try them.
};

}  // namespace tutti
