#include "faults/footprint.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <mutex>

#include "support/sanitizer.hpp"

namespace tutti::test {
namespace {

std::size_t entries(const char* directory) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

}  // namespace

Footprint Footprint::own() {
  // Listing takes a descriptor, which another thread must not count.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  std::size_t pages = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return {.descriptors = entries("/proc/self/fd"),
          .threads = entries("/proc/self/task"),
          .resident_kib = resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024};
}

std::string Footprint::growth_since(const Footprint& before) const {
  constexpr std::size_t spare_kib = 4096;
  std::string text;
  const auto compare = [&](const char* what, std::size_t was, std::size_t is, std::size_t spare) {
    if (is <= was + spare) return;
    text += std::string(what) + " from " + std::to_string(was) + " to " + std::to_string(is) + " ";
  };
  compare("descriptors", before.descriptors, descriptors, 0);
  compare("threads", before.threads, threads, 0);
  // Sanitizers keep freed memory.
  if (!is_sanitized) compare("KiB of memory", before.resident_kib, resident_kib, spare_kib);
  return text;
}

std::set<std::string> left_behind() {
  std::set<std::string> names;
  for (const char* const directory : {"/dev/shm", "/tmp"}) {
    for (const auto& each : std::filesystem::directory_iterator(directory)) {
      const std::string name = each.path().filename();
      if (name.find("tutti") != std::string::npos) names.insert(each.path());
    }
  }
  return names;
}

}  // namespace tutti::test
