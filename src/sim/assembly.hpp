#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/large_pages.hpp"
#include "sim/reading.hpp"
#include "sim/workload.hpp"

namespace tutti {

/// Builds a workload from readings. Renumbers messages and folds from rank order into execution
/// order (round by round), and finds the fold in which each message ends. Readings are processed in
/// parallel.
class Workload::Assembly {
 public:
  /// Requires: all arguments outlive this. Throws unsupported if there are too many items to
  /// number.
  Assembly(Workload& into, std::span<Reading> readings, const ScheduleSource& source);

  /// Passes the messages to their receivers. If not all ranks are read, the first ones stand for
  /// all, see Workload::of_first_ranks(); `receivers` is then not null.
  void deliver(std::vector<std::uint32_t>* receivers);
  /// Matches the k-th message between two ranks with the k-th receive. Throws invalid_argument if a
  /// message or a receive is left over.
  void meet();
  /// Fills the workload. routes[i] holds the routes of the hops of reading i.
  void write(std::span<const std::vector<std::uint32_t>> routes, bool in_order);

 private:
  struct Arrival {
    Reading::Send* send = nullptr;
    std::uint32_t sender = 0;
    std::uint32_t message = 0;
  };

  /// The new numbers of all items of a reading.
  struct Numbers {
    std::vector<std::uint32_t> messages;
    std::vector<std::uint32_t> folds;
    std::vector<Reading::Count> next;  // The next unused numbers of each round.
  };

  void divide_rounds();
  void number(const Reading& reading, Numbers& numbers) const;
  void meet_in(const Reading& reading, const Numbers& numbers);
  void list_incoming(std::uint32_t rank, std::span<const Arrival* const> by_end);
  void write_messages(const Reading& reading, const Numbers& numbers,
                      std::span<const std::uint32_t> routes, bool in_order);
  void write_folds(const Reading& reading, Numbers& numbers);

  Workload& into_;
  std::span<Reading> readings_;
  const ScheduleSource& source_;
  std::vector<Numbers> numbers_;  // Indexed by reading.
  LargeVector<Arrival> arrivals_;
  std::vector<std::size_t> first_arrival_{0};  // Indexed by receiver, with one more entry.
};

}  // namespace tutti
