#include "flight/dump_file.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include <tutti/error.hpp>

#include "core/json.hpp"
#include "core/reject.hpp"

namespace tutti {
namespace {

/// The members of one line.
class Line {
 public:
  explicit Line(std::string_view text) {
    std::optional<Json> json = Json::try_parse(text);
    if (!json) reject("it is cut off or garbled");
    if (!json->is_object()) reject("it should be an object in braces");
    json_ = *std::move(json);
  }

  [[nodiscard]] bool has(const char* key) const { return json_.contains(key); }

  [[nodiscard]] std::uint64_t number(
      const char* key, std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const {
    const Json& value = member(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
      reject("its \"" + std::string(key) + "\" should be a whole number" +
             (most == std::numeric_limits<std::uint64_t>::max()
                  ? ""
                  : " up to " + std::to_string(most)));
    }
    return value.get<std::uint64_t>();
  }

  [[nodiscard]] std::uint32_t rank(const char* key) const {
    return static_cast<std::uint32_t>(number(key, std::numeric_limits<std::uint32_t>::max() - 1));
  }

  [[nodiscard]] std::string text(const char* key) const {
    const Json& value = member(key);
    if (!value.is_string()) reject("its \"" + std::string(key) + "\" should be a string");
    return value.string();
  }

  [[nodiscard]] std::uint64_t hexadecimal(const char* key) const {
    const std::string digits = text(key);
    std::uint64_t value = 0;
    const char* const last = digits.data() + digits.size();
    const auto [end, failure] = std::from_chars(digits.data(), last, value, 16);
    if (failure != std::errc() || end != last) {
      reject("its \"" + std::string(key) + "\" should be a hexadecimal number");
    }
    return value;
  }

 private:
  [[nodiscard]] const Json& member(const char* key) const {
    const Json* const found = json_.find(key);
    if (found == nullptr) reject("it lacks \"" + std::string(key) + "\"");
    return *found;
  }

  Json json_;
};

FlightDump header_from(std::string_view text, const std::string& origin) {
  const Line line(text);
  FlightDump dump{.origin = origin,
                  .version = line.text("tutti"),
                  .communicator = line.hexadecimal("communicator"),
                  .name = line.text("name"),
                  .rank = line.rank("rank"),
                  .ranks = line.rank("ranks"),
                  .host = line.text("host"),
                  .pid = line.number("pid"),
                  .wall_ns = line.number("wall_ns"),
                  .steady_ns = line.number("steady_ns"),
                  .reason = line.text("reason"),
                  .algorithms = std::make_unique<std::set<std::string>>()};
  if (line.has("failure")) dump.failure = line.text("failure");
  if (dump.rank >= dump.ranks) {
    reject("there is no rank " + std::to_string(dump.rank) + " among " +
           std::to_string(dump.ranks) + " ranks");
  }
  return dump;
}

void read_collective(const Line& line, Collective collective, FlightDump& dump, FlightCall& call) {
  call.dtype = parse_dtype(line.text("dtype"));
  if (is_reduction(collective)) {
    call.is_custom = line.text("op") == "custom";
    if (!call.is_custom) call.op = parse_op(line.text("op"));
  }
  if (has_root(collective)) call.root = line.rank("root");
  call.count = line.has("count") ? line.number("count") : FlightCall::with_counts;
  call.bytes = line.number("bytes");
  call.algorithm = dump.algorithms->insert(line.text("algorithm")).first->c_str();
}

FlightCall call_from(const Line& line, FlightDump& dump) {
  const std::optional<FlightKind> kind = find_flight_kind(line.text("kind"));
  if (!kind) reject("unknown kind of call \"" + line.text("kind") + "\"");
  FlightCall call{.kind = *kind,
                  .signature = static_cast<std::uint32_t>(line.hexadecimal("signature"))};
  if (const auto collective = collective_of(*kind)) {
    read_collective(line, *collective, dump, call);
    return call;
  }
  if (*kind != FlightKind::receive) {
    call.root = line.rank("to");
    call.bytes = line.number("bytes");
  }
  if (*kind != FlightKind::send) {
    call.from = line.rank("from");
    call.count = line.number("received_bytes");
  }
  return call;
}

FlightRecord::State state_from(const std::string& text) {
  for (const auto state :
       {FlightRecord::State::running, FlightRecord::State::done, FlightRecord::State::failed}) {
    if (name(state) == text) return state;
  }
  reject("unknown state \"" + text + "\"");
}

FlightRecord record_from(std::string_view text, FlightDump& dump) {
  const Line line(text);
  FlightRecord record{.number = line.number("call"),
                      .call = call_from(line, dump),
                      .begun_ns = line.number("begun_ns"),
                      .state = state_from(line.text("state"))};
  if (line.has("site")) record.site = FlightSite(line.text("site"));
  if (record.state != FlightRecord::State::running) record.ended_ns = line.number("ended_ns");
  if (line.has("waits_for")) {
    record.wait = {.rank = line.rank("waits_for"),
                   .round = line.rank("round"),
                   .bytes_done = line.number("bytes_done")};
  }
  return record;
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

}  // namespace

FlightDump parse_dump(std::string_view text, const std::string& origin) {
  FlightDump dump;
  try {
    dump = header_from(take_line(text), origin);
  } catch (const Error& error) {
    throw Error(ErrorCode::invalid_argument,
                origin + " is not a dump of tutti's flight recorder: line 1: " + error.what());
  }
  for (std::uint64_t number = 2; !text.empty(); ++number) {
    try {
      dump.records.push_back(record_from(take_line(text), dump));
    } catch (const Error& error) {
      dump.faults.push_back(origin + ", line " + std::to_string(number) +
                            ", is skipped: " + error.what());
    }
  }
  // In the file, the messages follow the collectives.
  std::stable_sort(dump.records.begin(), dump.records.end(),
                   [](const auto& a, const auto& b) { return a.begun_ns < b.begun_ns; });
  return dump;
}

}  // namespace tutti
