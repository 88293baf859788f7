// Long buffers in ordinary memory, which other processes come to read and write in place.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "support/processes.hpp"
#include "support/sanitizer.hpp"
#include "transport/memory/memory_map.hpp"
#include "transport/memory/shared_heap.hpp"

namespace tutti::test {
namespace {

constexpr std::uint32_t processes = 3;

class OrdinaryMemory : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("TUTTI_ADOPT"); }
  void SetUp() override {
    if (is_sanitized) GTEST_SKIP() << "the sanitizer replaces malloc";
    if (!MemoryMap().can_be_asked()) GTEST_SKIP() << "the kernel cannot be asked";
    setenv("TUTTI_ADOPT", "auto", 1);
  }
};

struct Free {
  void operator()(float* memory) const { std::free(memory); }
};
using Array = std::unique_ptr<float, Free>;

Array array(std::size_t count) {
  return Array(static_cast<float*>(std::malloc(count * sizeof(float))));
}

/// Element i of what a rank contributes in a round. Sums of three are exact.
float value(std::size_t i, std::uint32_t rank, std::uint32_t round) {
  return static_cast<float>((i * 7 + rank * 31 + round * 101) % 4096);
}

float sum(std::size_t i, std::uint32_t round) {
  float all = 0;
  for (std::uint32_t rank = 0; rank < processes; ++rank) all += value(i, rank, round);
  return all;
}

/// Fills the input, reduces it, and returns the first error.
std::string reduce(Communicator& comm, std::span<float> input, std::span<float> output,
                   std::uint32_t round) {
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = value(i, comm.rank(), round);
  comm.all_reduce(std::span<const float>(input), output);
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (output[i] != sum(i, round)) {
      return "round " + std::to_string(round) + ": element " + std::to_string(i) + " is " +
             std::to_string(output[i]) + ", not " + std::to_string(sum(i, round));
    }
  }
  return "";
}

TEST_F(OrdinaryMemory, IsReadAndWrittenInPlaceOnceItIsUsedAgain) {
  EXPECT_EQ(run_processes(processes, Way::memory,
                          [](Communicator& comm) -> std::string {
                            constexpr std::size_t count = 300000;
                            const Array input = array(count);
                            const Array output = array(count);
                            const std::span<float> in(input.get(), count);
                            const std::span<float> out(output.get(), count);
                            std::string error;
                            for (std::uint32_t round = 0; round < 10 && error.empty(); ++round) {
                              error = reduce(comm, in, out, round);
                            }
                            for (std::uint32_t round = 0; round < 10 && error.empty(); ++round) {
                              error = reduce(comm, out, out, round);
                            }
                            if (!error.empty()) return error;
                            if (SharedHeap::own().adopted().bytes() != 2 * count * sizeof(float)) {
                              return "the buffers were not adopted";
                            }
                            return comm.counters(Collective::allreduce).bytes_put > 0
                                       ? ""
                                       : "no result was written in place";
                          }),
            "");
}

TEST_F(OrdinaryMemory, CanBeFreedAndAllocatedBetweenCalls) {
  EXPECT_EQ(run_processes(
                processes, Way::memory,
                [](Communicator& comm) -> std::string {
                  std::string error;
                  std::uint32_t round = 0;
                  for (std::size_t count = 50000; count < 400000; count += 70001) {
                    Array input = array(count);
                    Array output = array(count);
                    for (int i = 0; i < 20 && error.empty(); ++i) {
                      // Each rank frees at other times than the others.
                      if ((i + comm.rank()) % 6 == 5) input = array(count);
                      if ((i + comm.rank()) % 9 == 5) output = array(count);
                      error = reduce(comm, {input.get(), count}, {output.get(), count}, round++);
                    }
                  }
                  return error;
                }),
            "");
}

TEST_F(OrdinaryMemory, IsNotAdoptedIfTheCommunicatorSaysSo) {
  EXPECT_EQ(run_processes(2, Way::memory,
                          [](Communicator& comm) -> std::string {
                            Communicator off = comm.duplicate({.adopt = "off"});
                            std::vector<float> data(200000, 1);
                            for (int i = 0; i < 20; ++i) off.all_reduce(std::span(data), Op::max);
                            return SharedHeap::own().adopted().bytes() == 0 ? "" : "adopted";
                          }),
            "");
}

TEST_F(OrdinaryMemory, ForkedChildrenHaveACopy) {
  EXPECT_EQ(run_processes(2, Way::memory,
                          [](Communicator& comm) -> std::string {
                            std::vector<float> data(200000, 1);
                            for (int i = 0; i < 20; ++i) comm.all_reduce(std::span(data), Op::max);
                            if (SharedHeap::own().adopted().bytes() == 0) return "not adopted";
                            std::fill(data.begin(), data.end(), 5.0F);
                            const pid_t child = fork();
                            if (child == 0) {
                              usleep(50000);
                              const bool is_copy = data.front() == 5 && data.back() == 5;
                              std::fill(data.begin(), data.end(), 7.0F);
                              _exit(is_copy ? 0 : 1);
                            }
                            std::string error;
                            for (int i = 0; i < 20; ++i) {
                              std::fill(data.begin(), data.end(), static_cast<float>(10 + i));
                              comm.all_reduce(std::span(data), Op::max);
                              if (data[100000] != static_cast<float>(10 + i)) error = "wrong";
                            }
                            int status = 1;
                            waitpid(child, &status, 0);
                            return status == 0 ? error : "the child saw its parent's data";
                          }),
            "");
}

}  // namespace
}  // namespace tutti::test
