#include "core/json_text.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <ostream>
#include <utility>

#include <nlohmann/json.hpp>

/// The only file that includes nlohmann-json.
namespace tutti {
namespace {

using Library = nlohmann::json;

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

/// Translates the parser's events.
class Translator : public nlohmann::json_sax<Library> {
 public:
  Translator(const Position& position, const std::function<void(JsonEvent&)>& take)
      : position_(position), take_(take) {}

  bool null() override { return tell(Json()); }
  bool boolean(bool value) override { return tell(value); }
  bool number_integer(number_integer_t value) override { return tell(value); }
  bool number_unsigned(number_unsigned_t value) override { return tell(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return tell(value); }
  bool string(string_t& value) override { return tell(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool key(string_t& value) override { return tell(std::move(value), JsonEvent::Kind::key); }
  bool start_object(std::size_t /*size*/) override { return tell(JsonEvent::Kind::begin_object); }
  bool end_object() override { return tell(JsonEvent::Kind::end_object); }
  bool start_array(std::size_t /*size*/) override { return tell(JsonEvent::Kind::begin_array); }
  bool end_array() override { return tell(JsonEvent::Kind::end_array); }
  bool parse_error(std::size_t /*position*/, const std::string& last_token,
                   const nlohmann::detail::exception& error) override {
    throw JsonSyntaxError(error.what(), position_.line, last_token);
  }

 private:
  bool tell(Json value, JsonEvent::Kind kind = JsonEvent::Kind::value) {
    JsonEvent event{.kind = kind, .line = position_.line, .value = std::move(value)};
    take_(event);
    return true;
  }
  bool tell(JsonEvent::Kind kind) { return tell(Json(), kind); }

  const Position& position_;
  const std::function<void(JsonEvent&)>& take_;
};

/// Whether no character needs to be escaped.
bool is_plain(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char each) {
    const auto byte = static_cast<unsigned char>(each);
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
  });
}

void append(double value, std::string& out) { out += Library(value).dump(); }

void append(const std::string& text, Json::NotUtf8 not_utf8, std::string& out) {
  if (is_plain(text)) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  const bool replaces = not_utf8 == Json::NotUtf8::replace;
  try {
    out += Library(text).dump(
        -1, ' ', false,
        replaces ? Library::error_handler_t::replace : Library::error_handler_t::strict);
  } catch (const Library::exception& error) {
    throw JsonError(error.what());
  }
}

}  // namespace

void read_json(std::string_view text, const std::function<void(JsonEvent&)>& take) {
  Position position;
  Translator translator(position, take);
  Library::sax_parse(CountingIterator(text.data(), &position),
                     CountingIterator(text.data() + text.size(), &position), &translator);
}

/// Builds values from the parser's events.
class Json::Builder final : public nlohmann::json_sax<Library> {
 public:
  explicit Builder(Duplicates duplicates) : duplicates_(duplicates) {}

  bool null() override { return put(Json()); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool key(string_t& value) override { return begin_member(std::move(value)); }
  bool start_object(std::size_t /*size*/) override { return begin(object()); }
  bool end_object() override { return end(); }
  bool start_array(std::size_t /*size*/) override { return begin(array()); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*last_token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

  [[nodiscard]] Json take_root() { return std::move(root_); }

 private:
  struct Open {
    Json json{};
    std::size_t member = 0;                     // The member that the next value belongs to.
    std::map<std::string, std::size_t> keys{};  // Indices by key, for objects with many members.
  };

  bool begin(Json json) {
    open_.push_back({.json = std::move(json)});
    return true;
  }

  bool end() {
    Json made = std::move(open_.back().json);
    open_.pop_back();
    return put(std::move(made));
  }

  bool begin_member(std::string key) {
    Open& object = open_.back();
    auto& members = std::get<std::vector<Member>>(object.json.value_);
    object.member = place_of(key, object, members);
    if (object.member == members.size()) {
      members.push_back({.key = std::move(key)});
    } else if (duplicates_ == Duplicates::refuse) {
      throw JsonError("an object has the member \"" + key + "\" twice");
    }
    return true;
  }

  /// The index of the member with that key, or the number of members.
  [[nodiscard]] static std::size_t place_of(const std::string& key, Open& object,
                                            const std::vector<Member>& members) {
    // A linear search is fastest for few members, but quadratic for many.
    constexpr std::size_t few = 16;
    if (members.size() < few) {
      const auto found = std::find_if(members.begin(), members.end(),
                                      [&](const Member& each) { return each.key == key; });
      return static_cast<std::size_t>(found - members.begin());
    }
    if (object.keys.empty()) {
      for (std::size_t i = 0; i < members.size(); ++i) object.keys.emplace(members[i].key, i);
    }
    return object.keys.emplace(key, members.size()).first->second;
  }

  bool put(Json json) {
    if (open_.empty()) {
      root_ = std::move(json);
    } else if (auto* list = std::get_if<std::vector<Json>>(&open_.back().json.value_)) {
      list->push_back(std::move(json));
    } else {
      auto& members = std::get<std::vector<Member>>(open_.back().json.value_);
      members[open_.back().member].value = std::move(json);
    }
    return true;
  }

  Duplicates duplicates_;
  Json root_;
  std::vector<Open> open_;
};

Json Json::parse(std::string_view text, Duplicates duplicates) {
  Builder builder(duplicates);
  if (!Library::sax_parse(text.data(), text.data() + text.size(), &builder)) {
    // Counting lines takes time, so it is done only to say where the error is.
    read_json(text, [](JsonEvent&) {});
  }
  return builder.take_root();
}

std::optional<Json> Json::try_parse(std::string_view text) {
  try {
    return parse(text);
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

class Json::Writer {
 public:
  Writer(int indent, NotUtf8 not_utf8, std::string& out)
      : indent_(indent), not_utf8_(not_utf8), out_(out) {}

  void write(const Json& json) {
    std::visit([this](const auto& value) { put(value); }, json.value_);
  }

 private:
  void put(std::nullptr_t) { out_ += "null"; }
  void put(bool value) { out_ += value ? "true" : "false"; }
  void put(std::int64_t value) { out_ += std::to_string(value); }
  void put(std::uint64_t value) { out_ += std::to_string(value); }
  void put(double value) { append(value, out_); }
  void put(const std::string& text) { append(text, not_utf8_, out_); }
  void put(const std::vector<Json>& list) {
    put_all(list, '[', ']', [this](const Json& each) { write(each); });
  }
  void put(const std::vector<Member>& members) {
    put_all(members, '{', '}', [this](const Member& each) {
      put(each.key);
      out_ += is_pretty() ? ": " : ":";
      write(each.value);
    });
  }

  template <class List, class PutOne>
  void put_all(const List& list, char open, char close, PutOne put_one) {
    out_ += open;
    if (!list.empty()) {
      ++depth_;
      bool is_first = true;
      for (const auto& each : list) {
        if (!is_first) out_ += ',';
        is_first = false;
        new_line();
        put_one(each);
      }
      --depth_;
      new_line();
    }
    out_ += close;
  }

  [[nodiscard]] bool is_pretty() const { return indent_ >= 0; }
  void new_line() {
    if (!is_pretty()) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_) * depth_, ' ');
  }

  int indent_;
  NotUtf8 not_utf8_;
  std::string& out_;
  std::size_t depth_ = 0;
};

std::string Json::dump(int indent, NotUtf8 not_utf8) const {
  std::string out;
  Writer(indent, not_utf8, out).write(*this);
  return out;
}

std::ostream& operator<<(std::ostream& out, const Json& json) { return out << json.dump(); }

}  // namespace tutti
