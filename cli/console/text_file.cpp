#include "cli/console/text_file.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <tutti/error.hpp>

namespace tutti::cli {

std::string read_text(const std::string& path) {
  std::ostringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  const std::ifstream file(path);
  // A directory can be opened, too.
  if (!file || std::filesystem::is_directory(path)) {
    throw Error(ErrorCode::invalid_argument, "cannot read the file '" + path + "'");
  }
  text << file.rdbuf();
  return text.str();
}

void write_text(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text << std::flush;
    return;
  }
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) throw Error(ErrorCode::invalid_argument, "cannot write the file '" + path + "'");
}

}  // namespace tutti::cli
