#include "peers/forked_ranks.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <vector>

namespace peers {

int run_forked(int ranks, const std::function<int(int rank)>& be) {
  std::vector<pid_t> others;
  for (int rank = 1; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      std::_Exit(be(rank));
    }
    if (child > 0) others.push_back(child);
  }
  int status = be(0);
  for (const pid_t child : others) {
    // Without rank 0 the others would wait for ever.
    if (status == 1) kill(child, SIGKILL);
    int ended = 0;
    waitpid(child, &ended, 0);
    if (status == 0 && ended != 0) status = 1;
  }
  return status;
}

}  // namespace peers
