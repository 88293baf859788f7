#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace tutti {

/// An event queue for clocks on which many events have the same time: ranks of a regular schedule
/// run in lockstep. Items with the same time are returned together.
template <class Item>
class Agenda {
 public:
  void add(double at, const Item& item) {
    const auto [entry, is_new] = moments_.try_emplace(at, batches_.size());
    if (is_new) {
      times_.push(at);
      if (unused_.empty()) {
        batches_.emplace_back();
      } else {
        entry->second = unused_.back();
        unused_.pop_back();
      }
    }
    batches_[entry->second].push_back(item);
  }

  [[nodiscard]] bool empty() const { return times_.empty(); }

  /// The earliest time. Requires: !empty().
  [[nodiscard]] double next() const { return times_.top(); }

  /// Moves the items with the earliest time into `items` and returns that time. Requires: !empty().
  double take(std::vector<Item>& items) {
    const double at = times_.top();
    times_.pop();
    const auto entry = moments_.find(at);
    const std::size_t batch = entry->second;
    moments_.erase(entry);
    items.clear();
    std::swap(items, batches_[batch]);
    unused_.push_back(batch);
    return at;
  }

 private:
  std::priority_queue<double, std::vector<double>, std::greater<>> times_;
  std::unordered_map<double, std::size_t> moments_;  // The batch of each time.
  std::vector<std::vector<Item>> batches_;
  std::vector<std::size_t> unused_;
};

}  // namespace tutti
