#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include <tutti/communicator.hpp>

#include "support/processes.hpp"

/// Duplicates must be cheap: programs with a communicator per layer, thread or client make
/// thousands.
namespace tutti::test {
namespace {

constexpr std::size_t duplicates = 400;

std::size_t entries(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// The resident memory of this process, private and shared.
std::size_t resident_kib() {
  std::ifstream status("/proc/self/status");
  std::size_t sum = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:") || line.starts_with("RssShmem:")) {
      sum += std::stoul(line.substr(line.find(':') + 1));
    }
  }
  return sum;
}

class Duplicates : public ::testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Api, Duplicates, ::testing::Values(Way::memory, Way::tcp),
                         [](const auto& each) {
                           return each.param == Way::memory ? "Memory" : "Tcp";
                         });

TEST_P(Duplicates, TakeNoDescriptorNoThreadAndLittleMemory) {
  const std::string faults = run_processes(4, GetParam(), [](Communicator& comm) -> std::string {
    std::vector<Communicator> all;
    all.push_back(comm.duplicate());
    comm.barrier();
    const std::size_t memory = resident_kib();
    const std::size_t descriptors = entries("/proc/self/fd");
    const std::size_t threads = entries("/proc/self/task");
    for (std::size_t i = 0; i < duplicates; ++i) all.push_back(comm.duplicate());
    const double each =
        static_cast<double>(resident_kib() - memory) / static_cast<double>(duplicates);
    if (std::string(TUTTI_SANITIZER).empty() && each > 16)
      return std::to_string(each) + " KiB each";
    if (entries("/proc/self/fd") != descriptors) return "descriptors";
    if (entries("/proc/self/task") != threads) return "threads";
    std::vector<std::uint32_t> data(10, comm.rank());
    all[duplicates / 2].all_reduce(data);
    return data == std::vector<std::uint32_t>(10, 6) ? "" : "a wrong sum";
  });
  EXPECT_EQ(faults, "");
}

/// The memory of a destroyed communicator is reused.
TEST_P(Duplicates, ReleaseTheirMemory) {
  const std::string faults = run_processes(2, GetParam(), [](Communicator& comm) -> std::string {
    const auto churn = [&](std::size_t times) {
      for (std::size_t i = 0; i < times; ++i) {
        Communicator other = comm.duplicate();
        other.barrier();
      }
    };
    churn(100);
    const std::size_t memory = resident_kib();
    churn(500);
    const std::size_t more = resident_kib() - std::min(memory, resident_kib());
    // A leak would be some 6 MiB. A rank may be slow to notice that its peer is done.
    if (!std::string(TUTTI_SANITIZER).empty() || more < 2048) return "";
    return std::to_string(more) + " KiB more after 500 duplicates";
  });
  EXPECT_EQ(faults, "");
}

}  // namespace
}  // namespace tutti::test
