#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule.hpp>

#include "schedule/messages.hpp"

namespace tutti {

/// The schedule as a graph: steps, messages and dependences.
class StepGraph {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// Requires: verify() passes the schedule. The schedule must outlive the graph.
  explicit StepGraph(const Schedule& schedule);

  struct Message {
    std::uint32_t send;     // The step that sends it.
    std::uint32_t receive;  // The step that receives it.
    std::uint32_t slot;     // Its index among the messages that its rank sends in the round.
  };
  struct StepInfo {
    Rank rank;
    std::uint32_t round;
    std::uint32_t operands;  // Of a receive or a local step; 0 for a send.
    std::uint32_t waits;     // Number of steps and, for a receive, messages to wait for.
    std::uint32_t
        messages_end;  // End of a send's messages. They start where those of the previous step end.
    std::uint32_t waiters_end;  // End of the steps that wait for this one; start as above.
  };

  [[nodiscard]] std::span<const std::uint32_t> waiters(std::uint32_t step) const {
    const std::uint32_t begin = step == 0 ? 0 : steps[step - 1].waiters_end;
    return {waiting.data() + begin, steps[step].waiters_end - begin};
  }
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> messages_of(std::uint32_t step) const {
    return {step == 0 ? 0 : steps[step - 1].messages_end, steps[step].messages_end};
  }

  /// The messages that a rank sends, in the order of its program.
  [[nodiscard]] std::span<const std::uint32_t> outgoing(Rank rank) const {
    return {outgoing_.data() + first_outgoing_[rank],
            first_outgoing_[rank + 1] - first_outgoing_[rank]};
  }
  /// The messages that a rank receives, in the order of its program.
  [[nodiscard]] std::span<const std::uint32_t> incoming(Rank rank) const {
    return {incoming_.data() + first_incoming_[rank],
            first_incoming_[rank + 1] - first_incoming_[rank]};
  }

  /// The bytes that each step moves to or from each peer.
  [[nodiscard]] std::vector<std::uint64_t> sizes(const Layout& layout) const;

  const Schedule* schedule;
  std::vector<StepInfo> steps;
  std::vector<Message> messages;
  std::vector<std::uint32_t> waiting;

 private:
  void add_rank(Rank self, const Messages& meetings, std::span<const std::uint32_t> first_step);
  void add_waits(Rank self, std::uint32_t first_step);
  void index_messages();

  std::vector<std::size_t> first_outgoing_;
  std::vector<std::uint32_t> outgoing_;
  std::vector<std::size_t> first_incoming_;
  std::vector<std::uint32_t> incoming_;
};

}  // namespace tutti
