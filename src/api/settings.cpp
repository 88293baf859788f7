#include "api/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include <tutti/network/network_file.hpp>
#include <tutti/network/network_json.hpp>

#include "core/decimal.hpp"
#include "core/hash.hpp"
#include "core/nearest.hpp"
#include "core/quantity.hpp"
#include "core/shortened.hpp"
#include "flight/settings.hpp"
#include "topology/rank_list.hpp"
#include "transport/table.hpp"

namespace tutti {
namespace {

std::string_view variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::string_view() : text;
}

[[noreturn]] void refuse(const std::string& name, std::string_view value,
                         const std::string& choices) {
  throw Error(ErrorCode::invalid_argument,
              name + " is \"" + std::string(value) + "\"; it may be " + choices);
}

/// The value of a variable, as read by `read`, whose errors get the variable's name.
template <class Read>
auto value_of(const std::string& name, Read read) {
  try {
    return read(std::string(variable(name.c_str())));
  } catch (const Error& error) {
    throw Error(error.code(), name + ": " + error.what());
  }
}

Clock::duration seconds_from(const std::string& name, Clock::duration usual) {
  const std::string_view text = variable(name.c_str());
  if (text.empty()) return usual;
  double seconds = 0;
  const auto [end, failure] = read_decimal(text.data(), text.data() + text.size(), seconds);
  if (failure != std::errc() || end != text.data() + text.size() || !(seconds > 0) ||
      seconds > 1e9) {
    refuse(name, text, "a number of seconds above 0, such as 60 or 0.5");
  }
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::size_t direct_from(std::string_view text) {
  if (text.empty() || text == "auto") return 0;
  if (text == "copy") return ~std::size_t{0};
  if (text == "direct") return 1;
  refuse("TUTTI_PROTO", text, "auto, copy or direct");
}

std::size_t slice_from(std::string_view text) {
  if (text.empty()) return 0;
  try {
    if (const std::uint64_t bytes = parse_bytes(text); bytes >= 1024 && bytes <= 1ULL << 30) {
      return bytes;
    }
  } catch (const Error&) {
  }
  refuse("TUTTI_SLICE", text, "a size from 1KiB to 1GiB, such as 64KiB");
}

/// Reads everything that the choice of algorithms depends on.
void read_choices(CommunicatorSettings& settings) {
  FoundProfile found = find_profile();
  settings.rules = rules_from_environment();
  settings.choice_origin = found.origin;
  if (!variable("TUTTI_TOPO_FILE").empty()) {
    settings.network = std::make_shared<const Network>(value_of("TUTTI_TOPO_FILE", load_network));
  }
  settings.profile = std::make_shared<const Profile>(std::move(found.profile));
  for (const char* const name : {"TUTTI_TOPO_FILE", "TUTTI_RULES", "TUTTI_ALGO"}) {
    if (!variable(name).empty()) note_origin(settings, name, variable(name));
  }
  note_choices(settings);
}

/// Every variable that tutti reads.
constexpr auto known_variables =
    std::to_array<std::string_view>({"TUTTI_RANK",          "TUTTI_SIZE",
                                     "TUTTI_LOCAL_RANK",    "TUTTI_LOCAL_SIZE",
                                     "TUTTI_ROOT",          "TUTTI_ROOT_FD",
                                     "TUTTI_LOST_AFTER",    "TUTTI_SECRET",
                                     "TUTTI_JOB",           "TUTTI_TIMEOUT",
                                     "TUTTI_TRANSPORT",     "TUTTI_SOCKET_IFNAME",
                                     "TUTTI_PORT_RANGE",    "TUTTI_HOSTID",
                                     "TUTTI_LOG_JSONL",     "TUTTI_PROFILE",
                                     "TUTTI_ALGO",          "TUTTI_RULES",
                                     "TUTTI_PROTO",         "TUTTI_SLICE",
                                     "TUTTI_BENCH_MEMORY",  "TUTTI_BENCH_ALGORITHM",
                                     "TUTTI_UPDATE_GOLDEN", "TUTTI_PEERS",
                                     "TUTTI_TOPO_FILE",     "TUTTI_ORDER",
                                     "TUTTI_FLIGHT",        "TUTTI_FLIGHT_RECORDS",
                                     "TUTTI_TLS",           "TUTTI_TORCH_CACHE",
                                     "TUTTI_TORCH_ALLOC",   "TUTTI_COMMAND",
                                     "TUTTI_BENCH_CALLS",   "TUTTI_ADOPT",
                                     "TUTTI_MALLOC"});

}  // namespace

std::string unknown_variables() {
  std::string lines;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view text = *each;
    const std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with("TUTTI_") ||
        std::find(known_variables.begin(), known_variables.end(), name) != known_variables.end()) {
      continue;
    }
    lines += "tutti: " + std::string(name) + " is set, but tutti knows no such variable." +
             did_you_mean(name, known_variables) + "\n";
  }
  return lines;
}

