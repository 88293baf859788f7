#include "cli/launch/rank_input.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>

#include <tutti/error.hpp>

namespace tutti::cli {
namespace {

/// False if the reading end is closed.
bool pass_on(int to, std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = ::write(to, data.data(), data.size());
    if (written > 0) {
      data.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void pump(const FileDescriptor& to) {
  // In the background, a read would stop the whole launcher (SIGTTIN). It fails instead and is
  // repeated, in case the job comes to the foreground.
  sigset_t background;
  ::sigemptyset(&background);
  ::sigaddset(&background, SIGTTIN);
  ::pthread_sigmask(SIG_BLOCK, &background, nullptr);
  std::array<char, 4096> data{};
  while (true) {
    const ssize_t got = ::read(STDIN_FILENO, data.data(), data.size());
    if (got > 0) {
      if (!pass_on(to.number(), {data.data(), static_cast<std::size_t>(got)})) return;
    } else if (got < 0 && errno == EIO) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    } else if (got == 0 || errno != EINTR) {
      return;
    }
  }
}

}  // namespace

void RankInput::prepare() {
  if (::isatty(STDIN_FILENO) != 1) return;
  Pipe pipe;
  if (!pipe) {
    throw Error(ErrorCode::invalid_argument,
                "cannot open a pipe for the input: " + std::generic_category().message(errno));
  }
  reading_ = std::move(pipe.read);
  writing_ = std::move(pipe.write);
}

int RankInput::end() const { return reading_ ? reading_.number() : STDIN_FILENO; }

void RankInput::start() {
  if (!writing_) return;
  reading_.close();
  // A blocking read of a terminal cannot be cancelled, so the thread is not joined.
  std::thread([to = std::move(writing_)] { pump(to); }).detach();
}

}  // namespace tutti::cli
