#pragma once

#include <cstdint>
#include <vector>

#include <tutti/network/network.hpp>
#include <tutti/network/routes.hpp>

namespace tutti {

/// The seconds for which each link of a network is busy with the edges of a ring.
class RingLoad {
 public:
  RingLoad(const Network& network, Routes& routes, std::uint64_t bytes);

  void add(Rank from, Rank to) { change(from, to, 1); }
  void remove(Rank from, Rank to) { change(from, to, -1); }

  /// The busiest of all links. Takes time linear in the number of links.
  [[nodiscard]] LinkId busiest() const;
  [[nodiscard]] double seconds(LinkId link) const {
    return counts_[link.index()] * seconds_[link.index()];
  }
  /// The busiest link of one edge.
  [[nodiscard]] double busiest_of(Rank from, Rank to);
  [[nodiscard]] bool crosses(Rank from, Rank to, LinkId link);

  /// Sum over all links of the seconds beyond the limit for which they are busy.
  void set_limit(double limit);
  [[nodiscard]] double excess() const { return excess_; }

 private:
  void change(Rank from, Rank to, std::int32_t by);
  [[nodiscard]] double excess_of(std::size_t link) const {
    const double over = counts_[link] * seconds_[link] - limit_;
    return over > 0 ? over : 0;
  }
  const std::vector<LinkId>& path(Rank from, Rank to);

  Routes& routes_;
  std::vector<double> seconds_;  // Seconds of one message on each link.
  std::vector<std::int32_t> counts_;
  double limit_;
  double excess_ = 0;
  std::vector<LinkId> path_;
};

}  // namespace tutti
