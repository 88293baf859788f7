// A rank is lost in the middle of the work, and the others continue without it.
// Run it with: tutti run -n 6 -- build/examples/survive

#include <unistd.h>

#include <cstdio>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/retry.hpp>

int main() {
  tutti::Communicator comm = tutti::Communicator::from_environment();
  const bool is_unlucky = comm.size() > 1 && comm.rank() == comm.size() - 1;
  for (int step = 1; step <= 5; ++step) {
    if (is_unlucky && step == 3) _exit(0);  // Without leaving the group.
    std::vector<float> gradient(1000, 1);
    const tutti::Retried retried = tutti::with_retry(
        comm, [&](tutti::Communicator& group) { group.all_reduce(gradient); }, gradient);
    for (float& each : gradient) each /= static_cast<float>(retried.ranks);
    if (comm.rank() > 0) continue;
    std::printf("step %d: the average over %u ranks is %g\n", step, retried.ranks, gradient[0]);
    for (const unsigned rank : retried.gone)
      std::printf("  without rank %u, which is lost\n", rank);
  }
}
