#include "cli/console/own_program.hpp"

#include <sys/auxv.h>

#include <filesystem>

#include <tutti/error.hpp>

namespace tutti::cli {

std::string own_program() {
  std::error_code trouble;
  const auto linked = std::filesystem::read_symlink("/proc/self/exe", trouble);
  if (!trouble) return linked.string();
  // Without /proc: the name it was called by, which may be relative to another directory.
  const auto* const called = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (called != nullptr) {
    const auto found = std::filesystem::canonical(called, trouble);
    if (!trouble) return found.string();
  }
  throw Error(ErrorCode::unsupported,
              "the path of this program is unknown; mount /proc, or call it by its absolute path");
}

}  // namespace tutti::cli
