#include "call_order.hpp"

#include <algorithm>
#include <utility>

namespace tutti_torch {
namespace {

/// How long callbacks hold up later works without a call of their own.
constexpr std::chrono::seconds patience{5};

thread_local std::shared_ptr<Origin> current_origin;

}  // namespace

std::weak_ptr<Origin> origin_of_calls() { return current_origin; }

AsOrigin::AsOrigin(std::shared_ptr<Origin> origin)
    : before_(std::exchange(current_origin, std::move(origin))) {}
AsOrigin::~AsOrigin() { current_origin = std::move(before_); }

bool CallOrder::is_empty() const {
  return std::all_of(frames_.begin(), frames_.end(),
                     [](const Frame& each) { return each.works.empty(); });
}

CallOrder::Clock::time_point CallOrder::hold_end() const {
  Clock::time_point end = Clock::time_point::max();
  for (const Frame& each : frames_) {
    if (each.is_open) end = std::min(end, each.overdue);
  }
  return end;
}

CallOrder::Frame* CallOrder::turn(const Frame* caller) {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    if (&*frame == caller || !frame->works.empty()) return &*frame;
    if (frame->is_open && Clock::now() < hold_end()) return nullptr;
  }
  return nullptr;
}

bool CallOrder::is_turn_of_caller() {
  const Frame& caller = frame_of_caller();
  return caller.works.empty() && turn(&caller) == &caller;
}

void CallOrder::push(Work work) {
  Frame& frame = frame_of_caller();
  renew(frame);
  frame.works.push_back(std::move(work));
}

CallOrder::Work CallOrder::pop() {
  auto& works = turn()->works;
  Work work = std::move(works.front());
  works.pop_front();
  drop_ended_frames();
  return work;
}

void CallOrder::note_end(const CollectiveWork& work) {
  if (Frame* const frame = frame_of(work.made_in().lock())) renew(*frame);
}

std::shared_ptr<Origin> CallOrder::open(const CollectiveWork& work) {
  Frame& frame = frames_.emplace_back();
  frame.origin = std::make_shared<Origin>(Origin{work.made_in()});
  frame.is_open = true;
  renew(frame);
  return frame.origin;
}

void CallOrder::close(const std::shared_ptr<Origin>& origin) {
  if (Frame* const frame = frame_of(origin)) frame->is_open = false;
  drop_ended_frames();
}

void CallOrder::let_go() {
  frame_of_caller().is_open = false;
  drop_ended_frames();
}

CallOrder::Frame* CallOrder::frame_of(const std::shared_ptr<Origin>& origin) {
  const auto found = std::find_if(frames_.begin(), frames_.end(),
                                  [&](const Frame& each) { return each.origin == origin; });
  return found == frames_.end() ? nullptr : &*found;
}

CallOrder::Frame& CallOrder::frame_of_caller() {
  for (auto origin = current_origin; origin; origin = origin->made_in.lock()) {
    if (Frame* const found = frame_of(origin)) return *found;
  }
  return frames_.front();
}

void CallOrder::renew(Frame& frame) { frame.overdue = Clock::now() + patience; }

void CallOrder::drop_ended_frames() {
  while (!frames_.back().is_open && frames_.back().works.empty() && frames_.size() > 1) {
    frames_.pop_back();
  }
}

}  // namespace tutti_torch
