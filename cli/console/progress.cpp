#include "cli/console/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace tutti::cli {

Progress::Progress(std::string what, std::uint64_t total)
    : what_(std::move(what)),
      total_(std::max<std::uint64_t>(total, 1)),
      terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { hide(); }

void Progress::hide() {
  const std::lock_guard lock(mutex_);
  if (visible_) std::fputs("\r\033[K", stderr);
  visible_ = false;
}

void Progress::advance(std::uint64_t by) {
  const std::lock_guard lock(mutex_);
  done_ += by;
  draw();
}

void Progress::set(double share) {
  const std::lock_guard lock(mutex_);
  done_ = static_cast<std::uint64_t>(share * static_cast<double>(total_));
  draw();
}

void Progress::draw() {
  using namespace std::chrono_literals;
  const Clock::time_point now = Clock::now();
  if (!terminal_ || now - begin_ < 500ms || now - drawn_ < 100ms) return;
  drawn_ = now;
  visible_ = true;
  constexpr std::uint64_t cells = 30;
  const std::uint64_t filled = std::min(done_, total_) * cells / total_;
  const std::string bar = std::string(filled, '#') + std::string(cells - filled, '.');
  std::fprintf(stderr, "\r%s [%s] %3u%%", what_.c_str(), bar.c_str(),
               static_cast<unsigned>(std::min(done_, total_) * 100 / total_));
  std::fflush(stderr);
}

}  // namespace tutti::cli
