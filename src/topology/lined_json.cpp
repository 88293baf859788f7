#include "topology/lined_json.hpp"

#include <algorithm>
#include <cmath>

#include <tutti/error.hpp>

#include "core/json_text.hpp"
#include "core/nearest.hpp"

namespace tutti {
namespace {

[[noreturn]] void reject_at(std::size_t line, const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "line " + std::to_string(line) + ": " + what);
}

}  // namespace

/// Builds values from the reader's events.
class LinedJson::Builder {
 public:
  [[nodiscard]] LinedJson take() { return std::move(root_); }

  void handle(const JsonEvent& event) {
    switch (event.kind) {
      case JsonEvent::Kind::value:
        return add(scalar(event));
      case JsonEvent::Kind::key:
        return begin_member(event);
      case JsonEvent::Kind::begin_array:
        return open(Kind::list, event.line);
      case JsonEvent::Kind::begin_object:
        return open(Kind::object, event.line);
      case JsonEvent::Kind::end_array:
      case JsonEvent::Kind::end_object: {
        LinedJson json = std::move(open_.back());
        open_.pop_back();
        return add(std::move(json));
      }
    }
  }

 private:
  [[nodiscard]] static LinedJson begin(Kind kind, std::size_t line) {
    LinedJson json;
    json.kind_ = kind;
    json.line_ = line;
    return json;
  }

  [[nodiscard]] static LinedJson scalar(const JsonEvent& event) {
    const Json& value = event.value;
    LinedJson json = begin(value.is_boolean()  ? Kind::boolean
                           : value.is_number() ? Kind::number
                           : value.is_string() ? Kind::text
                                               : Kind::null,
                           event.line);
    if (value.is_boolean()) json.boolean_ = value.get<bool>();
    if (value.is_number()) json.number_ = value.get<double>();
    if (value.is_string()) json.text_ = value.string();
    return json;
  }

  void begin_member(const JsonEvent& event) {
    const std::string& key = event.value.string();
    const auto& members = open_.back().members_;
    // No object of any format has more. Each member is compared with all members before it.
    constexpr std::size_t most_members = 100;
    if (members.size() == most_members) {
      reject_at(event.line,
                "the object has more than " + std::to_string(most_members) + " members");
    }
    const bool twice = std::any_of(members.begin(), members.end(),
                                   [&](const auto& member) { return member.first == key; });
    if (twice) reject_at(event.line, "duplicate member \"" + key + "\"");
    keys_.push_back(key);
  }

  void open(Kind kind, std::size_t line) {
    // Nested values are destroyed recursively; this limit bounds the stack.
    constexpr std::size_t deepest = 100;
    if (open_.size() == deepest) {
      reject_at(line, "more than " + std::to_string(deepest) +
                          " nested brackets and braces: remove some levels");
    }
    open_.push_back(begin(kind, line));
  }

  void add(LinedJson json) {
    if (open_.empty()) {
      root_ = std::move(json);
    } else if (open_.back().kind_ == Kind::list) {
      open_.back().items_.push_back(std::move(json));
    } else {
      open_.back().members_.emplace_back(std::move(keys_.back()), std::move(json));
      keys_.pop_back();
    }
  }

  LinedJson root_;
  std::vector<LinedJson> open_;
  std::vector<std::string> keys_;
};

LinedJson LinedJson::parse(std::string_view text) {
  Builder builder;
  try {
    read_json(text, [&](const JsonEvent& event) { builder.handle(event); });
  } catch (const JsonSyntaxError& error) {
    reject_at(error.line(), "this is not JSON: unexpected '" + error.token() + "'");
  }
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
