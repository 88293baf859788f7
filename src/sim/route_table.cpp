#include "sim/route_table.hpp"

namespace tutti {

std::uint32_t RouteTable::add(Rank from, Rank to) {
  links_.clear();
  routes_.append(place(from), place(to), links_);
  double latency = 0;
  for (const LinkId link : links_) {
    latency += network_[link].latency;
    crossings_.push_back({.link = link.index()});
  }
  ends_.push_back(crossings_.size());
  latencies_.push_back(latency);
  return static_cast<std::uint32_t>(ends_.size() - 1);
}

std::uint32_t RouteTable::add(std::span<const Crossing> crossings, double latency) {
  crossings_.insert(crossings_.end(), crossings.begin(), crossings.end());
  ends_.push_back(crossings_.size());
  latencies_.push_back(latency);
  return static_cast<std::uint32_t>(ends_.size() - 1);
}

}  // namespace tutti
