#include "cli/console/standard_output.hpp"

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <string>

#include "core/system_reason.hpp"

namespace tutti::cli {
namespace {

struct sigaction& before() {
  static struct sigaction action {};
  return action;
}

}  // namespace

void take_write_errors() {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignored, &before());
}

const struct sigaction& file_size_action_before() { return before(); }

bool finish_standard_output() {
  errno = 0;
  const bool is_well = std::cout.flush().good();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && is_well) return true;
  // The errno of an earlier failure is lost.
  const std::string why = errno == 0 ? "" : ": " + system_reason(errno);
  std::fprintf(stderr, "tutti: cannot write to standard output%s\n", why.c_str());
  return false;
}

}  // namespace tutti::cli
