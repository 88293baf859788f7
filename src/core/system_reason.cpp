#include "core/system_reason.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace tutti {
namespace {

std::string cure(const char* option, int resource, std::uint64_t unit) {
  const std::string text = std::string("raise the limit (ulimit -") + option + ")";
  rlimit limit{};
  const bool is_known = getrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0 &&
                        limit.rlim_cur != RLIM_INFINITY;
  return is_known ? text + ", which is " + std::to_string(limit.rlim_cur / unit) : text;
}

}  // namespace

std::string system_reason(int error) {
  constexpr std::uint64_t kibibyte = 1024;  // The unit of ulimit -f in the shell.
  std::string text = std::generic_category().message(error);
  if (error == EMFILE) text += ": " + raise_descriptor_limit();
  if (error == EFBIG) text += ": " + cure("f", RLIMIT_FSIZE, kibibyte);
  return text;
}

std::string raise_descriptor_limit() { return cure("n", RLIMIT_NOFILE, 1); }

}  // namespace tutti
