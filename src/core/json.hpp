#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <tutti/error.hpp>

namespace tutti {

/// A JSON value whose objects keep the order of insertion. Sources that make values include
/// core/json_value.hpp, which takes seconds to compile; reading and headers need only this file.
using Json = nlohmann::ordered_json;

/// A text that is not JSON or not the expected JSON. The message begins with the place: "line 7, at
/// /links/0/to: ...".
class JsonError : public Error {
 public:
  explicit JsonError(const std::string& message) : Error(ErrorCode::invalid_argument, message) {}
};

// Writing ----------------------------------------------------------------------------------------

/// How to write a string that is not UTF-8: throw JsonError, or replace each invalid byte by
/// U+FFFD.
enum class NotUtf8 : std::uint8_t { refuse, replace };

/// On one line, or on many with so many blanks of indentation.
[[nodiscard]] std::string json_text(const Json& value, int indent = -1,
                                    NotUtf8 not_utf8 = NotUtf8::refuse);
/// The JSON of a string, in quotes.
[[nodiscard]] std::string json_string(std::string_view text);
[[nodiscard]] std::string json_number(double value);

// Reading ----------------------------------------------------------------------------------------

/// A value of a document that somebody else wrote, with its path. Everything that is not as
/// expected is rejected with a JsonError that names the place, so a caller only says what it
/// expects.
class JsonReader {
 public:
  class Elements;

  /// Rejects duplicate members, and nesting so deep that recursion could overflow the stack.
  [[nodiscard]] static JsonReader parse(std::string_view text);
  /// Reads a value that was made rather than parsed.
  explicit JsonReader(Json document);

  /// Throws JsonError: "line 7, at /links/0/to: there is no node 'x'". A text of one line, and a
  /// value without text, have no line to name.
  [[noreturn]] void reject(const std::string& why) const;
  /// The result of `make`. An Error that it throws is rejected with the place of this value.
  template <class Make>
  auto checked(Make make) const {
    try {
      return make();
    } catch (const JsonError&) {
      throw;
    } catch (const Error& error) {
      reject(error.what());
    }
  }

  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_object() const;

  /// A bool, a number, a std::string, a JsonReader or a vector of these.
  template <class T>
  [[nodiscard]] T get() const;
  template <std::unsigned_integral T = std::uint64_t>
  [[nodiscard]] T whole(std::uint64_t least, std::uint64_t most) const {
    return static_cast<T>(natural(least, most));
  }
  [[nodiscard]] const std::string& string() const;

  /// Of an array.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] JsonReader operator[](std::size_t index) const;
  [[nodiscard]] Elements elements() const;

  /// Of an object.
  [[nodiscard]] JsonReader at(std::string_view key) const;
  [[nodiscard]] std::optional<JsonReader> find(std::string_view key) const;
  [[nodiscard]] bool contains(std::string_view key) const { return find(key).has_value(); }
  template <class T>
  [[nodiscard]] T value(std::string_view key, const T& otherwise) const;
  [[nodiscard]] std::string value(std::string_view key, const char* otherwise) const {
    return value(key, std::string(otherwise));
  }
  [[nodiscard]] std::vector<std::pair<std::string, JsonReader>> members() const;
  /// Rejects unknown members, which are mostly typing errors, and suggests the nearest known one.
  void allow_only(std::initializer_list<std::string_view> keys) const;

  [[nodiscard]] const Json& json() const { return *json_; }

 private:
  struct Document;

  explicit JsonReader(std::shared_ptr<const Document> document);
  JsonReader(std::shared_ptr<const Document> document, const Json& json, std::string path);
  [[nodiscard]] JsonReader child(const Json& json, std::string_view step) const;
  [[noreturn]] void expected(const std::string& what) const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] double number() const;
  [[nodiscard]] std::uint64_t natural(std::uint64_t least, std::uint64_t most) const;
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) const;

  std::shared_ptr<const Document> document_;
  const Json* json_;
  std::string path_;
};

/// The elements of an array, for a loop.
class JsonReader::Elements {
 public:
  class Iterator {
   public:
    Iterator(const JsonReader* array, std::size_t index) : array_(array), index_(index) {}
    JsonReader operator*() const { return (*array_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) = default;

   private:
    const JsonReader* array_;
    std::size_t index_;
  };

  explicit Elements(JsonReader array) : array_(std::move(array)), size_(array_.size()) {}
  [[nodiscard]] Iterator begin() const { return {&array_, 0}; }
  [[nodiscard]] Iterator end() const { return {&array_, size_}; }

 private:
  JsonReader array_;
  std::size_t size_;
};

template <class T>
T JsonReader::get() const {
  if constexpr (std::same_as<T, bool>) {
    return boolean();
  } else if constexpr (std::unsigned_integral<T>) {
    return whole<T>(0, std::numeric_limits<T>::max());
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(number());
  } else if constexpr (std::same_as<T, std::string>) {
    return string();
  } else if constexpr (std::same_as<T, JsonReader>) {
    return *this;
  } else {
    T list;
    for (const JsonReader each : elements()) list.push_back(each.get<typename T::value_type>());
    return list;
  }
}

template <class T>
T JsonReader::value(std::string_view key, const T& otherwise) const {
  const std::optional<JsonReader> found = find(key);
  return found ? found->get<T>() : otherwise;
}

}  // namespace tutti
