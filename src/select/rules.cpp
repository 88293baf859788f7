#include "select/rules.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <tutti/error.hpp>

#include "algorithms/lecture_names.hpp"
#include "core/bounded_file.hpp"
#include "core/hash.hpp"
#include "core/nearest.hpp"
#include "core/quantity.hpp"

namespace tutti {
namespace {

[[noreturn]] void refuse(const std::string& source, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, source + ": " + why);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

Collective collective_from(std::string_view text, const std::string& source) {
  try {
    return parse_collective(text);
  } catch (const Error& error) {
    refuse(source, error.what());
  }
}

/// "ring" of "allreduce/ring".
std::string_view short_name(const Algorithm& each) {
  return each.name.substr(each.name.find('/') + 1);
}

/// "chain" of "chain:segments=8".
std::string_view without_values(std::string_view text) { return text.substr(0, text.find(':')); }

/// True if some collective has an algorithm of this name.
bool names_algorithm(std::string_view text) {
  return std::ranges::any_of(collectives(),
                             [&](Collective each) { return !table_name(each, text).empty(); });
}

/// "ring" of "allreduce/ring" and of "all_reduce/ring", if that is the collective.
std::string_view without_collective(Collective collective, std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return name;
  try {
    if (parse_collective(name.substr(0, slash)) != collective) return name;
  } catch (const Error&) {
    return name;
  }
  return name.substr(slash + 1);
}

/// With the values of its parameters that the text names. Null if there is no such algorithm;
/// throws invalid_argument if it has no such values.
const Algorithm* find_algorithm(Collective collective, std::string_view text,
                                const std::string& source) {
  const std::string_view name = without_values(text);
  const std::string_view known = table_name(collective, without_collective(collective, name));
  for (const Algorithm& each : algorithms(collective)) {
    if (short_name(each) != known) continue;
    try {
      return &algorithm(std::string(each.name) + std::string(text.substr(name.size())));
    } catch (const Error& error) {
      refuse(source, error.what());
    }
  }
  return nullptr;
}

[[noreturn]] void refuse_algorithm(Collective collective, std::string_view text,
                                   const std::string& source) {
  const bool is_path = text.find('/') != std::string_view::npos;
  std::vector<std::string_view> names;
  std::string list;
  for (const Algorithm& each : algorithms(collective)) {
    names.push_back(is_path ? each.name : short_name(each));
    list += (list.empty() ? "" : ", ") + std::string(names.back());
  }
  refuse(source, "there is no " + std::string(name(collective)) + " by '" + std::string(text) +
                     "'; there are " + list + ", and file:PATH for a schedule." +
                     did_you_mean(text, names));
}

/// The source of rules, and the directory to which paths in them are relative.
struct Origin {
  const std::string& source;
  std::string folder{};
};

bool is_file(std::string_view name) { return name.starts_with(file_prefix); }

ProvedSchedule schedule_from(std::string_view text, bool excludes, const Origin& origin) {
  if (excludes) {
    refuse(origin.source,
           "'" + std::string(text) +
               "' is excluded, but schedules are used only if they are named: remove it");
  }
  try {
    return schedule_named(text, origin.folder);
  } catch (const Error& error) {
    refuse(origin.source, error.what());
  }
}

Method method_from(Collective collective, std::string_view text, bool excludes,
                   const Origin& origin) {
  if (is_file(text)) {
    const ProvedSchedule schedule = schedule_from(text, excludes, origin);
    const Collective own = schedule.contract().collective;
    if (own == collective) return schedule;
    refuse(origin.source, "'" + std::string(text) + "' is for " + std::string(name(own)) +
                              ", not for " + std::string(name(collective)));
  }
  const Algorithm* const found = find_algorithm(collective, text, origin.source);
  if (found == nullptr) refuse_algorithm(collective, text, origin.source);
  return *found;
}

/// "4-8", "4-", "-8", "4".
template <class Parse>
Range range_from(std::string_view text, const std::string& source, Parse parse) {
  const std::size_t dash = text.find('-');
  Range range;
  try {
    if (dash == std::string_view::npos) return {.least = parse(text), .most = parse(text)};
    if (dash > 0) range.least = parse(text.substr(0, dash));
    if (dash + 1 < text.size()) range.most = parse(text.substr(dash + 1));
  } catch (const Error& error) {
    refuse(source, "'" + std::string(text) +
                       "' is not a range such as 1KiB-64KiB, 1MiB- or -4KiB: " + error.what());
  }
  if (range.least > range.most || text == "-") {
    refuse(source, "the range '" + std::string(text) + "' is empty");
  }
  return range;
}

std::uint64_t parse_count(std::string_view text) { return parse_bytes(text); }

/// One item of a list: "allreduce/ring", "^allreduce/ring", "allreduce/ring@1MiB-", "ring".
struct Item {
  std::string_view name{};
  Range bytes{};
  bool excludes = false;
};

Item item_from(std::string_view text, const std::string& source) {
  text = trimmed(text);
  Item item{.excludes = text.starts_with('^')};
  if (item.excludes) text.remove_prefix(1);
  const std::size_t at = text.rfind('@');
  item.name = trimmed(text.substr(0, at));
  if (item.name.empty()) {
    refuse(source,
           "a name is missing; write, for example, allreduce/ring, ^allreduce/ring or "
           "allreduce/mesh@-4KiB,allreduce/ring@1MiB-");
  }
  if (at != std::string_view::npos) {
    item.bytes = range_from(trimmed(text.substr(at + 1)), source, parse_bytes);
  }
  return item;
}

/// "allreduce" of "allreduce/ring:k=2"; empty if the name has no collective.
std::string_view collective_in(std::string_view name) {
  const std::string_view path = without_values(name);
  const std::size_t slash = path.find('/');
  return is_file(name) || slash == std::string_view::npos ? "" : path.substr(0, slash);
}

bool overlap(const Range& one, const Range& other) {
  return one.least <= other.most && other.least <= one.most;
}

/// Items with equal ranges form one rule: the fastest of them is chosen. `first` is the first rule
/// to which they may be added. Names to use beside names to avoid would have no effect.
void add_item(std::vector<Rule>& rules, std::size_t first, const Item& item, const Method& method,
              const std::string& source) {
  Rule* same = nullptr;
  for (Rule& rule : std::span(rules).subspan(first)) {
    if (rule.collective != method.collective()) continue;
    if (rule.excludes != item.excludes && overlap(rule.bytes, item.bytes)) {
      refuse(source, "'" + std::string(item.name) + "' is to be " +
                         (item.excludes ? "avoided" : "used") + ", but '" +
                         std::string(rule.methods.front().name()) + "' is to be " +
                         (rule.excludes ? "avoided" : "used") +
                         ": write ^ before each name to avoid, or name only those to use");
    }
    if (rule.excludes == item.excludes && rule.bytes == item.bytes) same = &rule;
  }
  if (same != nullptr) {
    same->methods.push_back(method);
    return;
  }
  rules.push_back({.collective = method.collective(),
                   .bytes = item.bytes,
                   .excludes = item.excludes,
                   .methods = {method},
                   .source = source});
}

/// A bare name applies to every collective that has an algorithm of that name.
void add_to_all(std::vector<Rule>& rules, std::size_t first, const Item& item,
                const std::string& source) {
  if (!names_algorithm(without_values(item.name))) {
    std::vector<std::string_view> known;
    for (const Algorithm& each : algorithms()) known.push_back(short_name(each));
    refuse(source, "no collective has an algorithm '" + std::string(item.name) +
                       "'; `tutti list` shows all." + did_you_mean(item.name, known));
  }
  for (const Collective collective : collectives()) {
    const Algorithm* const found = find_algorithm(collective, item.name, source);
    if (found != nullptr) add_item(rules, first, item, *found, source);
  }
}

/// A list of items. Those without a collective of their own are of `collective`, if there is one.
void add_list(std::vector<Rule>& rules, std::optional<Collective> collective, std::string_view list,
              const Origin& origin) {
  const std::string& source = origin.source;
  const std::size_t first = rules.size();
  const bool excludes = list.starts_with('^');
  for (const std::string_view each : split(list, ',')) {
    Item item = item_from(each, source);
    const std::string_view own = collective_in(item.name);
    // In a list of bare names, one ^ excludes them all.
    if (own.empty()) item.excludes |= excludes;
    if (collective || !own.empty()) {
      const Collective of = collective ? *collective : collective_from(own, source);
      add_item(rules, first, item, method_from(of, item.name, item.excludes, origin), source);
    } else if (is_file(item.name)) {
      add_item(rules, first, item, schedule_from(item.name, item.excludes, origin), source);
    } else {
      add_to_all(rules, first, item, source);
    }
  }
}

/// Splits "allreduce" off "allreduce:ring,mesh", a list of algorithms of one collective.
std::optional<Collective> take_collective(std::string_view& list, const std::string& source) {
  const std::string_view item = list.substr(0, list.find(','));
  const std::size_t colon = item.find(':');
  if (colon == std::string_view::npos) return {};
  const std::size_t name_begin = item.starts_with('^') ? 1 : 0;
  const std::string_view name = trimmed(item.substr(name_begin));
  const std::string_view before = trimmed(without_values(name));
  if (is_file(name) || !collective_in(name).empty() || names_algorithm(before)) return {};
  const Collective collective = collective_from(trimmed(item.substr(0, colon)), source);
  list = trimmed(list.substr(colon + 1));
  return collective;
}

}  // namespace

bool Rule::names(const Method& method) const {
  return std::ranges::any_of(methods, [&](const Method& named) {
    if (named == method) return true;
    // A rule that excludes an algorithm excludes it with all values of its parameters.
    const Algorithm* const row = named.algorithm();
    const Algorithm* const other = method.algorithm();
    return excludes && row != nullptr && other != nullptr && row->name == other->row_name();
  });
}

bool Rule::fits(const Question& question, std::uint32_t in_all, const Reach& reach) const {
  if (collective != question.collective || !bytes.contains(question.bytes) ||
      !ranks.contains(in_all) || (pairs && pairs != reach.pairs)) {
    return false;
  }
  return std::any_of(methods.begin(), methods.end(), [&](const Method& method) {
    if (method.schedule() == nullptr) return true;
    return method.refusal({.ranks = in_all, .root = question.root}).empty() &&
           !(question.counted && method.needs_counts());
  });
}

const Rule* Rules::find(const Question& question, std::uint32_t ranks, const Reach& reach) const {
  const auto found = std::find_if(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    return rule.fits(question, ranks, reach);
  });
  return found == rules_.end() ? nullptr : &*found;
}

