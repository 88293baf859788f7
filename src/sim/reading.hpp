#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/program.hpp>
#include <tutti/schedule/schedule_source.hpp>

#include "sim/large_pages.hpp"
#include "sim/last_writers.hpp"
#include "sim/work_item.hpp"

namespace tutti {

/// The sends, receives and dependences in the programs of some consecutive ranks, in program order.
/// All indices are relative to the start of the reading.
class Reading {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// A message, as seen by its sender.
  struct Send {
    std::uint32_t to = 0;
    std::uint32_t round = 0;
    std::uint32_t hop = 0;
    std::uint32_t waits = 0;  // Number of receives it waits for.
    std::uint64_t bytes = 0;
    std::uint32_t fold = none;  // The fold in which it ends; found when all ranks have been read.
  };

  /// A fold of one or more messages and of data of the rank. A local step folds only the latter.
  struct Receive {
    std::uint32_t round = 0;
    std::uint32_t operands = 1;
    std::uint32_t waits = 0;         // Number of messages and receives it waits for.
    std::uint32_t first_waiter = 0;  // Index of its first dependent.
    std::uint32_t waiters = 0;       // Number of dependents.
    std::uint64_t bytes = 0;
  };

  /// The end of a message, as seen by its receiver.
  struct End {
    std::uint32_t sender = 0;
    std::uint32_t receive = 0;
  };

  /// A pair of ranks between which messages are sent.
  struct Hop {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };

  /// The number of items in a round.
  struct Count {
    std::uint32_t sends = 0;
    std::uint32_t receives = 0;
    std::uint32_t waiters = 0;
  };

  /// The indices of the first items of a rank.
  struct First {
    std::size_t send = 0;
    std::size_t receive = 0;
    std::size_t end = 0;
  };

  /// Reads the programs of ranks `first` … `last`−1 of the source. Throws invalid_argument if a
  /// rank or chunk is out of range, and unsupported if there are too many items to number.
  Reading(const ScheduleSource& source, const Layout& layout, std::uint32_t first,
          std::uint32_t last);

  [[nodiscard]] std::uint32_t first_rank() const { return first_rank_; }
  [[nodiscard]] std::uint32_t ranks() const {
    return static_cast<std::uint32_t>(first_.size() - 1);
  }

  /// The first items of the i-th rank; for i = ranks(), one past the last items.
  [[nodiscard]] const First& first(std::uint32_t i) const { return first_[i]; }

  [[nodiscard]] std::span<Send> sends() { return sends_; }
  [[nodiscard]] std::span<const Send> sends() const { return sends_; }
  [[nodiscard]] std::span<const Receive> receives() const { return receives_; }
  [[nodiscard]] std::span<const End> ends() const { return ends_; }
  /// The messages and receives that wait for a receive.
  [[nodiscard]] std::span<const WorkItem> waiters(const Receive& receive) const {
    return {waiters_.data() + receive.first_waiter, receive.waiters};
  }
  [[nodiscard]] std::span<const Hop> hops() const { return hops_; }
  [[nodiscard]] std::span<const Count> by_round() const { return by_round_; }

 private:
  struct Wait {
    std::uint32_t receive;
    WorkItem waiter;
  };

  struct KnownHop {
    std::uint32_t from = none;
    std::uint32_t hop = 0;
  };

  void add(const Program& program);
  void check(const Step& step) const;
  void reserve(std::uint32_t ranks);
  void find_waits(std::uint32_t at, const Step& step);
  [[nodiscard]] LastWriters& writers_of(Variant variant);
  void add_sends(std::uint32_t rank, const Step& step, std::uint64_t bytes);
  void add_receive(const Step& step, std::uint64_t bytes);
  void sort_waits();
  [[nodiscard]] std::uint32_t hop(std::uint32_t from, std::uint32_t to);
  [[nodiscard]] Count& in_round(std::uint32_t round);

  const ScheduleSource& source_;
  const Layout& layout_;
  std::uint32_t first_rank_;
  std::vector<First> first_{First{}};  // Indexed by rank, with one more entry.
  LargeVector<Send> sends_;
  LargeVector<Receive> receives_;
  LargeVector<End> ends_;
  LargeVector<WorkItem> waiters_;
  std::vector<Hop> hops_;
  std::vector<KnownHop> known_hops_;  // Indexed by receiver.
  std::vector<Count> by_round_;

  // State of the program being read.
  LastWriters writers_;
  std::map<Variant, LastWriters> writers_beside_;  // For variants other than the default one.
  std::vector<Wait> waits_;
  std::vector<std::uint32_t> counted_;  // By receive: the last step that was found to wait for it.
  std::vector<std::uint32_t> seen_;     // Receives that the current step waits for.
};

/// Throws unsupported if there are more items of one kind than can be numbered.
void check_numbers(std::size_t count);

/// Throws invalid_argument for a schedule that verify() would have rejected.
[[noreturn]] void reject_unverified(const std::string& name, const std::string& reason);

}  // namespace tutti
