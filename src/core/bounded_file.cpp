#include "core/bounded_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <tutti/error.hpp>

#include "core/quantity.hpp"
#include "core/system_reason.hpp"

namespace tutti {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "cannot read " + what + ": " + why);
}

[[noreturn]] void refuse_length(const std::string& what, std::uint64_t most) {
  refuse(what, "it is longer than " + format_bytes(most) + ", which is the limit");
}

std::string read_all(int fd, const std::string& what, std::uint64_t most) {
  struct stat facts {};
  if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) &&
      static_cast<std::uint64_t>(facts.st_size) > most) {
    refuse_length(what, most);
  }
  std::string text;
  std::array<char, 16384> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  while (true) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got == 0) return text;
    if (got < 0) {
      if (errno == EINTR) continue;
      refuse(what, system_reason(errno));
    }
    if (text.size() + static_cast<std::size_t>(got) > most) refuse_length(what, most);
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// Closes the descriptor when it is destroyed.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::string read_file(const std::string& path, std::uint64_t most) {
  const std::string what = "the file '" + path + "'";
  const OpenFile file(path);
  if (file.fd() < 0) refuse(what, system_reason(errno));
  return read_all(file.fd(), what, most);
}

std::string read_standard_input(std::uint64_t most) {
  return read_all(STDIN_FILENO, "standard input", most);
}

}  // namespace tutti
