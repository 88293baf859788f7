#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tutti {

/// A link that a flow crosses, once or, where one flow stands for many, several times.
struct Crossing {
  std::uint32_t link = 0;
  std::uint32_t times = 1;

  friend bool operator==(const Crossing&, const Crossing&) = default;
};

/// The weighted max-min fair rates of flows that share links, kept up to date as flows come and go.
///
/// A flow's level is its rate divided by its weight. Rates are fair if every flow crosses a link
/// that is full and on which nobody has a higher level: its bottleneck (Bertsekas and Gallager,
/// Data Networks, 1992). There is exactly one such assignment.
///
/// When flows come and go only those are looked at whose bottleneck may have moved: rates of a few
/// flows are found anew with all others' held fixed, and whoever's bottleneck that has spoilt, or
/// whoever has more than he should have beside them, joins the few until all is fair. A flow that
/// has its links to itself takes time proportional to its route.
class FairShares {
 public:
  explicit FairShares(std::vector<double> capacities);

  /// A new flow, under a number that is not in use. Requires: a route of one crossing or more that
  /// outlives the flow, and a positive weight.
  void add(std::uint32_t flow, std::span<const Crossing> route, double weight);
  void remove(std::uint32_t flow);

  /// Makes all rates fair again and returns those flows whose rate has changed. The list is good
  /// until the next call.
  std::span<const std::uint32_t> settle();

  /// In bytes per second. Requires: settled since the flow came.
  [[nodiscard]] double rate(std::uint32_t flow) const { return flows_[flow].rate; }
  /// How many flows cross the link.
  [[nodiscard]] std::uint32_t crowd(std::uint32_t link) const { return links_[link].crowd; }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  struct Link {
    double capacity = 0;
    std::uint32_t first = none;  // Of the entries of flows that cross it.
    std::uint32_t crowd = 0;
    bool dirty = false;    // Flows have come or gone.
    bool touched = false;  // Crossed by a flow that was chosen, and
    bool stale = false;    // by one that was chosen just now.
  };

  /// What is known of a link while settling.
  struct Filling {
    double open = 0;           // What those that are held fixed leave of it.
    double weight = 0;         // Of the chosen flows,
    std::uint32_t chosen = 0;  // and how many crossings they make.
    double left = 0;           // The same three without those flows whose rate has been found.
    double left_weight = 0;
    std::uint32_t left_chosen = 0;
    double level = 0;  // Of the flows whose bottleneck it is; infinite if there are none.
  };

  struct Flow {
    double rate = 0;
    double level = 0;
    double weight = 1;
    std::uint32_t bottleneck = none;
    std::uint32_t first = none;  // Entry; the others follow it.
    std::uint32_t length = 0;
    bool chosen = false;  // To be looked at.
    bool found = false;   // While settling: its rate is.
  };

  /// A flow on a link.
  struct Entry {
    std::uint32_t flow = none;
    std::uint32_t link = none;
    std::uint32_t times = 1;
    std::uint32_t next = none;
    std::uint32_t previous = none;
  };

  /// A link that gets full at a level, or at a higher one if flows elsewhere leave it more.
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
  void fill_link(std::uint32_t id);
  [[nodiscard]] bool choose_more();
  void finish();

  std::vector<Link> links_;
  std::vector<Filling> fillings_;  // By link.
  std::vector<Flow> flows_;
  std::vector<Entry> entries_;
  std::vector<std::vector<std::uint32_t>> unused_entries_;  // By length.

  std::vector<std::uint32_t> dirty_;    // Links.
  std::vector<std::uint32_t> arrived_;  // Flows.
  std::vector<std::uint32_t> chosen_;   // Flows,
  std::vector<double> rates_before_;    // what they had,
  std::size_t opened_ = 0;              // and how many of them their links know of.
  std::vector<std::uint32_t> touched_;  // Links.
  std::vector<std::uint32_t> stale_;    // Links.
  std::vector<Candidate> candidates_;   // A heap, the lowest level first.
  std::vector<std::uint32_t> changed_;  // Flows.
};

}  // namespace tutti
