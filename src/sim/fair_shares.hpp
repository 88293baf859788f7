#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tutti {

/// A link that a flow crosses: once, or several times if the flow stands for many.
struct Crossing {
  std::uint32_t link = 0;
  std::uint32_t times = 1;

  friend bool operator==(const Crossing&, const Crossing&) = default;
};

/// Weighted max-min fair rates of flows that share links, updated as flows start and end.
///
/// The level of a flow is its rate divided by its weight. Rates are max-min fair if every flow
/// crosses a full link on which no flow has a higher level: its bottleneck (Bertsekas and Gallager,
/// Data Networks, 1992). There is exactly one such assignment.
///
/// Updates are incremental. The rates of the flows whose bottleneck may have moved are computed
/// again, with all other rates fixed. If that invalidates the bottleneck of another flow, or gives
/// it too large a share, that flow joins them, until all rates are fair. A flow that is alone on
/// its links takes time proportional to the length of its route.
class FairShares {
 public:
  explicit FairShares(std::vector<double> capacities);

  /// Adds a flow under an unused number. Requires: a non-empty route that outlives the flow, and a
  /// positive weight.
  void add(std::uint32_t flow, std::span<const Crossing> route, double weight);
  void remove(std::uint32_t flow);

  /// Makes all rates fair again and returns the flows whose rate has changed. The list is valid
  /// until the next call.
  std::span<const std::uint32_t> settle();

  /// In bytes per second. Requires: settle() was called after add().
  [[nodiscard]] double rate(std::uint32_t flow) const { return flows_[flow].rate; }
  /// The number of flows.
  [[nodiscard]] std::size_t flows() const { return count_; }
  /// The number of flows that cross the link.
  [[nodiscard]] std::uint32_t crowd(std::uint32_t link) const { return links_[link].crowd; }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  struct Link {
    double capacity = 0;
    std::uint32_t first = none;  // First entry of the list of flows that cross the link.
    std::uint32_t crowd = 0;
    bool dirty = false;    // Flows have started or ended.
    bool touched = false;  // Crossed by a chosen flow.
    bool stale = false;    // Crossed by a newly chosen flow.
  };

  /// State of a link while settling.
  struct Filling {
    double open = 0;           // Capacity left by the flows whose rates are fixed.
    double weight = 0;         // Sum of the weights of the chosen flows.
    std::uint32_t chosen = 0;  // Number of crossings of the chosen flows.
    double left = 0;           // The same three without the flows whose rate has been found.
    double left_weight = 0;
    std::uint32_t left_chosen = 0;
    double level = 0;  // Level of the flows whose bottleneck it is; infinite if there are none.
  };

  struct Flow {
    double rate = 0;
    double level = 0;
    double weight = 1;
    std::uint32_t bottleneck = none;
    std::uint32_t first = none;  // First entry; the others follow it.
    std::uint32_t length = 0;
    bool chosen = false;  // Its rate is computed again.
    bool found = false;   // While settling: its rate has been found.
  };

  /// A flow in the list of a link.
  struct Entry {
    std::uint32_t flow = none;
    std::uint32_t link = none;
    std::uint32_t times = 1;
    std::uint32_t next = none;
    std::uint32_t previous = none;
  };

  /// A link that is full at a level, or at a higher one if flows get less elsewhere.
  struct Candidate {
    double level;
    std::uint32_t link;
  };

  [[nodiscard]] std::uint32_t take_entries(std::uint32_t length);
  [[nodiscard]] std::span<const Entry> entries(const Flow& flow) const {
    return {entries_.data() + flow.first, flow.length};
  }
  void mark_dirty(std::uint32_t link);
  [[nodiscard]] bool settle_alone(std::uint32_t flow);
  void choose(std::uint32_t flow);
  void choose_by_dirty_links();
  void open_links();
  void open_link(std::uint32_t id);
  void fill();
  void fill_few();
  void fill_many();
  void fill_link(std::uint32_t id);
  [[nodiscard]] bool choose_more();
  void finish();

  std::size_t count_ = 0;
  std::vector<Link> links_;
  std::vector<Filling> fillings_;  // Indexed by link.
  std::vector<Flow> flows_;
  std::vector<Entry> entries_;
  std::vector<std::vector<std::uint32_t>> unused_entries_;  // Indexed by length.

  std::vector<std::uint32_t> dirty_;    // Links.
  std::vector<std::uint32_t> arrived_;  // Flows.
  std::vector<std::uint32_t> chosen_;   // Flows.
  std::vector<double> rates_before_;    // Rates of the chosen flows before.
  std::size_t opened_ = 0;              // Number of chosen flows that are counted on their links.
  std::vector<std::uint32_t> touched_;  // Links.
  std::vector<std::uint32_t> stale_;    // Links.
  std::vector<Candidate> candidates_;   // A heap, lowest level first.
  std::vector<std::uint32_t> changed_;  // Flows.
};

}  // namespace tutti
