#include "cli/launch/run_to_exit.hpp"

#include <cstdio>
#include <exception>
#include <new>

#include <tutti/error.hpp>

#include "cli/console/exit_code.hpp"
#include "cli/console/standard_output.hpp"
#include "cli/launch/signals.hpp"
#include "cli/launch/watch.hpp"

namespace tutti::cli {
namespace {

int fail(const std::string& message) {
  std::fprintf(stderr, "tutti: %s\n", message.c_str());
  return usage_error;
}

/// The exit code, also if the command throws.
int run(Arguments& arguments, const std::vector<std::string>& words) {
  try {
    return arguments.run(words);
  } catch (const Error& error) {
    return fail(error.what());
  } catch (const Interrupted& interrupted) {
    std::fprintf(stderr, "tutti: %s\n", interrupted.what());
    return Watch::signal_code + interrupted.signal();
  } catch (const std::bad_alloc&) {
    return fail("out of memory; ask for fewer ranks");
  } catch (const std::exception& error) {
    return fail(std::string("this is a bug in tutti, please report it: ") + error.what());
  }
}

}  // namespace

int run_to_exit(Arguments& arguments, const std::vector<std::string>& words) {
  const int code = run(arguments, words);
  // A violation is a result; an error and an interruption are none.
  const bool is_complete = code == success || code == violation_found;
  if (finish_standard_output(is_complete) || code != success) return code;
  return usage_error;
}

}  // namespace tutti::cli
