#include "core/json.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "core/json_value.hpp"
#include "core/nearest.hpp"
#include "core/shortened.hpp"

namespace tutti {
namespace {

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

/// nlohmann-json's message without "[json.exception.type_error.316] ".
std::string words_of(const std::exception& error) {
  const std::string words = error.what();
  const std::size_t end = words.find("] ");
  return end == std::string::npos ? words : words.substr(end + 2);
}

/// Builds a value from the parser's events. Unlike nlohmann's own builder it rejects duplicate
/// members and deep nesting, and takes linear time for an object of many members.
class JsonBuilder final : public nlohmann::json_sax<Json> {
 public:
  /// Without a position, it stops at an error; with one, it throws an error that names the line.
  explicit JsonBuilder(const Position* position = nullptr) : position_(position) {}

  /// Stops where the value of that path begins.
  void stop_at(const std::string& path) { sought_ = &path; }

  [[nodiscard]] Json take_root() { return std::move(root_); }

  bool null() override { return scalar(nullptr); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(number_integer_t value) override { return scalar(value); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return scalar(value);
  }
  bool string(string_t& value) override { return scalar(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(true); }
  bool start_array(std::size_t /*size*/) override { return open(false); }

  bool key(string_t& key) override {
    Open& object = open_.back();
    if (!is_new(object, key)) return fail("duplicate member \"" + key + "\"");
    object.members.emplace_back(std::move(key), nullptr);
    return true;
  }

  bool end_object() override {
    Json json = Json::object();
    auto& made = json.get_ref<Json::object_t&>();
    std::vector<std::pair<std::string, Json>> members = std::move(open_.back().members);
    made.reserve(members.size());
    for (auto& [key, value] : members) made.emplace_back(std::move(key), std::move(value));
    open_.pop_back();
    return put(std::move(json));
  }

  bool end_array() override {
    Json json = std::move(open_.back().elements);
    open_.pop_back();
    return put(std::move(json));
  }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    // "parse error at line 1, column 5: syntax error while ..."; some errors have no place.
    const std::string words = words_of(error);
    const std::size_t place = words.find("line ");
    const std::size_t end = words.find(": ");
    if (position_ == nullptr || place == std::string::npos || end < place) {
      return fail("this is not JSON: " + words);
    }
    throw JsonError(words.substr(place, end - place) + ": this is not JSON" + words.substr(end));
  }

 private:
  /// An array or object that has not ended.
  struct Open {
    bool is_object;
    Json::array_t elements{};
    // A Json object would copy its members, with all that is in them, whenever it grows.
    std::vector<std::pair<std::string, Json>> members{};
    std::set<std::string> keys{};  // Those of members, if they are many.
  };

  bool fail(const std::string& why) const {
    if (position_ == nullptr) return false;
    throw JsonError("line " + std::to_string(position_->line) + ": " + why);
  }

  [[nodiscard]] static bool is_new(Open& object, const std::string& key) {
    // A linear search is fastest for few members, but quadratic for many.
    constexpr std::size_t few = 16;
    const auto& members = object.members;
    if (members.size() < few) {
      return std::none_of(members.begin(), members.end(),
                          [&](const auto& each) { return each.first == key; });
    }
    if (object.keys.empty()) {
      for (const auto& each : members) object.keys.insert(each.first);
    }
    return object.keys.insert(key).second;
  }

  [[nodiscard]] bool is_sought() const {
    if (sought_ == nullptr) return false;
    std::string path;
    for (const Open& each : open_) {
      path +=
          "/" + (each.is_object ? each.members.back().first : std::to_string(each.elements.size()));
    }
    return path == *sought_;
  }

  bool open(bool is_object) {
    // Values are copied and written recursively; this limit bounds the stack.
    constexpr std::size_t deepest = 100;
    if (open_.size() == deepest) {
      return fail("more than " + std::to_string(deepest) +
                  " nested brackets and braces: remove some levels");
    }
    if (is_sought()) return false;
    open_.push_back({.is_object = is_object});
    return true;
  }

  bool scalar(Json value) { return !is_sought() && put(std::move(value)); }

  bool put(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().is_object) {
      open_.back().members.back().second = std::move(value);
    } else {
      open_.back().elements.push_back(std::move(value));
    }
    return true;
  }

