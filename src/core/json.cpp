#include "core/json.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tutti {
namespace {

/// Words and numbers are those of nlohmann-json, like the syntax errors.
[[noreturn]] void reject_type(int number, const std::string& words) {
  throw JsonError("[json.exception.type_error." + std::to_string(number) + "] " + words);
}
[[noreturn]] void reject_range(int number, const std::string& words) {
  throw JsonError("[json.exception.out_of_range." + std::to_string(number) + "] " + words);
}
[[noreturn]] void reject_kind(const char* wanted, const Json& json) {
  reject_type(302, std::string("type must be ") + wanted + ", but is " + json.type_name());
}

[[noreturn]] void reject_number(const Json& json) {
  reject_range(406, "number out of range: " + json.dump());
}

}  // namespace

// Making -----------------------------------------------------------------------------------------

Json::Json() : value_(nullptr) {}
Json::Json(std::nullptr_t) : value_(nullptr) {}
Json::Json(bool value) : value_(value) {}
Json::Json(int value) : value_(std::int64_t{value}) {}
Json::Json(long value) : value_(std::int64_t{value}) {}
Json::Json(long long value) : value_(std::int64_t{value}) {}
Json::Json(unsigned value) : value_(std::uint64_t{value}) {}
Json::Json(unsigned long value) : value_(std::uint64_t{value}) {}
Json::Json(unsigned long long value) : value_(std::uint64_t{value}) {}
Json::Json(double value) : value_(value) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}

Json::Json(std::initializer_list<Item> items) {
  const bool is_object = std::all_of(items.begin(), items.end(), [](const Item& item) {
    return item.value().is_array() && item.value().size() == 2 && item.value()[0].is_string();
  });
  if (!is_object) {
    *this = array(items);
    return;
  }
  auto& members = value_.emplace<std::vector<Member>>();
  members.reserve(items.size());
  for (const Item& item : items) {
    auto pair = std::get<std::vector<Json>>(item.take().value_);
    auto& key = std::get<std::string>(pair[0].value_);
    if (find(key) == nullptr) members.push_back({std::move(key), std::move(pair[1])});
  }
}

Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept {
  value_ = std::exchange(other.value_, nullptr);
  return *this;
}

/// Takes nested values out first: recursive destruction would overflow the stack after parsing a
/// deeply nested text.
Json::~Json() {
  std::vector<Json> nested;
  take_nested(nested);
  while (!nested.empty()) {
    Json last = std::move(nested.back());
    nested.pop_back();
    last.take_nested(nested);
  }
}

void Json::take_nested(std::vector<Json>& nested) {
  const auto take = [&](Json& json) {
    if (json.is_array() || json.is_object()) nested.push_back(std::move(json));
  };
  if (auto* list = std::get_if<std::vector<Json>>(&value_)) {
    for (Json& each : *list) take(each);
  } else if (auto* members = std::get_if<std::vector<Member>>(&value_)) {
    for (Member& each : *members) take(each.value);
  }
}

Json Json::array() { return array({}); }

Json Json::array(std::initializer_list<Item> items) {
  Json json;
  auto& list = json.value_.emplace<std::vector<Json>>();
  list.reserve(items.size());
  for (const Item& item : items) list.push_back(item.take());
  return json;
}

Json Json::object() {
  Json json;
  json.value_.emplace<std::vector<Member>>();
  return json;
}

// Asking -----------------------------------------------------------------------------------------

bool Json::is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
bool Json::is_boolean() const { return std::holds_alternative<bool>(value_); }
bool Json::is_number() const {
  return is_number_integer() || std::holds_alternative<double>(value_);
}
bool Json::is_number_integer() const {
  return std::holds_alternative<std::int64_t>(value_) || is_number_unsigned();
}
bool Json::is_number_unsigned() const { return std::holds_alternative<std::uint64_t>(value_); }
bool Json::is_string() const { return std::holds_alternative<std::string>(value_); }
bool Json::is_array() const { return std::holds_alternative<std::vector<Json>>(value_); }
bool Json::is_object() const { return std::holds_alternative<std::vector<Member>>(value_); }

const char* Json::type_name() const {
  constexpr const char* names[] = {"null",   "boolean", "number", "number",
                                   "number", "string",  "array",  "object"};
  return names[value_.index()];
}

bool Json::boolean() const {
  if (!is_boolean()) reject_kind("boolean", *this);
  return std::get<bool>(value_);
}

