#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

class StepGraph;

/// The time of a message of n bytes: alpha + n·beta.
struct LinkCost {
  double alpha = 0;  ///< Seconds per message.
  double beta = 0;   ///< Seconds per byte.

  friend bool operator==(const LinkCost&, const LinkCost&) = default;
};

/// The α-β-γ model, with one or two kinds of links.
struct CostModel {
  LinkCost
      link;  ///< Between ranks of different nodes; between any two ranks if ranks_per_node is 1.
  double gamma = 0;                  ///< Seconds per byte added.
  std::uint32_t ranks_per_node = 1;  ///< Ranks 0 … ranks_per_node − 1 share the first node.
  LinkCost inside{};                 ///< Between ranks of one node.

  [[nodiscard]] const LinkCost& between(Rank a, Rank b) const {
    const bool same = a / ranks_per_node == b / ranks_per_node;
    return same ? inside : link;
  }

  friend bool operator==(const CostModel&, const CostModel&) = default;
};

/// The number of messages that a rank can have in flight.
enum class Ports : std::uint8_t {
  one,        ///< One in and one out at a time, and one fold at a time.
  unlimited,  ///< Any number at once, each at the full bandwidth of a link: no contention.
};

/// The time of a schedule in the model, and its parts: the messages, the bytes moved and the bytes
/// added along the critical path.
struct Price {
  double seconds = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t reduced = 0;
};

/// Prices one schedule many times, at different sizes and in different models.
///
/// A message starts when its data is ready and, with one port, when the sender's output port and
/// the receiver's input port are free. A port handles the rounds in order. Within a round a sender
/// takes its ready messages in program order, and waits for the receiver of the first. A fold
/// starts when all its operands are ready. With unlimited ports only data dependences cause
/// waiting.
class TUTTI_API Pricer {
 public:
  /// Requires: verify() passes the schedule. The schedule must outlive the pricer.
  explicit Pricer(const Schedule& schedule);
  ~Pricer();
  Pricer(Pricer&&) noexcept;
  Pricer& operator=(Pricer&&) noexcept;

  /// Requires: the layout has as many chunks as the schedule.
  [[nodiscard]] Price price(const Layout& layout, const CostModel& model, Ports ports) const;

 private:
  std::unique_ptr<StepGraph> graph_;
};

}  // namespace tutti
