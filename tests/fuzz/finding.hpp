#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <tutti/error.hpp>

namespace tutti::test {

/// Something that must hold does not.
class Finding : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool holds, std::string_view otherwise) {
  if (!holds) throw Finding(std::string(otherwise));
}

/// An error must be of a kind that the caller can expect here, and say something.
inline void require_told(const Error& error, std::initializer_list<ErrorCode> expected) {
  const std::string message = error.what();
  require(!message.empty(), "an error says nothing");
  require(std::find(expected.begin(), expected.end(), error.code()) != expected.end(),
          "an error is " + std::string(name(error.code())) + ", which nobody expects: " + message);
}

/// What f() returns; none if it throws an Error of one of these kinds. Whatever else it throws is a
/// finding.
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
