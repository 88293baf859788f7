#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <tutti/schedule/schedule.hpp>

#include "exec/executor.hpp"
#include "support/erratic/open.hpp"
#include "transport/inproc/thread_memory.hpp"
#include "transport/memory/memory_transport.hpp"

namespace tutti::test {

/// How the ranks of a crew access each other's memory.
enum class Sight {
  staged,   ///< Data is copied into outboxes, as between processes.
  direct,   ///< Data is read in place, as between threads.
  tcp,      ///< Not at all: data goes over TCP, as between hosts.
  mixed,    ///< Ranks of one half read each other's memory in place; the halves are joined by TCP.
  erratic,  ///< By a port that delays, splits and reorders: see erratic::row().
};

/// Ranks as threads of this process, each with an executor over memory that all share, over TCP, or
/// over both.
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

  /// For Sight::erratic. Crews that are made later get other seeds.
  static void set_temper(const erratic::Temper& temper);

  [[nodiscard]] std::uint32_t ranks() const;
  [[nodiscard]] Port& port(Rank rank);
  /// Begins a call with this tag on a rank's port. Before that, the tag is 0.
  void begin(Rank rank, std::uint32_t tag);
  /// For compiling plans of a rank.
  [[nodiscard]] std::span<const std::uint32_t> lanes(Rank rank) const;

 private:
  class Member;

  void share_memory(std::span<const std::uint32_t> ranks, Sight sight, Staging staging);
  void join_by_tcp();
  void join_erratically();

  std::vector<std::unique_ptr<ThreadMemory>> memory_;  // One for each group that shares memory.
  std::vector<std::unique_ptr<Member>> members_;
};

/// One rank's memory for a call on u32 elements: separate input and output, or in place. Each rank,
/// chunk and element has a different number; sums wrap around.
class CallMemory {
 public:
  using Element = std::uint32_t;

  CallMemory(const Contract& contract, const Layout& layout, Rank self, Aliasing aliasing);

  [[nodiscard]] Buffers buffers(const Plan& plan);
  /// The first error in the output; empty if there is none.
  [[nodiscard]] std::string fault() const;
  /// Overwrites the buffers: a rank that still reads them gets other results.
  void spoil();

 private:
  static constexpr Element canary = 0xDEADBEEF;

  [[nodiscard]] std::size_t length(const ChunkSeries& series) const;
  [[nodiscard]] std::size_t offset(const ChunkSeries& series, Chunk chunk) const;
  void fill();

  const Contract& contract_;
  const Layout& layout_;
  Rank self_;
  std::vector<Element> input_;
  std::vector<Element> output_;
  Element* in_;
  Element* out_;
  std::vector<std::byte> scratch_;
  std::vector<std::byte> spare_;
};

/// Runs a schedule of the table on u32 elements and returns the first error in the outputs, or an
/// empty text. `segment`: see PlanRequest.
[[nodiscard]] std::string run_and_check(Crew& crew, const Schedule& schedule, const Layout& layout,
                                        Aliasing aliasing, std::uint64_t segment = 0);

}  // namespace tutti::test
