// Every rank contributes a vector, and every rank gets the sum of all.
//   tutti run -n 4 -- build/examples/hello_allreduce
#include <cstdio>
#include <vector>

#include <tutti/communicator.hpp>

int main() {
  tutti::Communicator comm = tutti::Communicator::from_environment();

  std::vector<float> mine(1000, static_cast<float>(comm.rank() + 1));
  std::vector<float> sum(1000);
  comm.all_reduce(mine, sum);

  const float expected = static_cast<float>(comm.size() * (comm.size() + 1)) / 2;
  std::printf("rank %u of %u: the sum is %g\n", comm.rank(), comm.size(), sum.front());
  return sum.front() == expected && sum.back() == expected ? 0 : 1;
}
