#pragma once

#include <filesystem>
#include <string>

namespace tutti::test {

/// A directory of one's own that goes with this, and all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] std::string path() const { return path_; }
  /// Of a file in it.
  [[nodiscard]] std::string path(const std::string& name) const { return path_ / name; }
  /// What a file in it holds; nothing if there is none.
  [[nodiscard]] std::string read(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

}  // namespace tutti::test
