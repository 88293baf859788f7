#include <algorithm>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include <tutti/error.hpp>
#include <tutti/schedule_json.hpp>

namespace tutti {
namespace {

using Json = nlohmann::json;

constexpr std::string_view format_name = "tutti-schedule";
constexpr std::uint64_t format_version = 1;
constexpr std::string_view own_word = "own";

// ---------------------------------------------------------------------------------- writing

std::string in_quotes(std::string_view text) {
  try {
    return Json(text).dump();
  } catch (const Json::type_error&) {
    throw Error(ErrorCode::invalid_argument, "schedule JSON: a schedule's name must be UTF-8");
  }
}

void write_chunks(std::span<const ChunkRange> chunks, std::string& out) {
  out += '[';
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (i > 0) out += ", ";
    const std::string first = std::to_string(chunks[i].first.index());
    out +=
        chunks[i].count == 1 ? first : "[" + first + ", " + std::to_string(chunks[i].count) + "]";
  }
  out += ']';
}

void write_step(const Step& step, std::string& out) {
  const bool sends = step.kind == Step::Kind::send;
  out += "{\"round\": " + std::to_string(step.round) + (sends ? ", \"send\": " : ", \"receive\": ");
  write_chunks(step.chunks, out);
  out += sends ? ", \"to\": [" : ", \"from\": [";
  bool first = true;
  const auto add = [&](const std::string& word) {
    if (!first) out += ", ";
    first = false;
    out += word;
  };
  for (std::size_t i = 0; i < step.peers.size(); ++i) {
    if (step.own == i) add(in_quotes(own_word));
    add(std::to_string(step.peers[i].index()));
  }
  if (step.own && *step.own >= step.peers.size()) add(in_quotes(own_word));
  out += "]}";
}

// ---------------------------------------------------------------------------------- reading

/// A value of the document and the path that leads to it.
class JsonValue {
 public:
  JsonValue(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  [[noreturn]] void reject(const std::string& wanted) const {
    throw Error(ErrorCode::invalid_argument,
                "schedule JSON: at " + (path_.empty() ? "/" : path_) + ": " + wanted);
  }

  [[nodiscard]] JsonValue member(const char* key) const {
    const auto found = as_object().find(key);
    if (found == json_.end()) reject("the member \"" + std::string(key) + "\" is missing");
    return {*found, path_ + "/" + key};
  }

  [[nodiscard]] bool has(const char* key) const { return as_object().contains(key); }

  /// Members that nobody reads are mostly slips of the pen.
  void allow_only(std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, value] : as_object().items()) {
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      std::string known;
      for (const std::string_view each : keys) {
        known += " \"";
        known += each;
        known += '"';
      }
      reject("there is no member \"" + key + "\"; known are" + known);
    }
  }

  [[nodiscard]] std::size_t size() const {
    if (!json_.is_array()) reject("a list should stand here");
    return json_.size();
  }
  [[nodiscard]] JsonValue operator[](std::size_t i) const {
    return {json_[i], path_ + "/" + std::to_string(i)};
  }
  [[nodiscard]] bool is_list() const { return json_.is_array(); }
  [[nodiscard]] bool is(std::string_view word) const {
    return json_.is_string() && json_.get_ref<const std::string&>() == word;
  }

  [[nodiscard]] std::string text() const {
    if (!json_.is_string()) reject("a text should stand here");
    return json_.get<std::string>();
  }

  [[nodiscard]] std::uint64_t number(std::uint64_t least, std::uint64_t most) const {
    const bool fits = json_.is_number_unsigned() && json_.get<std::uint64_t>() >= least &&
                      json_.get<std::uint64_t>() <= most;
    if (!fits) {
      reject("a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
             " should stand here");
    }
    return json_.get<std::uint64_t>();
  }

 private:
  [[nodiscard]] const Json& as_object() const {
    if (!json_.is_object()) reject("an object in braces should stand here");
    return json_;
  }

  const Json& json_;
  std::string path_;
};

constexpr std::uint64_t most_ranks = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t most_rounds = std::numeric_limits<std::uint32_t>::max() - 1;
// Sums of a few chunk numbers still fit in 64 bits.
constexpr std::uint64_t most_chunks = std::uint64_t{1} << 60;

Contract read_contract(const JsonValue& document) {
  Contract contract;
  try {
    contract.collective = parse_collective(document.member("collective").text());
  } catch (const Error& error) {
    document.member("collective").reject(error.what());
  }
  contract.ranks = static_cast<std::uint32_t>(document.member("ranks").number(1, most_ranks));
  contract.chunks = document.member("chunks").number(1, most_chunks);
  if (has_root(contract.collective)) {
    const std::uint64_t last = contract.ranks - 1;
    contract.root = Rank{static_cast<std::uint32_t>(document.member("root").number(0, last))};
  } else if (document.has("root")) {
    document.member("root").reject("a " + std::string(name(contract.collective)) + " has no root");
  }
  try {
    contract.check();
  } catch (const Error& error) {
    document.member("chunks").reject(error.what());
  }
  return contract;
}

