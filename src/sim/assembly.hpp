#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/large_pages.hpp"
#include "sim/reading.hpp"
#include "sim/workload.hpp"

namespace tutti {

/// Makes a workload of readings: numbers what programs say rank by rank in the order in which it
/// will be done, round by round, and finds for each message the fold that it ends in. The readings
/// are worked on at the same time.
class Workload::Assembly {
 public:
  /// Requires: all outlive this. Throws unsupported if there is more than can be numbered.
  Assembly(Workload& into, std::span<Reading> readings, const ScheduleSource& source);

  /// Tells receivers of the messages to them.
  void deliver();
  /// The same where one rank stands for all: what it sends to the rank `d` further on, it receives
  /// from the one `d` before. Leaves in `distances` how far each message goes.
  void deliver_to_itself(std::vector<std::uint32_t>& distances);
  /// Lets the k-th message from a rank to another meet the k-th receive from it. Throws
  /// invalid_argument if some have nothing to meet.
  void meet();
  /// Fills the workload. The hops of the i-th reading have the routes routes[i].
  void write(std::span<const std::vector<std::uint32_t>> routes);

 private:
  struct Arrival {
    Reading::Send* send = nullptr;
    std::uint32_t sender = 0;
    std::uint32_t message = 0;
  };

  /// Of all that is in a reading.
  struct Numbers {
    std::vector<std::uint32_t> messages;
    std::vector<std::uint32_t> folds;
    std::vector<Reading::Count> next;  // By round, those not yet given.
  };

  void divide_rounds();
  void number(const Reading& reading, Numbers& numbers) const;
  void meet_in(const Reading& reading, const Numbers& numbers);
  void list_incoming(std::uint32_t rank, std::span<const Arrival* const> by_end);
  void write_messages(const Reading& reading, const Numbers& numbers,
                      std::span<const std::uint32_t> routes);
  void write_folds(const Reading& reading, Numbers& numbers);

  Workload& into_;
  std::span<Reading> readings_;
  const ScheduleSource& source_;
  std::vector<Numbers> numbers_;  // By reading.
  LargeVector<Arrival> arrivals_;
  std::vector<std::size_t> first_arrival_{0};  // By receiver, and one more.
};

}  // namespace tutti
