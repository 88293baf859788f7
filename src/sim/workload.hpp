#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tutti/layout.hpp>
#include <tutti/rank.hpp>
#include <tutti/schedule_source.hpp>

#include "sim/large_pages.hpp"
#include "sim/last_writers.hpp"
#include "sim/route_table.hpp"

namespace tutti {

/// A schedule as the simulator sees it: messages, the folds that they end in, and what waits for
/// what. Programs are read rank by rank and dropped.
class Workload {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// A message, a fold, or nothing.
  class Item {
   public:
    Item() = default;
    static Item message(std::uint32_t id) { return Item(2 * id); }
    static Item fold(std::uint32_t id) { return Item(2 * id + 1); }

    [[nodiscard]] bool is_message() const { return word_ != none && word_ % 2 == 0; }
    [[nodiscard]] bool is_fold() const { return word_ != none && word_ % 2 == 1; }
    [[nodiscard]] std::uint32_t id() const { return word_ / 2; }

   private:
    explicit Item(std::uint32_t word) : word_(word) {}
    std::uint32_t word_ = none;
  };

  /// On its way from rank to rank: what is known beforehand and, as what is used together is best
  /// kept together, what comes of it. Messages are numbered by round, then by sender, then in the
  /// order of its program: what happens at about the same time stands close together.
  struct Message {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;  // Its place among those that its rank sends in the round.
    std::uint32_t fold = none;
    std::uint32_t route = 0;
    std::uint64_t bytes = 0;
    std::uint32_t waits = 0;  // For so many folds.
    std::uint8_t bars = 0;    // For ports to use: so many things stand in its way.

    Item cause{};      // What it had to wait for last.
    double begun = 0;  // When it left; until then, when what it carries was there.
    double arrived = 0;
  };

  /// What a receive makes of the messages that it waits for, and of what the rank had.
  struct Fold {
    std::uint32_t rank = 0;
    std::uint32_t round = 0;
    std::uint32_t operands = 1;
    std::uint32_t waits = 0;         // For so many messages and folds.
    std::uint32_t first_waiter = 0;  // Who waits for it stands here on,
    std::uint32_t waiters = 0;       // so many of them.
    Item cause{};                    // What it had to wait for last.
    std::uint64_t bytes = 0;
    double done = 0;
  };

  /// A message that a rank sends or receives.
  struct Passage {
    std::uint32_t message : 31;
    std::uint32_t last_in_round : 1;  // Of those that the rank sends, or receives.
  };

  /// Reads all programs of the source. Throws invalid_argument if sends and receives do not meet.
  Workload(const ScheduleSource& source, const Layout& layout, RouteTable& routes);

  /// The program of one rank that stands for all: what it sends to the rank `d` further on, it
  /// receives from the one `d` before. Every distance has its route; how far each message goes is
  /// left in `distances`.
  [[nodiscard]] static Workload of_one_rank(const ScheduleSource& source, const Layout& layout,
                                            std::span<const std::uint32_t> route_by_distance,
                                            std::vector<std::uint32_t>& distances);

  [[nodiscard]] std::uint32_t ranks() const {
    return static_cast<std::uint32_t>(first_outgoing_.size() - 1);
  }
  /// The messages that a rank sends, and those that it receives, in the order of its program.
  [[nodiscard]] std::span<const Passage> outgoing(std::uint32_t rank) const {
    return {outgoing_.data() + first_outgoing_[rank],
            first_outgoing_[rank + 1] - first_outgoing_[rank]};
  }
  [[nodiscard]] std::span<const Passage> incoming(std::uint32_t rank) const {
    return {incoming_.data() + first_incoming_[rank],
            first_incoming_[rank + 1] - first_incoming_[rank]};
  }
  /// Messages and folds that wait for a fold.
  [[nodiscard]] std::span<const Item> waiters(const Fold& fold) const {
    return {waiters_.data() + fold.first_waiter, fold.waiters};
  }

  LargeVector<Message> messages;
  LargeVector<Fold> folds;

 private:
  Workload() = default;

  /// One end of a message, before the message is known.
  struct End {
    std::uint32_t sender;
    std::uint32_t fold;
  };

  struct Wait {
    std::uint32_t writer;  // A fold.
    Item waiter;
  };

  template <class RouteOf>
  void add_rank(std::uint32_t rank, const Program& program, const Contract& contract,
                const Layout& layout, RouteOf&& route_of);
  void find_waits(std::uint32_t at, const Step& step, std::size_t first_fold);
  void add_receive(std::uint32_t rank, const Step& step, std::uint64_t bytes);
  void add_waiters(std::size_t first_fold);
  void end_rank(std::size_t first_fold);
  void number_by_round();
  void number_folds_by_round(std::span<const std::uint32_t> new_messages);
  void list_outgoing();
  void mark_last(std::span<Passage> passages) const;
  void reserve(std::size_t ranks);
  void meet(const std::string& name);
  template <class SenderOf>
  void meet_at(std::uint32_t rank, std::span<const std::uint32_t> inbox, const SenderOf& sender_of,
               const std::string& name);

  std::vector<std::size_t> first_outgoing_{0};
  LargeVector<Passage> outgoing_;
  std::vector<std::size_t> first_incoming_{0};
  LargeVector<Passage> incoming_;
  LargeVector<End> ends_;  // In the order of incoming_, while that is not known.
  LargeVector<Item> waiters_;

  // Of the program being read.
  LastWriters writers_;
  std::vector<Wait> waits_;
  std::vector<std::uint32_t> counted_;  // By fold, the last step that was found to wait for it.
  std::vector<std::uint32_t> seen_;     // Folds that the present step waits for.
  std::vector<std::size_t> order_;
};

}  // namespace tutti
