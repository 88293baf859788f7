#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <tutti/error.hpp>

namespace tutti::test {

/// A violated invariant.
class Finding : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool holds, std::string_view otherwise) {
  if (!holds) throw Finding(std::string(otherwise));
}

/// Requires an error to have one of the expected codes and a message.
inline void require_told(const Error& error, std::initializer_list<ErrorCode> expected) {
  const std::string message = error.what();
  require(!message.empty(), "an error has no message");
  require(std::find(expected.begin(), expected.end(), error.code()) != expected.end(),
          "unexpected error code " + std::string(name(error.code())) + ": " + message);
}

/// Returns f(), or nothing if f() throws an Error with one of the expected codes. Any other
/// exception is a finding.
template <class F>
auto attempt(F f, std::initializer_list<ErrorCode> expected = {ErrorCode::invalid_argument})
    -> std::optional<decltype(f())> {
  try {
    return f();
  } catch (const Error& error) {
    require_told(error, expected);
    return std::nullopt;
  }
}

}  // namespace tutti::test