std::vector<ChunkRange> read_chunks(const JsonValue& list, std::uint64_t chunks) {
  std::vector<ChunkRange> ranges;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonValue each = list[i];
    if (!each.is_list()) {
      ranges.emplace_back(Chunk{each.number(0, chunks - 1)});
      continue;
    }
    if (each.size() != 2) each.reject("a range of chunks is [first, count]");
    const std::uint64_t first = each[0].number(0, chunks - 1);
    ranges.emplace_back(Chunk{first}, each[1].number(1, chunks - first));
  }
  if (ranges.empty()) list.reject("a step needs at least one chunk");
  return ranges;
}

void read_step(const JsonValue& node, const Contract& contract, std::uint64_t rounds,
               Program& program) {
  const bool sends = node.has("send");
  if (sends == node.has("receive")) {
    node.reject("a step has either \"send\" and \"to\" or \"receive\" and \"from\"");
  }
  if (sends) {
    node.allow_only({"round", "send", "to"});
  } else {
    node.allow_only({"round", "receive", "from"});
  }
  if (rounds == 0) node.reject("there can be no steps in a schedule of 0 rounds");
  const auto round = static_cast<std::uint32_t>(node.member("round").number(0, rounds - 1));
  const std::vector<ChunkRange> chunks =
      read_chunks(node.member(sends ? "send" : "receive"), contract.chunks);
  const JsonValue list = node.member(sends ? "to" : "from");
  std::vector<Rank> peers;
  std::optional<std::uint32_t> own;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!sends && list[i].is(own_word)) {
      if (own) list[i].reject("\"own\" can stand only once in a fold");
      own = static_cast<std::uint32_t>(peers.size());
    } else {
      peers.emplace_back(static_cast<std::uint32_t>(list[i].number(0, contract.ranks - 1)));
    }
  }
  if (peers.empty()) list.reject("at least one rank should stand here");
  program.append({.kind = sends ? Step::Kind::send : Step::Kind::receive,
                  .round = round,
                  .peers = peers,
                  .own = own,
                  .chunks = chunks});
}

/// Refuses a member that stands twice in an object, of which the parser would keep the last.
class DuplicateCheck {
 public:
  bool operator()(int /*depth*/, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) {
      open_.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      open_.pop_back();
    } else if (event == Json::parse_event_t::key &&
               !open_.back().insert(parsed.get<std::string>()).second) {
      throw Error(ErrorCode::invalid_argument, "schedule JSON: an object has the member \"" +
                                                   parsed.get<std::string>() + "\" twice");
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> open_;
};

Json parse(std::string_view text) {
  try {
    return Json::parse(text, DuplicateCheck());
  } catch (const Json::exception& error) {
    // The message says "[json.exception.parse_error.101] parse error at line 1, column 5: …".
    std::string_view words = error.what();
    for (const std::string_view useful : {"at line", "number overflow"}) {
      const std::size_t from = words.find(useful);
      if (from != std::string_view::npos) words.remove_prefix(from);
    }
    throw Error(ErrorCode::invalid_argument, "schedule JSON: " + std::string(words));
  }
}

}  // namespace

std::string to_json(const Schedule& schedule) {
  const Contract& contract = schedule.contract;
  std::string out = "{\n";
  const auto member = [&](std::string_view key, const std::string& value) {
    out += "  \"" + std::string(key) + "\": " + value + ",\n";
  };
  member("format", in_quotes(format_name));
  member("version", std::to_string(format_version));
  member("name", in_quotes(schedule.name));
  member("collective", in_quotes(name(contract.collective)));
  member("ranks", std::to_string(contract.ranks));
  if (has_root(contract.collective)) member("root", std::to_string(contract.root.index()));
  member("chunks", std::to_string(contract.chunks));
  member("rounds", std::to_string(schedule.rounds()));
  out += "  \"programs\": [";
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    out += r == 0 ? "\n    [" : ",\n    [";
    bool first = true;
    for (const Step step : schedule.programs[r]) {
      out += first ? "\n      " : ",\n      ";
      first = false;
      write_step(step, out);
    }
    out += first ? "]" : "\n    ]";
  }
  out += "\n  ]\n}\n";
  return out;
}

Schedule schedule_from_json(std::string_view text) {
  const Json json = parse(text);
  const JsonValue document(json, "");
  if (!document.member("format").is(format_name)) {
    document.member("format").reject("this should say \"" + std::string(format_name) + "\"");
  }
  (void)document.member("version").number(format_version, format_version);
  document.allow_only(
      {"format", "version", "name", "collective", "ranks", "root", "chunks", "rounds", "programs"});
  Schedule schedule{
      .name = document.member("name").text(), .contract = read_contract(document), .programs = {}};
  const std::uint64_t rounds = document.member("rounds").number(0, most_rounds);
  const JsonValue programs = document.member("programs");
  if (programs.size() != schedule.contract.ranks) {
    programs.reject("there are " + std::to_string(programs.size()) + " programs for " +
                    std::to_string(schedule.contract.ranks) + " ranks");
  }
  for (std::size_t r = 0; r < programs.size(); ++r) {
    Program& program = schedule.programs.emplace_back(static_cast<std::uint32_t>(rounds));
    const JsonValue steps = programs[r];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      read_step(steps[i], schedule.contract, rounds, program);
    }
  }
  return schedule;
}

}  // namespace tutti
