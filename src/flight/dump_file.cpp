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

JsonReader parse_line(std::string_view text) {
  try {
    return JsonReader::parse(text);
  } catch (const JsonError&) {
    reject("it is cut off or garbled");
  }
}

std::uint32_t rank_from(const JsonReader& json) {
  return json.whole<std::uint32_t>(0, std::numeric_limits<std::uint32_t>::max() - 1);
}

std::uint64_t hexadecimal_from(const JsonReader& json) {
  const std::string& digits = json.string();
  std::uint64_t value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, failure] = std::from_chars(digits.data(), last, value, 16);
  if (failure != std::errc() || end != last) json.reject("expected a hexadecimal number");
  return value;
}

FlightDump header_from(std::string_view text, const std::string& origin) {
  const JsonReader line = parse_line(text);
  FlightDump dump{.origin = origin,
                  .version = line.at("tutti").string(),
                  .communicator = hexadecimal_from(line.at("communicator")),
                  .name = line.at("name").string(),
                  .rank = rank_from(line.at("rank")),
                  .ranks = rank_from(line.at("ranks")),
                  .host = line.at("host").string(),
                  .pid = line.at("pid").get<std::uint64_t>(),
                  .wall_ns = line.at("wall_ns").get<std::uint64_t>(),
                  .steady_ns = line.at("steady_ns").get<std::uint64_t>(),
                  .reason = line.at("reason").string(),
                  .algorithms = std::make_unique<std::set<std::string>>()};
  if (line.contains("failure")) dump.failure = line.at("failure").string();
  if (dump.rank >= dump.ranks) {
    reject("there is no rank " + std::to_string(dump.rank) + " among " +
           std::to_string(dump.ranks) + " ranks");
  }
  return dump;
}

void read_collective(const JsonReader& line, Collective collective, FlightDump& dump,
                     FlightCall& call) {
  call.dtype = parse_dtype(line.at("dtype").string());
  if (is_reduction(collective)) {
    call.is_custom = line.at("op").string() == "custom";
    if (!call.is_custom) call.op = parse_op(line.at("op").string());
  }
  if (has_root(collective)) call.root = rank_from(line.at("root"));
  call.count =
      line.contains("count") ? line.at("count").get<std::uint64_t>() : FlightCall::with_counts;
  call.bytes = line.at("bytes").get<std::uint64_t>();
  call.algorithm = dump.algorithms->insert(line.at("algorithm").string()).first->c_str();
}

FlightCall call_from(const JsonReader& line, FlightDump& dump) {
  const std::optional<FlightKind> kind = find_flight_kind(line.at("kind").string());
  if (!kind) reject("unknown kind of call \"" + line.at("kind").string() + "\"");
  FlightCall call{.kind = *kind,
                  .signature = static_cast<std::uint32_t>(hexadecimal_from(line.at("signature")))};
  if (const auto collective = collective_of(*kind)) {
    read_collective(line, *collective, dump, call);
    return call;
  }
  if (*kind != FlightKind::receive) {
    call.root = rank_from(line.at("to"));
    call.bytes = line.at("bytes").get<std::uint64_t>();
  }
  if (*kind != FlightKind::send) {
    call.from = rank_from(line.at("from"));
    call.count = line.at("received_bytes").get<std::uint64_t>();
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
  const JsonReader line = parse_line(text);
  FlightRecord record{.number = line.at("call").get<std::uint64_t>(),
                      .call = call_from(line, dump),
                      .begun_ns = line.at("begun_ns").get<std::uint64_t>(),
                      .state = state_from(line.at("state").string())};
  if (line.contains("site")) record.site = FlightSite(line.at("site").string());
  if (record.state != FlightRecord::State::running)
    record.ended_ns = line.at("ended_ns").get<std::uint64_t>();
  if (line.contains("waits_for")) {
    record.wait = {.rank = rank_from(line.at("waits_for")),
                   .round = rank_from(line.at("round")),
                   .bytes_done = line.at("bytes_done").get<std::uint64_t>()};
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
