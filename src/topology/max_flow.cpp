#include "topology/max_flow.hpp"

#include <algorithm>

namespace tutti {

std::uint32_t MaxFlow::add_arc(std::uint32_t from, std::uint32_t to) {
  const auto half = static_cast<std::uint32_t>(target_.size());
  for (const auto& [near_end, far_end] : {std::pair{from, to}, std::pair{to, from}}) {
    next_.push_back(first_[near_end]);
    first_[near_end] = static_cast<std::uint32_t>(target_.size());
    target_.push_back(far_end);
    left_.push_back(0);
  }
  return half / 2;
}

bool MaxFlow::find_levels(std::uint32_t source, std::uint32_t sink) {
  level_.assign(first_.size(), unseen);
  level_[source] = 0;
  open_.assign(1, source);
  for (std::size_t i = 0; i < open_.size(); ++i) {
    const std::uint32_t node = open_[i];
    for (std::uint32_t half = first_[node]; half != none; half = next_[half]) {
      if (left_[half] == 0 || level_[target_[half]] != unseen) continue;
      level_[target_[half]] = level_[node] + 1;
      open_.push_back(target_[half]);
    }
  }
  return level_[sink] != unseen;
}

/// Pushes as much flow as fits along one path whose half-arcs each lead one level up. Returns 0 if
/// no path is left. Dead ends are never visited again.
Wide MaxFlow::augment(std::uint32_t source, std::uint32_t sink) {
  std::vector<std::uint32_t>& path = open_;
  path.clear();
  std::uint32_t node = source;
  while (node != sink) {
    std::uint32_t& half = current_[node];
    while (half != none && (left_[half] == 0 || level_[target_[half]] != level_[node] + 1)) {
      half = next_[half];
    }
    if (half != none) {
      path.push_back(half);
      node = target_[half];
    } else if (node == source) {
      return 0;
    } else {
      node = target_[path.back() ^ 1];
      path.pop_back();
      current_[node] = next_[current_[node]];
    }
  }
  Wide least = left_[path.front()];
  for (const std::uint32_t half : path) least = std::min(least, left_[half]);
  for (const std::uint32_t half : path) {
    left_[half] -= least;
    left_[half ^ 1] += least;
  }
  return least;
}

Wide MaxFlow::run(std::uint32_t source, std::uint32_t sink) {
  Wide total = 0;
  while (find_levels(source, sink)) {
    current_ = first_;
    for (Wide more = augment(source, sink); more > 0; more = augment(source, sink)) total += more;
  }
  return total;
}

}  // namespace tutti
