#include "sim/route_table.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

void RouteTable::compute(Rank from, Rank to, std::vector<LinkId>& links) const {
  links.clear();
  routes_.append(place(from), place(to), links);
}

std::uint32_t RouteTable::add(Rank from, Rank to) {
  compute(from, to, links_);
  double latency = 0;
  for (const LinkId link : links_) {
    latency += network_[link].latency;
    crossings_.push_back({.link = link.index()});
    use(link.index(), from, to);
  }
  ends_.push_back(crossings_.size());
  latencies_.push_back(latency);
  return static_cast<std::uint32_t>(ends_.size() - 1);
}

void RouteTable::clear() {
  users_.assign(users_.size(), {});
  crossings_.clear();
  ends_.clear();
  latencies_.clear();
}

std::uint32_t RouteTable::add(std::span<const Crossing> crossings, double latency,
                              std::uint32_t from, std::uint32_t to) {
  for (const Crossing& each : crossings) use(each.link, from, to);
  crossings_.insert(crossings_.end(), crossings.begin(), crossings.end());
  ends_.push_back(crossings_.size());
  latencies_.push_back(latency);
  return static_cast<std::uint32_t>(ends_.size() - 1);
}

void RouteTable::use(std::uint32_t link, std::uint32_t from, std::uint32_t to) {
  const auto join = [](std::uint32_t& user, std::uint32_t rank) {
    if (user != rank) user = user == none ? rank : several;
  };
  Users& users = users_[link];
  join(users.sender, from);
  join(users.receiver, to);
  // A route that crosses a link twice shares it with itself.
  if (std::exchange(users.route, size()) == size()) users.sender = users.receiver = several;
}

bool RouteTable::is_lonely(std::uint32_t route) const {
  const auto links = crossings(route);
  return std::all_of(links.begin(), links.end(), [&](const Crossing& each) {
    return users_[each.link].sender != several || users_[each.link].receiver != several;
  });
}

}  // namespace tutti