  const Position* position_;
  const std::string* sought_ = nullptr;
  Json root_;
  std::vector<Open> open_;
};

void read_counting_lines(std::string_view text, Position& position, JsonBuilder& builder) {
  Json::sax_parse(CountingIterator(text.data(), &position),
                  CountingIterator(text.data() + text.size(), &position), &builder);
}

Json parsed(std::string_view text) {
  JsonBuilder builder;
  if (!Json::sax_parse(text.data(), text.data() + text.size(), &builder)) {
    // Counting lines takes time, so it is done only to say where the error is.
    Position position;
    JsonBuilder again(&position);
    read_counting_lines(text, position, again);
  }
  return builder.take_root();
}

/// The line on which the value of that path begins.
std::size_t line_of(const std::string& path, std::string_view text) {
  Position position;
  JsonBuilder builder;
  builder.stop_at(path);
  read_counting_lines(text, position, builder);
  return position.line;
}

}  // namespace

// Writing ----------------------------------------------------------------------------------------

std::string json_text(const Json& value, int indent, NotUtf8 not_utf8) {
  try {
    return value.dump(indent, ' ', false,
                      not_utf8 == NotUtf8::replace ? Json::error_handler_t::replace
                                                   : Json::error_handler_t::strict);
  } catch (const Json::exception& error) {
    throw JsonError("names and other texts must be UTF-8: " + words_of(error));
  }
}

std::string json_string(std::string_view text) { return json_text(text); }
std::string json_number(double value) { return json_text(value); }

// Reading ----------------------------------------------------------------------------------------

struct JsonReader::Document {
  std::string text;
  Json root;
};

JsonReader::JsonReader(std::shared_ptr<const Document> document, const Json& json, std::string path)
    : document_(std::move(document)), json_(&json), path_(std::move(path)) {}

JsonReader::JsonReader(std::shared_ptr<const Document> document)
    : document_(std::move(document)), json_(&document_->root) {}

JsonReader::JsonReader(Json document)
    : JsonReader(
          std::make_shared<const Document>(Document{.text = "", .root = std::move(document)})) {}

JsonReader JsonReader::parse(std::string_view text) {
  return JsonReader(
      std::make_shared<const Document>(Document{.text = std::string(text), .root = parsed(text)}));
}

JsonReader JsonReader::child(const Json& json, std::string_view step) const {
  std::string path = path_ + "/";
  path += step;
  return {document_, json, std::move(path)};
}

void JsonReader::reject(const std::string& why) const {
  const std::string& text = document_->text;
  const bool has_lines = text.find('\n') != std::string::npos;
  const std::string line = has_lines ? "line " + std::to_string(line_of(path_, text)) + ", " : "";
  throw JsonError(line + "at " + (path_.empty() ? "/" : path_) + ": " + why);
}

void JsonReader::expected(const std::string& what) const {
  constexpr std::size_t longest = 64;
  reject("expected " + what + ", not " +
         (json_->is_structured() ? "an " + std::string(json_->type_name())
                                 : shortened(json_text(*json_), longest)));
}

bool JsonReader::is_null() const { return json_->is_null(); }
bool JsonReader::is_number() const { return json_->is_number(); }
bool JsonReader::is_string() const { return json_->is_string(); }
bool JsonReader::is_array() const { return json_->is_array(); }
bool JsonReader::is_object() const { return json_->is_object(); }

bool JsonReader::boolean() const {
  if (!json_->is_boolean()) expected("true or false");
  return json_->get<bool>();
}

double JsonReader::number() const {
  if (!is_number()) expected("a number");
  return json_->get<double>();
}

const std::string& JsonReader::string() const {
  if (!is_string()) expected("a string");
  return json_->get_ref<const std::string&>();
}

std::uint64_t JsonReader::natural(std::uint64_t least, std::uint64_t most) const {
  // Numbers that were parsed are unsigned, those that were made of an int are not.
  const bool fits = json_->is_number_unsigned() ||
                    (json_->is_number_integer() && json_->get<std::int64_t>() >= 0);
  const std::uint64_t value = fits ? json_->get<std::uint64_t>() : 0;
  if (!fits || value < least || value > most) {
    expected("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

std::int64_t JsonReader::integer(std::int64_t least, std::int64_t most) const {
  const bool fits = json_->is_number_unsigned()
                        ? std::in_range<std::int64_t>(json_->get<std::uint64_t>())
                        : json_->is_number_integer();
  const std::int64_t value = fits ? json_->get<std::int64_t>() : 0;
  if (!fits || value < least || value > most) {
    expected("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

std::size_t JsonReader::size() const {
  if (!is_array()) expected("a list in brackets");
  return json_->size();
}

JsonReader JsonReader::operator[](std::size_t index) const {
  if (index >= size()) reject("there is no element " + std::to_string(index));
  return child((*json_)[index], std::to_string(index));
}

JsonReader::Elements JsonReader::elements() const { return Elements(*this); }

std::optional<JsonReader> JsonReader::find(std::string_view key) const {
  if (!is_object()) expected("an object in braces");
  const auto found = json_->find(std::string(key));
  if (found == json_->end()) return std::nullopt;
  return child(*found, key);
}

JsonReader JsonReader::at(std::string_view key) const {
  std::optional<JsonReader> found = find(key);
  if (!found) reject("the member \"" + std::string(key) + "\" is missing");
  return *std::move(found);
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() const {
  if (!is_object()) expected("an object in braces");
  std::vector<std::pair<std::string, JsonReader>> all;
  for (const auto& [key, value] : json_->get_ref<const Json::object_t&>()) {
    all.emplace_back(key, child(value, key));
  }
  return all;
}

void JsonReader::allow_only(std::initializer_list<std::string_view> keys) const {
  if (!is_object()) expected("an object in braces");
  for (const auto& [key, value] : json_->get_ref<const Json::object_t&>()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    std::string known;
    for (const std::string_view each : keys) known += " \"" + std::string(each) + "\"";
    child(value, key)
        .reject("unknown member \"" + key + "\"." +
                did_you_mean(key, std::vector<std::string_view>(keys)) + " Known are" + known);
  }
}

}  // namespace tutti
