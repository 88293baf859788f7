#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <tutti/schedule/schedule.hpp>

#include "exec/executor.hpp"
#include "transport/inproc/thread_memory.hpp"
#include "transport/memory/memory_transport.hpp"

namespace tutti::test {

/// How the ranks of a crew access each other's memory.
enum class Sight {
  staged,  ///< Data is copied into outboxes, as between processes.
  direct,  ///< Data is read in place, as between threads.
  tcp,     ///< Not at all: data goes over TCP, as between hosts.
};

/// Ranks as threads of this process, each with an executor over memory that all share, or over TCP.
class Crew {
 public:
  /// The size of a rank's staging memory.
  struct Staging {
    std::uint32_t slots = 0;
    std::uint32_t slot_bytes = 0;
  };

  Crew(std::uint32_t ranks, Sight sight, Staging staging, std::size_t slice_bytes);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Calls work(rank, executor) for every rank concurrently, and rethrows the first exception.
  void all(const std::function<void(Rank, Executor&)>& work);

  [[nodiscard]] std::uint32_t ranks() const;
  /// For compiling plans.
  [[nodiscard]] std::span<const std::uint32_t> lanes() const { return lanes_; }

 private:
  class Member;
  std::vector<std::uint32_t> lanes_;
  std::unique_ptr<ThreadMemory> memory_;
  std::vector<std::unique_ptr<Member>> members_;
};

/// Runs a schedule of the table on u32 elements and returns the first error in the outputs, or an
/// empty text. Each rank, chunk and element has a different number; sums wrap around. `segment`:
/// see PlanRequest.
[[nodiscard]] std::string run_and_check(Crew& crew, const Schedule& schedule, const Layout& layout,
                                        Aliasing aliasing, std::uint64_t segment = 0);

}  // namespace tutti::test