double Json::number() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  reject_kind("number", *this);
}

std::int64_t Json::integer(std::int64_t least, std::int64_t most) const {
  if (const auto* natural = std::get_if<std::uint64_t>(&value_)) {
    if (std::cmp_less_equal(*natural, most)) return static_cast<std::int64_t>(*natural);
    reject_number(*this);
  }
  const auto* integer = std::get_if<std::int64_t>(&value_);
  const double real = number();
  const bool fits = integer != nullptr || (real == std::trunc(real) && std::abs(real) < 0x1p63);
  if (!fits) reject_number(*this);
  const std::int64_t value = integer != nullptr ? *integer : static_cast<std::int64_t>(real);
  if (value < least || value > most) reject_number(*this);
  return value;
}

std::uint64_t Json::natural(std::uint64_t most) const {
  const auto* natural = std::get_if<std::uint64_t>(&value_);
  const std::uint64_t value =
      natural != nullptr
          ? *natural
          : static_cast<std::uint64_t>(integer(0, std::numeric_limits<std::int64_t>::max()));
  if (value > most) reject_number(*this);
  return value;
}

const std::string& Json::string() const {
  if (!is_string()) reject_kind("string", *this);
  return std::get<std::string>(value_);
}

std::size_t Json::size() const {
  if (const auto* list = std::get_if<std::vector<Json>>(&value_)) return list->size();
  if (const auto* members = std::get_if<std::vector<Member>>(&value_)) return members->size();
  return is_null() ? 0 : 1;
}

const Json* Json::begin() const {
  if (!is_array()) reject_kind("array", *this);
  return std::get<std::vector<Json>>(value_).data();
}

const Json* Json::end() const { return begin() + size(); }

const Json& Json::at(std::size_t index) const {
  if (!is_array()) reject_type(304, std::string("cannot use at() with ") + type_name());
  const auto& list = std::get<std::vector<Json>>(value_);
  if (index < list.size()) return list[index];
  reject_range(401, "array index " + std::to_string(index) + " is out of range");
}

const std::vector<Json::Member>& Json::items() const {
  if (!is_object()) reject_kind("object", *this);
  return std::get<std::vector<Member>>(value_);
}

const Json* Json::find(std::string_view key) const {
  const auto* members = std::get_if<std::vector<Member>>(&value_);
  if (members == nullptr) return nullptr;
  const auto found = std::find_if(members->begin(), members->end(),
                                  [&](const Member& each) { return each.key == key; });
  return found == members->end() ? nullptr : &found->value;
}

const Json& Json::at(std::string_view key) const {
  if (!is_object()) reject_type(304, std::string("cannot use at() with ") + type_name());
  const Json* const found = find(key);
  if (found == nullptr) reject_range(403, "key '" + std::string(key) + "' not found");
  return *found;
}

const Json* Json::member_for_value(std::string_view key) const {
  if (!is_object()) reject_type(306, std::string("cannot use value() with ") + type_name());
  return find(key);
}

bool operator==(const Json& a, const Json& b) {
  if (!a.is_number() || !b.is_number() || a.value_.index() == b.value_.index()) {
    return a.value_ == b.value_;
  }
  if (!a.is_number_integer() || !b.is_number_integer()) return a.number() == b.number();
  return a.is_number_unsigned()
             ? std::cmp_equal(std::get<std::uint64_t>(a.value_), std::get<std::int64_t>(b.value_))
             : b == a;
}

// Changing ---------------------------------------------------------------------------------------

Json& Json::operator[](std::string_view key) {
  if (is_null()) *this = object();
  if (!is_object()) {
    reject_type(305,
                std::string("cannot use operator[] with a string argument with ") + type_name());
  }
  if (const Json* const found = find(key)) return const_cast<Json&>(*found);
  auto& members = std::get<std::vector<Member>>(value_);
  members.push_back({.key = std::string(key)});
  return members.back().value;
}

void Json::update(const Json& object) {
  for (const Member& each : object.items()) (*this)[each.key] = each.value;
}

void Json::push_back(Json value) {
  if (is_null()) *this = array();
  if (!is_array()) reject_type(308, std::string("cannot use push_back() with ") + type_name());
  std::get<std::vector<Json>>(value_).push_back(std::move(value));
}

void Json::add(std::string key, Json value) {
  if (is_null()) *this = object();
  (void)items();
  std::get<std::vector<Member>>(value_).push_back({std::move(key), std::move(value)});
}

}  // namespace tutti
