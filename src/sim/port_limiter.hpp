#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "sim/workload.hpp"

namespace tutti {

/// Decides which messages may depart if ranks have a limited number of ports.
///
/// A rank has `limit` ports out and `limit` ports in. They serve one round after the other. Within
/// a round a sender takes the messages that are ready in program order, and waits for the receiver
/// of the first one. Attempts at the same time are ordered by round, slot and rank.
class PortLimiter {
 public:
  /// Requires: the workload outlives this; limit > 0.
  PortLimiter(Workload& workload, std::uint32_t limit);

  /// A message that departs now, and the messages that freed the ports on both sides.
  struct Departure {
    std::uint32_t message = 0;
    std::uint32_t last_out = Workload::none;
    std::uint32_t last_in = Workload::none;
  };

  /// The data of the message is ready.
  void ready(std::uint32_t message) { unbar(message); }
  /// The message has arrived and frees its ports.
  void arrived(std::uint32_t message);
  /// All messages that can depart now. Valid until the next call.
  [[nodiscard]] std::span<const Departure> departures();

 private:
  static constexpr std::uint32_t none = Workload::none;

  /// The ports into a rank, or out of it.
  struct Side {
    std::span<const Workload::Passage> closed{};  // Messages of later rounds.
    std::uint32_t to_leave = 0;                   // Messages of open rounds that have not departed.
    std::uint32_t busy = 0;                       // Ports in use.
    std::uint32_t last = none;                    // The message that freed a port last.
  };

  struct Station {
    Side out;
    Side in;
    std::uint32_t first = none;      // The first message that is ready to depart.
    std::uint32_t waits_for = none;  // The same message if its receiver has no free port.
    bool tries = false;
    std::uint64_t wanted = 0;           // The last batch of attempts that contains this receiver.
    std::vector<std::uint32_t> others;  // Other messages that are ready: a heap.
  };

  /// A message that waits for a free port of its receiver.
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
  void wake_waiting_senders(std::uint32_t rank);
  void sort_attempts();
  void attempt(std::uint32_t rank);
  void depart(std::uint32_t message);

  Workload& workload_;
  std::uint32_t limit_;
  std::vector<Station> stations_;      // Indexed by rank.
  std::vector<Queue> queues_;          // Indexed by receiver.
  std::vector<std::uint32_t> fresh_;   // Messages that have become ready.
  std::vector<std::uint32_t> freed_;   // Receivers with a free port again and messages waiting.
  std::vector<std::uint32_t> trying_;  // Senders.
  std::vector<std::uint32_t> attempts_;
  std::uint64_t batch_ = 0;
  std::vector<Departure> departures_;
};

}  // namespace tutti
