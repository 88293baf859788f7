#include "child.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>

namespace tutti::oracle {

std::optional<Outcome> in_a_child(const std::function<double()>& work) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return {};
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return {};
  if (child == 0) {
    Outcome outcome;
    const auto begin = std::chrono::steady_clock::now();
    try {
      outcome.value = work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "oracle: %s\n", error.what());
      _exit(1);
    }
    outcome.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    outcome.megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
    const bool told = write(pipe_ends[1], &outcome, sizeof outcome) == sizeof outcome;
    _exit(told ? 0 : 1);
  }
  close(pipe_ends[1]);
  Outcome outcome;
  const bool heard = read(pipe_ends[0], &outcome, sizeof outcome) == sizeof outcome;
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!heard || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return {};
  return outcome;
}

}  // namespace tutti::oracle
