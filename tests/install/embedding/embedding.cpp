#include <tutti/communicator.hpp>

unsigned ranks_of_two_threads() {
  unsigned ranks = 0;
  tutti::run_threads(2, [&](tutti::Communicator& communicator) {
    if (communicator.rank() == 0) ranks = communicator.size();
  });
  return ranks;
}
