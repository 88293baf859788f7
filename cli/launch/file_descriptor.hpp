#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace tutti::cli {

/// Owns an open file.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor() { close(); }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] explicit operator bool() const { return number_ >= 0; }

  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

/// Both ends of a pipe, closed on exec. If it cannot be opened, errno says why.
struct Pipe {
  FileDescriptor read{};
  FileDescriptor write{};

  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    read = FileDescriptor(ends[0]);
    write = FileDescriptor(ends[1]);
  }
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(read); }
};

}  // namespace tutti::cli
