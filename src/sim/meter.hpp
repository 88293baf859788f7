#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tutti/sim/simulation.hpp>

#include "sim/fair_shares.hpp"

namespace tutti {

/// Counts what links carry: in all, for how long, and over time.
class Meter {
 public:
  /// With no intervals, nothing is counted over time.
  Meter(std::size_t links, std::uint32_t intervals);

  /// Something begins to flow on a link that was idle; or the last that flowed has ended.
  void begin(std::uint32_t link, double now) { counts_[link].since = now; }
  void end(std::uint32_t link, double now) { counts_[link].use.busy += now - counts_[link].since; }

  void carry(std::span<const Crossing> route, double bytes) {
    for (const Crossing& each : route) counts_[each.link].use.bytes += each.times * bytes;
  }
  /// Between two moments the links of a route carried so many bytes per second.
  void flow(std::span<const Crossing> route, double from, double to, double rate);
  [[nodiscard]] bool over_time() const { return most_ > 0; }

  [[nodiscard]] std::vector<LinkUse> uses() const;
  /// Up to the moment `end`.
  [[nodiscard]] UtilisationSeries series(double end) const;

 private:
  struct Count {
    LinkUse use;
    double since = 0;  // When it was last idle.
  };

  void widen(double to);

  std::vector<Count> counts_;
  std::uint32_t most_;         // Intervals,
  double width_ = 0;           // each so long,
  std::vector<double> bytes_;  // and what each link carried in each.
};

}  // namespace tutti
