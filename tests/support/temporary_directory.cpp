#include "support/temporary_directory.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tutti::test {

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "tutti-test-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}

TemporaryDirectory::~TemporaryDirectory() { std::filesystem::remove_all(path_); }

std::string TemporaryDirectory::read(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream(path_ / name, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace tutti::test
