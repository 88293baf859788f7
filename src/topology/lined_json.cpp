#include "topology/lined_json.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <nlohmann/json.hpp>

#include <tutti/error.hpp>

#include "core/nearest.hpp"

namespace tutti {
namespace {

using Json = nlohmann::json;

/// The position of the parser. The parser reads one character past a number but never past the end
/// of the line, which counts as part of the line.
struct Position {
  std::size_t line = 1;
  bool at_end_of_line = false;

  void pass(char c) {
    if (at_end_of_line) ++line;
    at_end_of_line = c == '\n';
  }
};

/// Passes characters to the parser and counts lines.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Position* position) : at_(at), position_(position) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    position_->pass(*at_++);
    return *this;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  Position* position_;
};

[[noreturn]] void reject_at(std::size_t line, const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "line " + std::to_string(line) + ": " + what);
}

}  // namespace

/// Builds values from the parser's events.
class LinedJson::Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(const Position& position) : position_(position) {}

  [[nodiscard]] LinedJson take() { return std::move(root_); }

  bool null() override { return add(Kind::null); }
  bool boolean(bool value) override {
    LinedJson json = begin(Kind::boolean);
    json.boolean_ = value;
    return add(std::move(json));
  }
  bool number_integer(number_integer_t value) override {
    return add_number(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return add_number(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return add_number(value);
  }
  bool string(string_t& value) override {
    LinedJson json = begin(Kind::text);
    json.text_ = std::move(value);
    return add(std::move(json));
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(Kind::object); }
  bool key(string_t& value) override {
    const auto& members = open_.back().members_;
    // No object of any format has more. Each member is compared with all members before it.
    constexpr std::size_t most_members = 100;
    if (members.size() == most_members) {
      reject_at(position_.line,
                "the object has more than " + std::to_string(most_members) + " members");
    }
    const bool twice = std::any_of(members.begin(), members.end(),
                                   [&](const auto& member) { return member.first == value; });
    if (twice) reject_at(position_.line, "duplicate member \"" + value + "\"");
    keys_.push_back(std::move(value));
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(Kind::list); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t /*position*/, const std::string& last_token,
                   const nlohmann::detail::exception& /*error*/) override {
    reject_at(position_.line, "this is not JSON: unexpected '" + last_token + "'");
  }

 private:
  [[nodiscard]] LinedJson begin(Kind kind) const {
    LinedJson json;
    json.kind_ = kind;
    json.line_ = position_.line;
    return json;
  }
  bool add(Kind kind) { return add(begin(kind)); }
  bool add_number(double value) {
    LinedJson json = begin(Kind::number);
    json.number_ = value;
    return add(std::move(json));
  }
  bool open(Kind kind) {
    // Nested values are destroyed recursively; this limit bounds the stack.
    constexpr std::size_t deepest = 100;
    if (open_.size() == deepest) {
      reject_at(position_.line, "more than " + std::to_string(deepest) +
                                    " nested brackets and braces: remove some levels");
    }
    open_.push_back(begin(kind));
    return true;
  }
  bool close() {
    LinedJson json = std::move(open_.back());
    open_.pop_back();
    return add(std::move(json));
  }
  bool add(LinedJson json) {
    if (open_.empty()) {
      root_ = std::move(json);
    } else if (open_.back().kind_ == Kind::list) {
      open_.back().items_.push_back(std::move(json));
    } else {
      open_.back().members_.emplace_back(std::move(keys_.back()), std::move(json));
      keys_.pop_back();
    }
    return true;
  }

  const Position& position_;
  LinedJson root_;
  std::vector<LinedJson> open_;
  std::vector<std::string> keys_;
};

LinedJson LinedJson::parse(std::string_view text) {
  Position position;
  Builder builder(position);
  Json::sax_parse(CountingIterator(text.data(), &position),
                  CountingIterator(text.data() + text.size(), &position), &builder);
  return builder.take();
}

void LinedJson::reject(const std::string& what) const { reject_at(line_, what); }

const std::string& LinedJson::text() const {
  if (kind_ != Kind::text) reject("expected a string");
  return text_;
}

bool LinedJson::boolean() const {
  if (kind_ != Kind::boolean) reject("expected true or false");
  return boolean_;
}

double LinedJson::number() const {
  if (kind_ != Kind::number) reject("expected a number");
  return number_;
}

std::uint32_t LinedJson::whole_number(std::uint32_t least, std::uint32_t most) const {
  const bool fits = kind_ == Kind::number && number_ == std::floor(number_) && number_ >= least &&
                    number_ <= most;
  if (!fits) {
    reject("expected a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return static_cast<std::uint32_t>(number_);
}

const std::vector<LinedJson>& LinedJson::items() const {
  if (kind_ != Kind::list) reject("expected a list in brackets");
  return items_;
}

const LinedJson* LinedJson::find(std::string_view key) const {
  if (kind_ != Kind::object) reject("expected an object in braces");
  for (const auto& [each, value] : members_) {
    if (each == key) return &value;
  }
  return nullptr;
}

const LinedJson& LinedJson::member(std::string_view key) const {
  const LinedJson* const found = find(key);
  if (found == nullptr) reject("the member \"" + std::string(key) + "\" is missing");
  return *found;
}

void LinedJson::allow_only(std::initializer_list<std::string_view> keys) const {
  if (kind_ != Kind::object) reject("expected an object in braces");
  for (const auto& [key, value] : members_) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    std::string known;
    for (const std::string_view each : keys) known += " \"" + std::string(each) + "\"";
    value.reject("unknown member \"" + key + "\"." +
                 did_you_mean(key, std::vector<std::string_view>(keys)) + " Known are" + known);
  }
}

}  // namespace tutti
