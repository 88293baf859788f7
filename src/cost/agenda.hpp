#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace tutti {

/// What is to happen when, for clocks on which much happens at the very same moment: ranks of a
/// regular schedule move in step. Items of one moment are handed out together.
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

  /// The earliest moment. Requires: !empty().
  [[nodiscard]] double next() const { return times_.top(); }

  /// Moves the items of the earliest moment into `items` and returns the moment.
  /// Requires: !empty().
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
  std::unordered_map<double, std::size_t> moments_;  // Which batch is that of a moment.
  std::vector<std::vector<Item>> batches_;
  std::vector<std::size_t> unused_;
};

}  // namespace tutti
