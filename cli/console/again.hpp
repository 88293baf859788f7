#pragma once

#include <string>
#include <vector>

namespace tutti::cli {

/// Runs this very program once more with other words, waits for it, and returns what it exits with:
/// 128 and the signal if one ended it. For work that takes a process of its own, such as starting
/// ranks several times.
[[nodiscard]] int run_again(const std::vector<std::string>& words);

/// A file that is gone with this: for what such a process has to say.
class TemporaryFile {
 public:
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string text() const;

 private:
  std::string path_;
};

}  // namespace tutti::cli
