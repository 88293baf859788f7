#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "sim/workload.hpp"

namespace tutti {

/// Which messages may leave when ranks can have only so many under way at once.
///
/// A rank has so many ways out and so many ways in. They serve one round after the other; within a
/// round a sender takes the messages that are ready in the order of its program, and waits for the
/// receiver of the first. Who tries at the same moment tries in the order of rounds, slots and
/// ranks.
class PortLimiter {
 public:
  /// Requires: the workload outlives this; limit > 0.
  PortLimiter(Workload& workload, std::uint32_t limit);

  /// A message that leaves now, and those that were the last to make room on both sides.
  struct Departure {
    std::uint32_t message = 0;
    std::uint32_t last_out = Workload::none;
    std::uint32_t last_in = Workload::none;
  };

  /// What the message carries is there.
  void ready(std::uint32_t message) { unbar(message); }
  /// The message has arrived and is no longer in anybody's way.
  void arrived(std::uint32_t message);
  /// All that can leave now. Good until the next call.
  [[nodiscard]] std::span<const Departure> departures();

 private:
  static constexpr std::uint32_t none = Workload::none;

  /// The ways into a rank, or out of it.
  struct Side {
    std::span<const Workload::Passage> closed{};  // Messages that it is not yet open to.
    std::uint32_t to_leave = 0;  // So many of those it is open to have not left yet.
    std::uint32_t busy = 0;      // So many ways are in use.
    std::uint32_t last = none;   // The message that made room last.
  };

  struct Station {
    Side out;
    Side in;
    std::uint32_t first = none;      // Of the messages that are ready to leave;
    std::uint32_t waits_for = none;  // the same, if its receiver has no room.
    bool tries = false;
    std::uint64_t wanted = 0;           // The last batch of attempts of which one was for it.
    std::vector<std::uint32_t> others;  // That are ready, in a heap.
  };

  /// A message that waits for room at its receiver.
  struct Queued {
    std::uint32_t round;
    std::uint32_t slot;
    std::uint32_t rank;
    std::uint32_t message;

    friend auto operator<=>(const Queued&, const Queued&) = default;
  };
  using Queue = std::priority_queue<Queued, std::vector<Queued>, std::greater<>>;

  void unbar(std::uint32_t message);
  void open_next_round(Side& side);
  void add_ready(Station& station, std::uint32_t message);
  void take_first(Station& station);
  void try_soon(std::uint32_t rank);
  void call_those_who_wait(std::uint32_t rank);
  void sort_attempts();
  void attempt(std::uint32_t rank);
  void depart(std::uint32_t message);

  Workload& workload_;
  std::uint32_t limit_;
  std::vector<Station> stations_;      // By rank.
  std::vector<Queue> queues_;          // By receiver.
  std::vector<std::uint32_t> fresh_;   // Messages in whose way nothing stands any longer.
  std::vector<std::uint32_t> freed_;   // Receivers that have room again, and for whom some wait.
  std::vector<std::uint32_t> trying_;  // Senders.
  std::vector<std::uint32_t> attempts_;
  std::uint64_t batch_ = 0;
  std::vector<Departure> departures_;
};

}  // namespace tutti
