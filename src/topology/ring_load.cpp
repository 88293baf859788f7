#include "topology/ring_load.hpp"

#include <algorithm>
#include <limits>

namespace tutti {

RingLoad::RingLoad(const Network& network, Routes& routes, std::uint64_t bytes)
    : routes_(routes),
      counts_(network.links.size()),
      limit_(std::numeric_limits<double>::infinity()) {
  // Empty messages still share links.
  const auto amount = static_cast<double>(std::max<std::uint64_t>(bytes, 1));
  for (const Link& link : network.links) seconds_.push_back(amount / link.bytes_per_second);
}

const std::vector<LinkId>& RingLoad::path(Rank from, Rank to) {
  path_.clear();
  routes_.append(from, to, path_);
  return path_;
}

void RingLoad::change(Rank from, Rank to, std::int32_t by) {
  for (const LinkId link : path(from, to)) {
    excess_ -= excess_of(link.index());
    counts_[link.index()] += by;
    excess_ += excess_of(link.index());
  }
}

LinkId RingLoad::busiest() const {
  LinkId worst{0};
  for (std::uint32_t i = 1; i < counts_.size(); ++i) {
    if (seconds(LinkId{i}) > seconds(worst)) worst = LinkId{i};
  }
  return worst;
}

double RingLoad::busiest_of(Rank from, Rank to) {
  double most = 0;
  for (const LinkId link : path(from, to)) most = std::max(most, seconds(link));
  return most;
}

bool RingLoad::crosses(Rank from, Rank to, LinkId link) {
  const auto& links = path(from, to);
  return std::find(links.begin(), links.end(), link) != links.end();
}

void RingLoad::set_limit(double limit) {
  limit_ = limit;
  excess_ = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) excess_ += excess_of(i);
}

}  // namespace tutti
