#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tutti/sim/simulation.hpp>

#include "sim/fair_shares.hpp"

namespace tutti {

/// Counts the bytes and the busy time of links, in total and over time.
class Meter {
 public:
  /// `intervals`: the number of intervals over time; 0 counts totals only.
  Meter(std::size_t links, std::uint32_t intervals);

  /// A flow starts on a link that was idle; or the last flow on it has ended.
  void begin(std::uint32_t link, double now) { counts_[link].since = now; }
  void end(std::uint32_t link, double now) { counts_[link].use.busy += now - counts_[link].since; }

  void carry(std::span<const Crossing> route, double bytes) {
    for (const Crossing& each : route) counts_[each.link].use.bytes += each.times * bytes;
  }
  /// The links of a route carried `rate` bytes per second from time `from` to time `to`.
  void flow(std::span<const Crossing> route, double from, double to, double rate);
  [[nodiscard]] bool over_time() const { return most_ > 0; }

  [[nodiscard]] std::vector<LinkUse> uses() const;
  /// The series up to time `end`.
  [[nodiscard]] UtilisationSeries series(double end) const;

 private:
  struct Count {
    LinkUse use;
    double since = 0;  // Start of the current busy period.
  };

  void widen(double to);

  std::vector<Count> counts_;
  std::uint32_t most_;         // Number of intervals.
  double width_ = 0;           // Length of an interval.
  std::vector<double> bytes_;  // Bytes by interval and link.
};

}  // namespace tutti
