#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tutti {

/// The text is not JSON, or the value has another kind or range than requested.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A JSON value: null, boolean, number, string, array or object.
///
/// Objects keep the order of insertion. nlohmann-json parses and formats the text, in json_text.cpp
/// only: it is header-only, and each file that includes it takes seconds longer to compile.
class Json {
 public:
  struct Member;
  class Item;
  /// How to parse an object that has a member twice.
  enum class Duplicates : std::uint8_t { last_wins, refuse };
  /// How to write a string that is not UTF-8: throw, or replace each invalid byte by U+FFFD.
  enum class NotUtf8 : std::uint8_t { refuse, replace };

  // Making ------------------------------------------------------------------------------------

  Json();  ///< Null.
  Json(std::nullptr_t);
  Json(bool value);
  Json(int value);
  Json(long value);
  Json(long long value);
  Json(unsigned value);
  Json(unsigned long value);
  Json(unsigned long long value);
  Json(double value);
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text);
  template <class T>
  Json(const std::vector<T>& list) : Json(array()) {
    for (const T& each : list) push_back(each);
  }
  /// Pairs of which all begin with a string make an object, anything else an array:
  /// Json{{"rank", 3}, {"host", "a"}} and Json{1, 2}.
  Json(std::initializer_list<Item> items);
  /// Any other pointer would convert to bool.
  template <class T>
  Json(const T*) = delete;

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  [[nodiscard]] static Json array();
  [[nodiscard]] static Json array(std::initializer_list<Item> items);
  [[nodiscard]] static Json object();

  /// Throws JsonError that names line and column.
  [[nodiscard]] static Json parse(std::string_view text,
                                  Duplicates duplicates = Duplicates::last_wins);
  /// No value if the text is not JSON.
  [[nodiscard]] static std::optional<Json> try_parse(std::string_view text);

  // Asking ------------------------------------------------------------------------------------

  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_boolean() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_number_integer() const;   ///< A number without fraction or exponent,
  [[nodiscard]] bool is_number_unsigned() const;  ///< and without sign.
  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_object() const;
  /// For messages: "null", "boolean", "number", "string", "array" or "object".
  [[nodiscard]] const char* type_name() const;

  /// The value as a bool, a number, a std::string, a Json or a vector of these. Throws JsonError if
  /// it is of another kind, or no such number: whole numbers must fit.
  template <class T>
  [[nodiscard]] T get() const;
  /// As get<std::string>(), without a copy.
  [[nodiscard]] const std::string& string() const;

  /// Of an array or an object; 0 for null and 1 for any other value.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }

  /// The values of an array. Throw JsonError if this is none.
  [[nodiscard]] const Json* begin() const;
  [[nodiscard]] const Json* end() const;
  [[nodiscard]] const Json& at(std::size_t index) const;
  [[nodiscard]] const Json& operator[](std::integral auto index) const {
    return at(static_cast<std::size_t>(index));
  }
  [[nodiscard]] Json& operator[](std::integral auto index) {
    return const_cast<Json&>(std::as_const(*this)[index]);
  }

  /// The members of an object. Throws JsonError if this is none.
  [[nodiscard]] const std::vector<Member>& items() const;
  /// Null if there is none of that key, or this is no object.
  [[nodiscard]] const Json* find(std::string_view key) const;
  [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }
  [[nodiscard]] const Json& at(std::string_view key) const;
  [[nodiscard]] const Json& operator[](const char* key) const { return at(key); }
  /// The member of that key as get() tells it, or `otherwise` if there is none.
  template <class T>
  [[nodiscard]] T value(std::string_view key, const T& otherwise) const;
  [[nodiscard]] std::string value(std::string_view key, const char* otherwise) const {
    return value(key, std::string(otherwise));
  }

  /// Numbers of different kinds are equal if their values are; the order of members matters.
  friend bool operator==(const Json& a, const Json& b);

  // Changing ----------------------------------------------------------------------------------

  /// The member of that key, which is made if there is none. Null becomes an object.
  [[nodiscard]] Json& operator[](std::string_view key);
  [[nodiscard]] Json& operator[](const char* key) { return (*this)[std::string_view(key)]; }
  [[nodiscard]] Json& operator[](const std::string& key) { return (*this)[std::string_view(key)]; }
  /// Sets all members of `object` in this object.
  void update(const Json& object);
  /// Appends to an array. Null becomes one.
  void push_back(Json value);
  /// Appends a member to an object. Requires: the object has no such member, which is not checked:
  /// a check would make building an object quadratic. Null becomes an object.
  void add(std::string key, Json value);

  // Writing -----------------------------------------------------------------------------------

  /// On one line, or with so many blanks of indentation on many. Throws JsonError if a string is
  /// not UTF-8.
  [[nodiscard]] std::string dump(int indent = -1, NotUtf8 not_utf8 = NotUtf8::refuse) const;
  /// As dump() does.
  friend std::ostream& operator<<(std::ostream& out, const Json& json);

 private:
  class Builder;
  class Writer;

  void take_nested(std::vector<Json>& nested);
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] double number() const;
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] std::uint64_t natural(std::uint64_t most) const;
  [[nodiscard]] const Json* member_for_value(std::string_view key) const;

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string,
               std::vector<Json>, std::vector<Member>>
      value_;
};

struct Json::Member {
  std::string key{};
  Json value{};

  friend bool operator==(const Member& a, const Member& b) = default;
};

/// An element of a braced list: a value or a nested list.
class Json::Item {
 public:
  template <std::convertible_to<Json> T>
  Item(T value) : value_(std::move(value)) {}
  Item(std::initializer_list<Item> items) : value_(items) {}

  /// An initializer_list is constant; moving out of its elements saves a deep copy.
  [[nodiscard]] Json&& take() const { return std::move(value_); }
  [[nodiscard]] const Json& value() const { return value_; }

 private:
  mutable Json value_;
};

template <class T>
T Json::get() const {
  if constexpr (std::same_as<T, bool>) {
    return boolean();
  } else if constexpr (std::unsigned_integral<T>) {
    return static_cast<T>(natural(std::numeric_limits<T>::max()));
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(number());
  } else if constexpr (std::same_as<T, std::string>) {
    return string();
  } else if constexpr (std::same_as<T, Json>) {
    return *this;
  } else {
    T list;
    for (const Json& each : *this) list.push_back(each.get<typename T::value_type>());
    return list;
  }
}

template <class T>
T Json::value(std::string_view key, const T& otherwise) const {
  const Json* const found = member_for_value(key);
  return found == nullptr ? otherwise : found->get<T>();
}

}  // namespace tutti
