#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "core/json.hpp"

namespace tutti {

/// An event of the JSON reader, in the order of the text.
struct JsonEvent {
  enum class Kind : std::uint8_t { value, key, begin_array, end_array, begin_object, end_object };
  Kind kind;
  std::size_t line;  ///< The line on which it ends, from 1.
  Json value{};      ///< A scalar value, or the key as a string.
};

/// The text is not JSON.
class JsonSyntaxError : public JsonError {
 public:
  JsonSyntaxError(const std::string& what, std::size_t line, std::string token)
      : JsonError(what), line_(line), token_(std::move(token)) {}

  [[nodiscard]] std::size_t line() const { return line_; }
  /// The unexpected token.
  [[nodiscard]] const std::string& token() const { return token_; }

 private:
  std::size_t line_;
  std::string token_;
};

/// Throws JsonSyntaxError. What `take` throws ends the reading.
void read_json(std::string_view text, const std::function<void(JsonEvent&)>& take);

}  // namespace tutti
