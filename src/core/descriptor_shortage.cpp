#include "core/descriptor_shortage.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include <tutti/error.hpp>

#include "core/system_reason.hpp"

namespace tutti {

void DescriptorShortage::note(int error, Clock::time_point now) {
  if (error != EMFILE && error != ENFILE) {
    since_.reset();
    return;
  }
  error_ = error;
  if (!since_) since_ = now;
}

bool DescriptorShortage::lasts(Clock::time_point now) const {
  constexpr std::chrono::seconds long_enough{1};
  return since_ && now - *since_ >= long_enough;
}

void DescriptorShortage::require_none(const std::string& what, Clock::time_point now) const {
  if (lasts(now)) throw Error(ErrorCode::unsupported, what + ": " + system_reason(error_));
}

std::optional<std::size_t> free_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  std::error_code error;
  std::filesystem::directory_iterator each("/proc/self/fd", error);
  // Opening the directory takes a descriptor as well.
  if (error) {
    if (error.value() == EMFILE) return 0;
    return std::nullopt;
  }
  std::size_t open = 0;
  for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    open += std::stoull(each->path().filename().string()) < limit.rlim_cur ? 1 : 0;
  }
  if (error) return std::nullopt;
  --open;  // The descriptor of the directory itself.
  return limit.rlim_cur > open ? limit.rlim_cur - open : 0;
}

}  // namespace tutti
