// Ranks need not be processes: here four threads of one program find the maximum of their numbers,
// and each sends a message to its neighbour.
#include <atomic>
#include <cstdio>
#include <vector>

#include <tutti/communicator.hpp>

int main() {
  std::atomic<int> wrong{0};
  tutti::run_threads(4, [&](tutti::Communicator& comm) {
    std::vector<int> number = {static_cast<int>(comm.rank() * 7 % 5)};
    comm.all_reduce(number, tutti::Op::max);
    if (number[0] != 4) ++wrong;

    const std::uint32_t next = (comm.rank() + 1) % comm.size();
    const std::uint32_t previous = (comm.rank() + comm.size() - 1) % comm.size();
    const std::vector<std::uint32_t> sent = {comm.rank()};
    std::vector<std::uint32_t> received(1);
    comm.send_receive(sent, next, received, previous);
    if (received[0] != previous) ++wrong;
  });
  std::printf("four threads: %s\n", wrong == 0 ? "all is well" : "something is wrong");
  return wrong == 0 ? 0 : 1;
}
