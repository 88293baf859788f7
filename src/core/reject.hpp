#pragma once

#include <string>

#include <tutti/error.hpp>

namespace tutti {

[[noreturn]] inline void reject(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

}  // namespace tutti