void Rules::add(const Rules& others) {
  rules_.insert(rules_.end(), others.rules_.begin(), others.rules_.end());
}

std::uint64_t Rules::digest() const {
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t value) { hash = mixed(hash, value); };
  for (const Rule& rule : rules_) {
    add(static_cast<std::uint64_t>(rule.collective) * 2 + (rule.excludes ? 1 : 0));
    for (const Range& range : {rule.bytes, rule.ranks}) {
      add(range.least);
      add(range.most);
    }
    add(rule.pairs ? static_cast<std::uint64_t>(*rule.pairs) + 1 : 0);
    add(rule.methods.size());
    for (const Method& each : rule.methods) add(each.identity());
  }
  return hash;
}

Rules parse_algorithm_rules(std::string_view text, const std::string& source) {
  const Origin origin{.source = source};
  std::vector<Rule> rules;
  for (const std::string_view part : split(text, ';')) {
    std::string_view rest = trimmed(part);
    if (rest.empty()) continue;
    const std::optional<Collective> collective = take_collective(rest, source);
    add_list(rules, collective, rest, origin);
  }
  return Rules(std::move(rules));
}

namespace {

/// One line of a file: "allreduce bytes=1MiB- ranks=4-8 pairs=host use ring,mesh".
void add_line(std::vector<Rule>& rules, std::string_view line, const Origin& origin) {
  const std::string& source = origin.source;
  std::istringstream words{std::string(line)};
  std::string word;
  words >> word;
  Rule rule{.collective = collective_from(word, source), .source = source};
  while (words >> word && word != "use" && word != "avoid") {
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    if (equals == std::string::npos || (key != "bytes" && key != "ranks" && key != "pairs")) {
      refuse(source, "'" + word +
                         "' is not one of bytes=RANGE, ranks=RANGE, pairs=WAY, use NAME,… "
                         "and avoid NAME,…");
    }
    const std::string value = word.substr(equals + 1);
    if (key == "bytes") rule.bytes = range_from(value, source, parse_bytes);
    if (key == "ranks") rule.ranks = range_from(value, source, parse_count);
    if (key == "pairs") {
      try {
        rule.pairs = parse_pairs(value);
      } catch (const Error& error) {
        refuse(source, error.what());
      }
    }
  }
  rule.excludes = word == "avoid";
  std::string names;
  std::string more;
  if ((word != "use" && word != "avoid") || !(words >> names) || words >> more) {
    refuse(source, "a rule ends with 'use NAME,…' or 'avoid NAME,…', without blanks in the list");
  }
  for (const std::string_view each : split(names, ',')) {
    rule.methods.push_back(method_from(rule.collective, each, rule.excludes, origin));
  }
  rules.push_back(std::move(rule));
}

}  // namespace

Rules parse_rules_file(std::string_view text, const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  std::vector<Rule> rules;
  std::size_t number = 0;
  for (const std::string_view each : split(text, '\n')) {
    ++number;
    const std::string_view line = trimmed(each.substr(0, each.find('#')));
    if (line.empty()) continue;
    const std::string source = path + ":" + std::to_string(number);
    add_line(rules, line, {.source = source, .folder = folder});
  }
  return Rules(std::move(rules));
}

Rules rules_from_environment() {
  Rules rules;
  if (const char* const text = std::getenv("TUTTI_ALGO"); text != nullptr) {
    rules.add(parse_algorithm_rules(text, "TUTTI_ALGO"));
  }
  const char* const path = std::getenv("TUTTI_RULES");
  if (path == nullptr || *path == '\0') return rules;
  try {
    rules.add(parse_rules_file(read_file(path, most_settings_bytes), path));
  } catch (const Error& error) {
    throw Error(error.code(), std::string("TUTTI_RULES: ") + error.what());
  }
  return rules;
}

}  // namespace tutti
