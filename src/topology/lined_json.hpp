#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

/// A JSON value that knows the line of the text on which it begins, for error messages.
class LinedJson {
 public:
  enum class Kind : std::uint8_t { null, boolean, number, text, list, object };

  /// Throws invalid_argument that names the line; also for a duplicate member of an object.
  [[nodiscard]] static LinedJson parse(std::string_view text);

  /// Throws invalid_argument: "line 7: …".
  [[noreturn]] void reject(const std::string& what) const;

  /// These reject the value if it is of another kind.
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] double number() const;
  [[nodiscard]] std::uint32_t whole_number(std::uint32_t least, std::uint32_t most) const;
  [[nodiscard]] const std::vector<LinedJson>& items() const;
  [[nodiscard]] const LinedJson& member(std::string_view key) const;
  /// Null if there is no such member.
  [[nodiscard]] const LinedJson* find(std::string_view key) const;
  /// Rejects unknown members, which are mostly typing errors, and suggests the nearest known one.
  void allow_only(std::initializer_list<std::string_view> keys) const;

  [[nodiscard]] Kind kind() const { return kind_; }

 private:
  class Builder;

  Kind kind_ = Kind::null;
  std::size_t line_ = 1;
  bool boolean_ = false;
  double number_ = 0;
  std::string text_;
  std::vector<LinedJson> items_;
  std::vector<std::pair<std::string, LinedJson>> members_;
};

}  // namespace tutti
