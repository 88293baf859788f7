#include "sim/critical_path.hpp"

#include <algorithm>

namespace tutti {

Activity activity_of_message(const Workload& workload, const EventLoop& loop, std::uint32_t id) {
  const Workload::Message& message = workload.messages[id];
  return {.kind = Activity::Kind::message,
          .rank = message.from,
          .peer = message.to,
          .round = message.round,
          .bytes = message.bytes,
          .begin = message.begun,
          .end = message.arrived,
          .alone = loop.alone(message)};
}

Activity activity_of_sum(const Workload& workload, const EventLoop& loop, std::uint32_t id) {
  const Workload::Fold& fold = workload.folds[id];
  const double seconds = loop.time_to_add(id);
  return {.kind = Activity::Kind::sum,
          .rank = fold.rank,
          .peer = fold.rank,
          .round = fold.round,
          .bytes = fold.bytes * (fold.operands - 1),
          .begin = fold.done - seconds,
          .end = fold.done,
          .alone = seconds};
}

namespace {

/// Walks back from the end. If some ranks stand for all, keeps track of the actual rank.
class Walk {
 public:
  Walk(const Workload& workload, const EventLoop& loop, std::span<const std::uint32_t> receivers,
       std::uint32_t ranks)
      : workload_(workload), loop_(loop), receivers_(receivers), ranks_(ranks) {}

  std::vector<Activity> back_from(std::uint32_t fold) {
    rank_ = workload_.folds[fold].rank;
    bool into_rank = true;  // True if the message waited for came to the rank, false if it left it.
    Workload::Item at = Workload::Item::fold(fold);
    while (at.is_fold() || at.is_message()) {
      if (at.is_fold()) {
        add_fold(at.id());
        at = workload_.folds[at.id()].cause;
        into_rank = true;
      } else {
        add_message(at.id(), into_rank);
        at = workload_.messages[at.id()].cause;
        into_rank = false;
      }
    }
    std::reverse(path_.begin(), path_.end());
    return std::move(path_);
  }

 private:
  void add_fold(std::uint32_t id) {
    if (loop_.time_to_add(id) == 0) return;
    path_.push_back(activity_of_sum(workload_, loop_, id));
    if (!receivers_.empty()) path_.back().rank = path_.back().peer = rank_;
  }

  void add_message(std::uint32_t id, bool into_rank) {
    Activity activity = activity_of_message(workload_, loop_, id);
    if (!receivers_.empty()) {
      const std::uint32_t distance =
          (receivers_[id] + ranks_ - workload_.messages[id].from) % ranks_;
      if (into_rank) rank_ = (rank_ + ranks_ - distance) % ranks_;
      activity.rank = rank_;
      activity.peer = (rank_ + distance) % ranks_;
    }
    // With several ports, an item may have waited for the departure of the message, not its
    // arrival.
    const bool left_then =
        !path_.empty() && activity.begin >= path_.back().begin && activity.end > path_.back().begin;
    if (!left_then) path_.push_back(activity);
  }

  const Workload& workload_;
  const EventLoop& loop_;
  std::span<const std::uint32_t> receivers_;
  std::uint32_t ranks_;
  std::uint32_t rank_ = 0;
  std::vector<Activity> path_;
};

}  // namespace

std::vector<Activity> critical_path(const Workload& workload, const EventLoop& loop,
                                    std::span<const std::uint32_t> receivers, std::uint32_t ranks) {
  if (loop.last_fold() == Workload::none) return {};
  return Walk(workload, loop, receivers, ranks).back_from(loop.last_fold());
}

}  // namespace tutti
