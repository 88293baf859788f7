#include "core/whole_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace tutti {
namespace {

constexpr mode_t permissions = 0666;  // Less the umask.

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Some file systems report a full disk only on close.
int close_after(int fd, int error) { return close(fd) != 0 && error == 0 ? errno : error; }

int rename_over(const std::string& fresh, const std::string& path) {
  if (std::rename(fresh.c_str(), path.c_str()) == 0) return 0;
  const int error = errno;
  unlink(fresh.c_str());
  return error;
}

/// Gives the unnamed file its name. A link cannot replace a file, so for this moment there is
/// another name.
int name_file(int fd, const std::string& path, const std::string& fresh) {
  const std::string unnamed = "/proc/self/fd/" + std::to_string(fd);
  const auto link = [&](const std::string& to) {
    return linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0
                                                                                           : errno;
  };
  const int error = link(path);
  if (error != EEXIST) return error;
  unlink(fresh.c_str());
  const int other = link(fresh);
  return other != 0 ? other : rename_over(fresh, path);
}

/// A device or a pipe is not replaced.
int write_directly(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  return fd < 0 ? errno : close_after(fd, write_all(fd, text));
}

/// For file systems without unnamed files, and without /proc.
int write_named(const std::string& path, const std::string& fresh, std::string_view text) {
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, permissions);
  if (fd < 0) return errno;
  if (const int error = close_after(fd, write_all(fd, text)); error != 0) {
    unlink(fresh.c_str());
    return error;
  }
  return rename_over(fresh, path);
}

}  // namespace

int write_whole_file(const std::string& path, std::string_view text) {
  std::error_code ignored;
  if (std::filesystem::is_other(path, ignored)) return write_directly(path, text);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const std::string fresh = path + "." + std::to_string(getpid()) + ".new";
  const int fd =
      open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, permissions);
  if (fd < 0) {
    const bool has_unnamed_files = errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL;
    return has_unnamed_files ? errno : write_named(path, fresh, text);
  }
  if (const int error = write_all(fd, text); error != 0) return close_after(fd, error);
  const int error = close_after(fd, name_file(fd, path, fresh));
  const bool has_proc = access("/proc/self/fd", X_OK) == 0;
  return error == 0 || has_proc ? error : write_named(path, fresh, text);
}

}  // namespace tutti
