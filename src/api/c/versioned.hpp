#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include <tutti/error.hpp>

namespace tutti {

/// A struct of the C API that begins with its size, as this version knows it. A caller with a newer
/// header may set no more than that. Throws what the caller is to do otherwise.
template <class T>
T known_part(const T& given, const char* name, const char* initializer) {
  if (given.size < sizeof(T)) {
    throw Error(ErrorCode::invalid_argument, std::string(name) + "->size is " +
                                                 std::to_string(given.size) + "; begin with " +
                                                 initializer);
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
  if (std::any_of(bytes + sizeof(T), bytes + given.size,
                  [](unsigned char each) { return each != 0; })) {
    throw Error(ErrorCode::unsupported,
                std::string(name) +
                    " says something that this version of the library does not know; its header is "
                    "newer: leave it out, or update the library");
  }
  return given;
}

}  // namespace tutti
