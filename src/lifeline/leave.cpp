#include "lifeline/leave.hpp"

#include <cstdlib>

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

}  // namespace tutti
