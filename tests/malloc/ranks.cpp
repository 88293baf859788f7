// Ranks whose ordinary vectors are shared memory.
#include <cstdio>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/memory.hpp>

int main() {
  tutti::Communicator comm = tutti::Communicator::from_environment();
  for (const std::size_t count : {1200, 5000, 100000}) {
    std::vector<float> data(count, 1);
    if (tutti::allocated_bytes(data.data()) < count * sizeof(float)) {
      std::fprintf(stderr, "a vector of %zu numbers is not in shared memory\n", count);
      return 1;
    }
    for (int i = 0; i < 5; ++i) comm.all_reduce(data, tutti::Op::max);
    if (data.front() != 1 || data.back() != 1) return 1;
  }
  // The cache of blocks allocates, too.
  std::vector<void*> blocks;
  for (int i = 0; i < 2000; ++i) blocks.push_back(tutti::allocate_uninitialized(8192));
  for (void* const each : blocks) tutti::deallocate(each);
  tutti::trim_memory();
  const tutti::Counters counters = comm.counters(tutti::Collective::allreduce);
  if (counters.bytes_put == 0) {
    std::fprintf(stderr, "no result was written in place\n");
    return 1;
  }
  return 0;
}
