// The order of work in a pipeline of stages, each on its own rank, and the time that it takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "timeline.hpp"

namespace training {

/// The forward or the backward pass of one microbatch, in one stage.
struct Task {
  std::uint32_t microbatch = 0;
  std::uint32_t is_backward = 0;
};
using Order = std::vector<Task>;

/// GPipe (Huang et al., 2019): all forward passes, then all backward passes in reverse order.
inline Order gpipe(std::uint32_t microbatches) {
  Order order;
  for (std::uint32_t i = 0; i < microbatches; ++i) order.push_back({.microbatch = i});
  for (std::uint32_t i = microbatches; i-- > 0;) {
    order.push_back({.microbatch = i, .is_backward = 1});
  }
  return order;
}

/// 1F1B (Narayanan et al., 2019): as many forward passes as there are stages after this one, then
/// one forward and one backward pass in turns. So at most `stages` microbatches are in flight.
inline Order one_forward_one_backward(std::uint32_t stage, std::uint32_t stages,
                                      std::uint32_t microbatches) {
  const std::uint32_t ahead = std::min(microbatches, stages - 1 - stage);
  Order order;
  for (std::uint32_t i = 0; i < ahead; ++i) order.push_back({.microbatch = i});
  for (std::uint32_t i = 0; i < microbatches; ++i) {
    if (ahead + i < microbatches) order.push_back({.microbatch = ahead + i});
    order.push_back({.microbatch = i, .is_backward = 1});
  }
  return order;
}

/// When the tasks of all stages run, if a forward pass takes 1 unit, a backward pass 2, and a
/// message nothing. A task waits for its input, and for the task before it in its stage.
class StageTimes {
 public:
  static constexpr double forward_time = 1;
  static constexpr double backward_time = 2;

  explicit StageTimes(const std::vector<Order>& orders) : orders_(orders) {
    constexpr double never = 1e300;
    std::vector<std::size_t> done(orders.size());
    std::size_t most = 0;
    for (const Order& order : orders) {
      for (const Task& task : order) most = std::max<std::size_t>(most, task.microbatch + 1);
    }
    // By direction, stage and microbatch.
    const std::vector<std::vector<double>> unknown(orders.size(), std::vector<double>(most, never));
    std::vector<std::vector<double>> ends[2] = {unknown, unknown};
    begins_.resize(orders.size());
    std::vector<double> free(orders.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t s = 0; s < orders.size(); ++s) {
        if (done[s] == orders[s].size()) continue;
        const Task task = orders[s][done[s]];
        const bool is_first = task.is_backward == 0 && s == 0;
        const bool turns = task.is_backward == 1 && s + 1 == orders.size();
        const double input =
            is_first ? 0
            : turns
                ? ends[0][s][task.microbatch]
                : ends[task.is_backward][task.is_backward == 1 ? s + 1 : s - 1][task.microbatch];
        if (input == never) continue;
        const double begin = std::max(free[s], input);
        begins_[s].push_back(begin);
        free[s] = begin + duration(task);
        ends[task.is_backward][s][task.microbatch] = free[s];
        total_ = std::max(total_, free[s]);
        busy_ += duration(task);
        ++done[s];
        moved = true;
      }
    }
  }

  /// The share of its time that a stage waits, on average.
  [[nodiscard]] double bubble() const {
    return 1 - busy_ / (total_ * static_cast<double>(orders_.size()));
  }

  /// A row for each stage, with its tasks and the bubble, and the messages of microbatch 0. Then,
  /// if `last_span` is not empty, one more span in each row when its last task is done, 1 unit
  /// long.
  void draw(Timeline& drawing, const std::vector<std::string>& names,
            const std::string& last_span = "") const {
    constexpr double unit = 1e-3;
    std::vector<std::uint32_t> rows;
    for (const std::string& name : names) rows.push_back(drawing.row(name));
    std::vector<double> last[2] = {std::vector<double>(names.size()),
                                   std::vector<double>(names.size())};
    for (std::size_t s = 0; s < names.size(); ++s) {
      double free = 0;
      for (std::size_t i = 0; i < orders_[s].size(); ++i) {
        const Task task = orders_[s][i];
        const double begin = begins_[s][i];
        if (begin > free) drawing.span(rows[s], "bubble", "", free * unit, (begin - free) * unit);
        free = begin + duration(task);
        drawing.span(rows[s], task.is_backward == 1 ? "backward" : "forward",
                     std::to_string(task.microbatch), begin * unit, duration(task) * unit);
        if (task.microbatch > 0) continue;
        last[task.is_backward][s] = free;
        if (task.is_backward == 0 && s > 0) {
          drawing.message(rows[s - 1], last[0][s - 1] * unit, rows[s], begin * unit);
        }
      }
      if (!last_span.empty()) drawing.span(rows[s], last_span, "", free * unit, unit);
      if (total_ > free && last_span.empty()) {
        drawing.span(rows[s], "bubble", "", free * unit, (total_ - free) * unit);
      }
    }
    for (std::size_t s = names.size() - 1; s-- > 0;) {
      const auto found = std::ranges::find_if(orders_[s], [](const Task& task) {
        return task.is_backward == 1 && task.microbatch == 0;
      });
      if (found == orders_[s].end()) continue;
      const double begin = begins_[s][static_cast<std::size_t>(found - orders_[s].begin())];
      drawing.message(rows[s + 1], last[1][s + 1] * unit, rows[s], begin * unit);
    }
  }

 private:
  static double duration(const Task& task) {
    return task.is_backward == 1 ? backward_time : forward_time;
  }

  std::vector<Order> orders_;
  std::vector<std::vector<double>> begins_;
  double total_ = 0;
  double busy_ = 0;
};

}  // namespace training
