#include "cli/launch/process_family.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace tutti::cli {
namespace {

struct Entry {
  FamilyMember member{};
  pid_t parent = -1;
};

/// Reads /proc; none if there is no such process.
std::optional<Entry> read_entry(pid_t pid) {
  std::ostringstream text;
  text << std::ifstream("/proc/" + std::to_string(pid) + "/stat").rdbuf();
  // The second field is a name in brackets, which may contain spaces and brackets.
  const std::size_t name_end = text.str().rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.str().substr(name_end + 1));
  Entry entry{.member = {.pid = pid}};
  std::string other;
  fields >> other >> entry.parent >> entry.member.group;
  constexpr int between = 16;  // Fields that are not used here: see proc(5).
  for (int i = 0; i < between; ++i) fields >> other;
  fields >> entry.member.begun;
  return fields ? std::optional(entry) : std::nullopt;
}

std::vector<Entry> all_entries() {
  std::vector<Entry> found;
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = each.path().filename().string();
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      continue;
    }
    if (const auto entry = read_entry(static_cast<pid_t>(std::stol(name)))) found.push_back(*entry);
  }
  return found;
}

}  // namespace

std::vector<FamilyMember> process_family(pid_t head) {
  const std::vector<Entry> entries = all_entries();
  std::vector<FamilyMember> family;
  for (const Entry& each : entries) {
    if (each.member.pid == head) family.push_back(each.member);
  }
  for (std::size_t i = 0; i < family.size() && i < entries.size(); ++i) {
    for (const Entry& each : entries) {
      if (each.parent == family[i].pid) family.push_back(each.member);
    }
  }
  return family;
}

void kill_left(const std::vector<FamilyMember>& family) {
  for (const FamilyMember& each : family) {
    const std::optional<Entry> now = read_entry(each.pid);
    if (now && now->member.begun == each.begun) ::kill(each.pid, SIGKILL);
  }
}

}  // namespace tutti::cli
