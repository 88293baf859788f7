#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule.hpp>

namespace tutti {

class StepGraph;

/// What a message of n bytes takes: alpha + n·beta.
struct LinkCost {
  double alpha = 0;  ///< Seconds per message.
  double beta = 0;   ///< Seconds per byte.

  friend bool operator==(const LinkCost&, const LinkCost&) = default;
};

/// The α-β-γ model, with one kind of link or two.
struct CostModel {
  LinkCost link;                     ///< Between ranks of different nodes, or any two.
  double gamma = 0;                  ///< Seconds per byte added.
  std::uint32_t ranks_per_node = 1;  ///< Ranks 0 … ranks_per_node − 1 share the first node.
  LinkCost inside{};                 ///< Between ranks of one node.

  [[nodiscard]] const LinkCost& between(Rank a, Rank b) const {
    const bool same = a.index() / ranks_per_node == b.index() / ranks_per_node;
    return same ? inside : link;
  }

  friend bool operator==(const CostModel&, const CostModel&) = default;
};

/// How many messages a rank can have under way.
enum class Ports : std::uint8_t {
  one,        ///< One in and one out at a time, and one sum at a time.
  unlimited,  ///< Any number at once.
};

/// How long a schedule takes in the model, and what the time consists of: along the critical path,
/// so many messages, so many bytes moved and so many bytes added one after the other.
struct Price {
  double seconds = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t reduced = 0;
};

/// Prices one schedule again and again: at many sizes, in many models.
///
/// A message leaves when what it carries is there and, with one port, when the sender's way out and
/// the receiver's way in are free. A port serves one round after the other; within a round a sender
/// takes the messages that are ready in the order of its program, and waits for the receiver of the
/// first. A fold begins when all its operands are there. With unlimited ports nothing but data is
/// waited for.
class TUTTI_API Pricer {
 public:
  /// Requires: a schedule that verify() passes; it must outlive the pricer.
  explicit Pricer(const Schedule& schedule);
  ~Pricer();
  Pricer(Pricer&&) noexcept;
  Pricer& operator=(Pricer&&) noexcept;

  /// Requires: the layout has the schedule's chunks.
  [[nodiscard]] Price price(const Layout& layout, const CostModel& model, Ports ports) const;

 private:
  std::unique_ptr<StepGraph> graph_;
};

}  // namespace tutti
