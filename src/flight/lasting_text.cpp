#include "flight/lasting_text.hpp"

#include <mutex>
#include <set>
#include <string>

#include "core/fork_safe_mutex.hpp"

namespace tutti {
namespace {

ForkSafeMutex mutex;

}  // namespace

const char* lasting_text(std::string_view text) {
  // Never destroyed, since signal handlers may read it until the process ends.
  static auto& texts = *new std::set<std::string, std::less<>>();
  const std::lock_guard lock(mutex);
  const auto known = texts.find(text);
  return known != texts.end() ? known->c_str() : texts.emplace(text).first->c_str();
}

}  // namespace tutti
