#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include <tutti/error.hpp>

namespace tutti {

/// Reads a struct of the C API that begins with its size, of which the first version had `least`
/// bytes. Members that a caller with an older header lacks are zero. A caller with a newer header
/// may have more members, which must be zero. Throws an error with the cure otherwise.
template <class T>
T known_part(const T& given, std::size_t least, const char* name, const char* initializer) {
  if (given.size < least) {
    throw Error(ErrorCode::invalid_argument, std::string(name) + "->size is " +
                                                 std::to_string(given.size) + "; start from " +
                                                 initializer);
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
  const std::size_t shared = std::min(given.size, sizeof(T));
  if (std::any_of(bytes + shared, bytes + given.size,
                  [](unsigned char each) { return each != 0; })) {
    throw Error(ErrorCode::unsupported,
                std::string(name) +
                    " sets a member that this version of the library does not know, since the "
                    "header is newer: leave it zero, or update the library");
  }
  T known{};
  std::memcpy(&known, &given, shared);
  return known;
}

}  // namespace tutti
