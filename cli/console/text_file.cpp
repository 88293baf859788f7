#include "cli/console/text_file.hpp"

#include <cerrno>
#include <fstream>
#include <iostream>

#include <tutti/error.hpp>

#include "core/bounded_file.hpp"
#include "core/system_reason.hpp"

namespace tutti::cli {

std::string read_text(const std::string& path) {
  return path == "-" ? read_standard_input() : read_file(path);
}

void write_text(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text << std::flush;
    return;
  }
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (file) return;
  throw Error(ErrorCode::invalid_argument, "cannot write the file '" + path + "'" +
                                               (errno == 0 ? "" : ": " + system_reason(errno)));
}

}  // namespace tutti::cli
