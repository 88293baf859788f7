#include "api/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

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

Way way_from(std::string_view text) {
  if (text.empty() || text == "auto") return Way::automatic;
  if (text == "shm") return Way::memory;
  if (text == "tcp") return Way::tcp;
  refuse("TUTTI_TRANSPORT", text, "auto, shm or tcp");
}

Clock::duration timeout_from(std::string_view text, Clock::duration usual) {
  if (text.empty()) return usual;
  double seconds = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (failure != std::errc() || end != text.data() + text.size() || !(seconds > 0) ||
      seconds > 1e9) {
    refuse("TUTTI_TIMEOUT", text, "a number of seconds above 0, such as 60 or 0.5");
  }
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

CommunicatorSettings settings_from_environment() {
  CommunicatorSettings settings;
  settings.fabric.way = way_from(variable("TUTTI_TRANSPORT"));
  settings.fabric.secret.bytes = variable("TUTTI_SECRET");
  settings.fabric.host_id = variable("TUTTI_HOSTID");
  settings.fabric.interfaces = variable("TUTTI_SOCKET_IFNAME");
  if (const std::string_view ports = variable("TUTTI_PORT_RANGE"); !ports.empty()) {
    settings.fabric.ports = PortRange::parse(ports);
  }
  settings.timeout = timeout_from(variable("TUTTI_TIMEOUT"), settings.timeout);
  if (const std::string_view path = variable("TUTTI_LOG_JSONL"); !path.empty()) {
    settings.log = std::make_shared<CallLog>(std::string(path));
  }
  return settings;
}

}  // namespace tutti
