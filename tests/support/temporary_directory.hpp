#pragma once

#include <filesystem>
#include <string>

namespace tutti::test {

/// A temporary directory. The destructor removes it with its contents.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] std::string path() const { return path_; }
  /// The path of a file in it.
  [[nodiscard]] std::string path(const std::string& name) const { return path_ / name; }
  /// The contents of a file in it; empty if there is none.
  [[nodiscard]] std::string read(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

}  // namespace tutti::test