std::vector<Rank> order_from_environment(const CommunicatorSettings& settings,
                                         std::uint32_t ranks) {
  const std::string_view text = variable("TUTTI_ORDER");
  if (text.empty()) return {};
  // Names of the network are for its own ranks only.
  const bool is_named = settings.network && settings.places.empty();
  std::vector<Rank> order = is_named ? parse_rank_list(text, *settings.network, "TUTTI_ORDER")
                                     : parse_rank_list(text, ranks, "TUTTI_ORDER");
  if (order.size() != ranks) {
    throw Error(ErrorCode::invalid_argument, "TUTTI_ORDER names " + std::to_string(order.size()) +
                                                 " ranks, but there are " + std::to_string(ranks) +
                                                 ": name each of them once");
  }
  return order;
}

std::string transport_from(const std::string& source, std::string_view text) {
  if (text.empty() || text == "auto") return "";
  const std::vector<std::string_view> choices = transport_choices();
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return std::string(text);
  std::string all = "auto";
  for (const std::string_view each : choices) {
    all += (each == choices.back() ? " or " : ", ") + std::string(each);
  }
  refuse(source, text, all);
}

std::size_t adopt_from(const std::string& source, std::string_view text) {
  // For shorter buffers, asking the kernel whether they are still there costs more than is gained.
  constexpr std::size_t usual = std::size_t{16} << 10;
  if (text == "auto") return usual;
  if (text.empty() || text == "off") return ~std::size_t{0};
  try {
    return parse_bytes(std::string(text));
  } catch (const Error&) {
    refuse(source, text, "auto, off or a size, such as 1MiB");
  }
}

void note_origin(CommunicatorSettings& settings, const std::string& name, std::string_view value) {
  constexpr std::size_t most = 100;  // So that the others have room.
  settings.choice_origin = name + "=" + shortened(value, most) + ", " + settings.choice_origin;
}

void note_choices(CommunicatorSettings& settings) {
  // Ranks compare it, so it must not depend on the standard library.
  std::uint64_t digest = settings.profile ? settings.profile->digest() : 0;
  const auto add = [&](std::uint64_t number) { digest = mixed(digest, number); };
  add(settings.rules.digest());
  add(settings.network ? hash_of(to_json(*settings.network)) : 0);
  add(settings.places.size());
  for (const Rank place : settings.places) add(place);
  add(settings.shape.dimensions.size());
  for (const std::uint32_t dimension : settings.shape.dimensions) add(dimension);
  settings.choice_digest = digest;
}

Secret secret_of_user(std::string_view given) {
  return Secret::from_variables(given.empty() ? variable("TUTTI_SECRET") : given,
                                variable("TUTTI_TLS"));
}

CommunicatorSettings settings_from_environment() { return settings_from_environment({}); }

CommunicatorSettings settings_from_environment(std::string_view secret) {
  CommunicatorSettings settings;
  settings.fabric.transport = transport_from("TUTTI_TRANSPORT", variable("TUTTI_TRANSPORT"));
  settings.users_secret = secret_of_user(secret);
  settings.fabric.secret = settings.users_secret;
  settings.fabric.host_id = variable("TUTTI_HOSTID");
  settings.fabric.interfaces = variable("TUTTI_SOCKET_IFNAME");
  if (!variable("TUTTI_PORT_RANGE").empty()) {
    settings.fabric.ports = value_of("TUTTI_PORT_RANGE", PortRange::parse);
  }
  settings.timeout = seconds_from("TUTTI_TIMEOUT", settings.timeout);
  settings.fabric.start_timeout =
      std::chrono::duration_cast<std::chrono::milliseconds>(settings.timeout);
  settings.fabric.lost_after = std::chrono::duration_cast<std::chrono::milliseconds>(
      seconds_from("TUTTI_LOST_AFTER", settings.fabric.lost_after));
  settings.flight = flight_settings_from_environment();
  if (const std::string_view path = variable("TUTTI_LOG_JSONL"); !path.empty()) {
    settings.log = std::make_shared<CallLog>(std::string(path));
  }
  settings.direct_from = direct_from(variable("TUTTI_PROTO"));
  settings.slice_bytes = slice_from(variable("TUTTI_SLICE"));
  settings.adopt_from = adopt_from("TUTTI_ADOPT", variable("TUTTI_ADOPT"));
  read_choices(settings);
  return settings;
}

}  // namespace tutti
