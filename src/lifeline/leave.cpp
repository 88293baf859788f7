#include "lifeline/leave.hpp"

#include <cstdlib>
#include <sstream>

namespace tutti {

std::string write(const Leave& leave) {
  return std::to_string(leave.calls) + " " + std::to_string(leave.messages);
}

Leave read_leave(const std::string& text) {
  char* end = nullptr;
  Leave leave{.calls = std::strtoull(text.c_str(), &end, 10)};
  leave.messages = std::strtoull(end, nullptr, 10);
  return leave;
}

/// "communicator calls", "member messages" for each member, and ";".
std::string write(const Farewell& farewell) {
  std::string text;
  for (const auto& [communicator, leave] : farewell) {
    text += std::to_string(communicator) + " " + std::to_string(leave.calls);
    for (const auto& [member, messages] : leave.messages) {
      text += " " + std::to_string(member) + " " + std::to_string(messages);
    }
    text += ";";
  }
  return text;
}

Farewell read_farewell(const std::string& text) {
  Farewell farewell;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line, ';');) {
    std::istringstream numbers(line);
    std::uint64_t communicator = 0;
    LeaveOfAll leave;
    if (!(numbers >> communicator >> leave.calls)) continue;
    std::uint32_t member = 0;
    for (std::uint64_t messages = 0; numbers >> member >> messages;) {
      leave.messages.emplace(member, messages);
    }
    farewell.emplace(communicator, std::move(leave));
  }
  return farewell;
}

}  // namespace tutti
