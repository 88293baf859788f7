#include "cli/console/standard_output.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>

#include <tutti/error.hpp>

#include "core/system_reason.hpp"

namespace tutti::cli {
namespace {

struct sigaction& before() {
  static struct sigaction action {};
  return action;
}

/// The file that standard output was sent to, and its name until it is complete.
struct Redirection {
  std::string path{};
  std::string partial{};
};

Redirection& redirection() {
  static Redirection value;
  return value;
}

bool report(const std::string& what) {
  // The errno of an earlier failure is lost.
  const std::string why = errno == 0 ? "" : ": " + system_reason(errno);
  std::fprintf(stderr, "tutti: cannot write to %s%s\n", what.c_str(), why.c_str());
  return false;
}

}  // namespace

void take_write_errors() {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignored, &before());
}

const struct sigaction& file_size_action_before() { return before(); }

void redirect_standard_output(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  // A device or a pipe is written to at once.
  const bool is_file = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
  Redirection& own = redirection();
  own = {.path = path, .partial = is_file ? path + ".partial" : ""};
  std::fflush(stdout);
  if (std::freopen((is_file ? own.partial : path).c_str(), "w", stdout) == nullptr) {
    own = {};
    throw Error(ErrorCode::invalid_argument,
                "cannot write to '" + path + "'; name a file in a folder that exists");
  }
}

bool finish_standard_output(bool is_complete) {
  const Redirection& own = redirection();
  errno = 0;
  const bool is_well = std::cout.flush().good();
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && is_well;
  if (!is_written) (void)report(own.path.empty() ? "standard output" : "'" + own.path + "'");
  if (own.partial.empty()) return is_written;
  if (!is_written || !is_complete) {
    (void)std::remove(own.partial.c_str());
    return is_written;
  }
  return std::rename(own.partial.c_str(), own.path.c_str()) == 0 || report("'" + own.path + "'");
}

}  // namespace tutti::cli
