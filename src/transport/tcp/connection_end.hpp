#pragma once

#include <string>
#include <system_error>

#include <tutti/error.hpp>

namespace tutti {

/// Why a connection ended, as the rest of a sentence that begins with the peer's name.
[[nodiscard]] inline std::string disconnected(int error) {
  return "is no longer connected (" + std::generic_category().message(error) +
         "): it has died, or the network between is broken";
}

/// Throws peer_lost unless `end`, the reason why the connection ended, is empty.
inline void require_open(const std::string& end) {
  if (!end.empty()) throw Error(ErrorCode::peer_lost, end);
}

}  // namespace tutti
