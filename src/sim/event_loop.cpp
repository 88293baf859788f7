#include "sim/event_loop.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <tutti/error.hpp>

namespace tutti {
namespace {

/// Times that differ by less are treated as equal. Otherwise flows that end together by symmetry
/// would end one by one, with a rate update each time.
constexpr double rounding = 1e-12;

}  // namespace

EventLoop::EventLoop(Workload& workload, const RouteTable& routes, std::vector<double> capacities,
                     const SimulationSettings& settings, std::span<const std::uint32_t> receivers)
    : workload_(workload),
      routes_(routes),
      settings_(settings),
      noise_(settings.noise, settings.seed),
      capacities_(std::move(capacities)),
      shares_(capacities_),
      meter_(capacities_.size(), settings.intervals),
      finished_(workload.ranks(), 0),
      adders_(settings.gamma > 0 && settings.ports > 0 ? workload.ranks() : 0) {
  // With one port, messages never flow at the same time.
  if (settings.in_order && settings.ports != 1) {
    order_.emplace(workload, receivers);
    if (!order_->orders_any()) order_.reset();
  }
  lonely_rates_.assign(routes.size(), 0);
  if (settings.ports == 1) find_lonely_routes();
  is_in_order_ = nothing_competes();
  if (settings.ports > 0 && !is_in_order_) ports_.emplace(workload, settings.ports);
}

void EventLoop::find_lonely_routes() {
  for (std::uint32_t route = 0; route < routes_.size(); ++route) {
    const auto crossings = routes_.crossings(route);
    if (crossings.empty() || !routes_.is_lonely(route)) continue;
    double rate = std::numeric_limits<double>::infinity();
    for (const Crossing& each : crossings) {
      rate = std::min(rate, capacities_[each.link] / each.times);
    }
    lonely_rates_[route] = rate;
  }
}

void EventLoop::run(const std::string& name, const Progress& progress) {
  is_in_order_ ? run_in_order(progress) : run_by_time(progress);
  if (passed_ != workload_.messages.size()) {
    throw Error(ErrorCode::invalid_argument,
                "'" + name + "' deadlocks: its steps wait for each other; check it with verify");
  }
}

void EventLoop::run_by_time(const Progress& progress) {
  std::uint64_t told = 0;
  start_what_waits_for_nothing();
  depart();
  settle();
  while (!events_.empty()) {
    now_ = events_.next();
    const double same_moment = end_of_moment();
    do {
      handle(events_.take());
    } while (!events_.empty() && events_.next() <= same_moment);
    depart();
    settle();
    if (progress && passed_ - told >= between_calls) progress(told = passed_);
  }
}

/// Events up to this time are handled now. With many flows, those that end a little later than the
/// first are handled with it: if chunks differ by a byte, each of thousands of flows would
/// otherwise end at a time of its own, and all rates would be computed again each time. A message
/// then takes less time than it should by one part in 10⁵ at most.
double EventLoop::end_of_moment() const {
  constexpr std::size_t many_flows = 1000;
  constexpr double little = 1e-5;
  const double usual = now_ * (1 + rounding);
  if (shares_.flows() < many_flows) return usual;
  const Task& first = tasks_[events_.first()];
  if (first.kind != Task::Kind::flow) return usual;
  return std::max(usual, now_ + little * (now_ - workload_.messages[first.id].begun));
}

void EventLoop::start_what_waits_for_nothing() {
  for (std::uint32_t id = 0; id < workload_.messages.size(); ++id) {
    if (workload_.messages[id].waits == 0) data_there(id, {});
  }
  // A local step may need only the input of the rank.
  for (std::uint32_t id = 0; id < workload_.folds.size(); ++id) {
    if (workload_.folds[id].waits == 0) begin_fold(id);
  }
  finish_folds();
}

void EventLoop::handle(std::uint32_t slot) {
  switch (tasks_[slot].kind) {
    case Task::Kind::latency:
      begin_flow(slot);
      break;
    case Task::Kind::flow:
      end_flow(slot);
      break;
    case Task::Kind::lonely_flow:
      end_lonely_flow(slot);
      break;
    case Task::Kind::sum:
      end_sum(slot);
      break;
  }
  finish_folds();
}

std::uint32_t EventLoop::take_slot(const Task& task) {
  if (unused_slots_.empty()) {
    tasks_.push_back(task);
    return static_cast<std::uint32_t>(tasks_.size() - 1);
  }
  const std::uint32_t slot = unused_slots_.back();
  unused_slots_.pop_back();
  tasks_[slot] = task;
  return slot;
}

// Messages ------------------------------------------------------------------------------------

void EventLoop::data_there(std::uint32_t id, Item cause) {
  if (!order_ || order_->may_depart(id)) may_depart(id, cause);
}

void EventLoop::may_depart(std::uint32_t id, Item cause) {
  Workload::Message& message = workload_.messages[id];
  message.begun = now_;
  message.cause = cause;
  if (ports_) {
    ports_->ready(id);
  } else {
    ready_messages_.push_back(id);
  }
}

/// Starts all messages that can depart. Messages of zero duration may release others.
void EventLoop::depart() {
  while (true) {
    std::size_t departed = 0;
    if (ports_) {
      const auto departures = ports_->departures();
      for (const PortLimiter::Departure& each : departures) {
        depart(each.message, cause_of_departure(each));
      }
      departed = departures.size();
    }
    for (; !ready_messages_.empty(); ++departed) {
      const std::uint32_t message = ready_messages_.back();
      ready_messages_.pop_back();
      depart(message, workload_.messages[message].cause);
    }
    finish_folds();
    if (departed == 0) return;
  }
}

/// The data, if that was ready last; otherwise the message that freed the last port.
EventLoop::Item EventLoop::cause_of_departure(const PortLimiter::Departure& departure) const {
  const Workload::Message& message = workload_.messages[departure.message];
  if (message.begun >= now_) return message.cause;
  const auto time = [&](std::uint32_t id) {
    return id == Workload::none ? -1 : workload_.messages[id].arrived;
  };
  const std::uint32_t last =
      time(departure.last_out) >= time(departure.last_in) ? departure.last_out : departure.last_in;
  return last == Workload::none ? message.cause : Item::message(last);
}

void EventLoop::depart(std::uint32_t id, Item cause) {
  Workload::Message& message = workload_.messages[id];
  message.begun = now_;
  message.cause = cause;
  message.state = Workload::State::under_way;
  __builtin_prefetch(&workload_.folds[message.fold], 1);  // Needed on arrival.
  if (order_) {
    if (const std::optional<std::uint32_t> next = order_->departed(id)) {
      may_depart(*next, Item::message(id));
    }
  }
  const double latency =
      (settings_.alpha + routes_.latency(message.route)) * noise_.factor(2 * std::uint64_t{id});
  const double rate = lonely_rates_[message.route];
  if (rate > 0 && message.bytes > 0) {
    depart_alone(id, now_ + latency, rate);
    return;
  }
  const std::uint32_t slot = take_slot({.kind = Task::Kind::latency, .id = id});
  if (latency > 0) {
    events_.set(slot, now_ + latency);
  } else {
    begin_flow(slot);
  }
}

/// The arrival time is known at departure.
void EventLoop::depart_alone(std::uint32_t id, double flows_from, double rate) {
  const double bytes =
      static_cast<double>(workload_.messages[id].bytes) * noise_.factor(2 * std::uint64_t{id});
  const std::uint32_t slot =
      take_slot({.kind = Task::Kind::lonely_flow, .id = id, .rate = rate, .since = flows_from});
  events_.set(slot, flows_from + bytes / rate);
}

void EventLoop::end_lonely_flow(std::uint32_t slot) {
  const Task& task = tasks_[slot];
  const Workload::Message& message = workload_.messages[task.id];
  const auto route = routes_.crossings(message.route);
  for (const Crossing& each : route) {
    meter_.begin(each.link, task.since);
    meter_.end(each.link, now_);
  }
  meter_.flow(route, task.since, now_, task.rate);
  meter_.carry(route, static_cast<double>(message.bytes));
  arrive(slot);
}

void EventLoop::begin_flow(std::uint32_t slot) {
  Task& task = tasks_[slot];
  const Workload::Message& message = workload_.messages[task.id];
  const auto route = routes_.crossings(message.route);
  if (order_ && !order_->may_flow(task.id, slot)) return;
  if (message.bytes == 0 || route.empty()) {
    arrive(slot);
    return;
  }
  if (message.after != 0) {
    const std::uint32_t earlier = task.id - message.after;
    if (workload_.messages[earlier].state == Workload::State::under_way) {
      held_.emplace(earlier, slot);
      return;
    }
  }
  task.kind = Task::Kind::flow;
  task.left = static_cast<double>(message.bytes) * noise_.factor(2 * std::uint64_t{task.id});
  task.rate = 0;
  task.since = now_;
  const double latency = routes_.latency(message.route);
  const bool weighted = settings_.sharing == Sharing::latency_weighted && latency > 0;
  shares_.add(slot, route, weighted ? 1 / latency : 1);
  for (const Crossing& each : route) {
    if (shares_.crowd(each.link) == 1) meter_.begin(each.link, now_);
  }
}

void EventLoop::end_flow(std::uint32_t slot) {
  const Task& task = tasks_[slot];
  const Workload::Message& message = workload_.messages[task.id];
  const auto route = routes_.crossings(message.route);
  shares_.remove(slot);
  for (const Crossing& each : route) {
    if (shares_.crowd(each.link) == 0) meter_.end(each.link, now_);
  }
  meter_.flow(route, task.since, now_, task.rate);
  meter_.carry(route, static_cast<double>(message.bytes));
  arrive(slot);
}

void EventLoop::arrive(std::uint32_t slot) {
  const std::uint32_t id = tasks_[slot].id;
  unused_slots_.push_back(slot);
  Workload::Message& message = workload_.messages[id];
  message.arrived = now_;
  message.state = Workload::State::arrived;
  finished_[message.from] = now_;
  ++passed_;
  bytes_ += message.bytes;
  if (ports_) ports_->arrived(id);
  operand_there(message.fold, Item::message(id));
  if (order_) {
    if (const std::optional<std::uint32_t> next = order_->arrived(id)) begin_flow(*next);
  }
  if (held_.empty()) return;
  if (const auto held = held_.find(id); held != held_.end()) {
    const std::uint32_t next = held->second;
    held_.erase(held);
    begin_flow(next);
  }
}

/// Makes the rates fair again and updates the end times of the flows whose rate has changed.
void EventLoop::settle() {
  for (const std::uint32_t slot : shares_.settle()) {
    Task& task = tasks_[slot];
    if (meter_.over_time()) {
      meter_.flow(routes_.crossings(workload_.messages[task.id].route), task.since, now_,
                  task.rate);
    }
    task.left = std::max(0.0, task.left - task.rate * (now_ - task.since));
    task.rate = shares_.rate(slot);
    task.since = now_;
    events_.set(slot, now_ + task.left / task.rate);
  }
}

// Folds ---------------------------------------------------------------------------------------

void EventLoop::operand_there(std::uint32_t id, Item cause) {
  Workload::Fold& fold = workload_.folds[id];
  fold.cause = cause;
  if (--fold.waits == 0) begin_fold(id);
}

void EventLoop::begin_fold(std::uint32_t id) {
  Workload::Fold& fold = workload_.folds[id];
  if (settings_.gamma == 0 || fold.operands < 2) {
    done(id);
    return;
  }
  if (!adders_.empty()) {
    Adder& adder = adders_[fold.rank];
    if (std::exchange(adder.busy, true)) {
      adder.queue.push_back(id);
      return;
    }
  }
  add(id);
}

double EventLoop::time_to_add(std::uint32_t id) const {
  const Workload::Fold& fold = workload_.folds[id];
  if (fold.operands < 2) return 0;
  return static_cast<double>(fold.bytes) * (fold.operands - 1) * settings_.gamma *
         noise_.factor(2 * std::uint64_t{id} + 1);
}

void EventLoop::add(std::uint32_t fold) {
  events_.set(take_slot({.kind = Task::Kind::sum, .id = fold}), now_ + time_to_add(fold));
}

void EventLoop::end_sum(std::uint32_t slot) {
  const std::uint32_t fold = tasks_[slot].id;
  unused_slots_.push_back(slot);
  done(fold);
  if (adders_.empty()) return;
  Adder& adder = adders_[workload_.folds[fold].rank];
  adder.busy = !adder.queue.empty();
  if (!adder.busy) return;
  const std::uint32_t next = adder.queue.front();
  adder.queue.pop_front();
  workload_.folds[next].cause = Item::fold(fold);
  add(next);
}

void EventLoop::done(std::uint32_t id) {
  Workload::Fold& fold = workload_.folds[id];
  fold.done = now_;
  finished_[fold.rank] = now_;
  const bool later =
      last_fold_ == Workload::none || workload_.folds[last_fold_].done < now_ || id < last_fold_;
  if (later) last_fold_ = id;
  finished_folds_.push_back(id);
}

/// Notifies the dependents of folds that are done.
void EventLoop::finish_folds() {
  while (!finished_folds_.empty()) {
    const std::uint32_t fold = finished_folds_.back();
    finished_folds_.pop_back();
    const Item cause = Item::fold(fold);
    for (const Item waiter : workload_.waiters(workload_.folds[fold])) {
      if (waiter.is_fold()) {
        operand_there(waiter.id(), cause);
      } else if (--workload_.messages[waiter.id()].waits == 0) {
        data_there(waiter.id(), cause);
      }
    }
  }
}

double EventLoop::alone(const Workload::Message& message) const {
  double rate = std::numeric_limits<double>::infinity();
  for (const Crossing& each : routes_.crossings(message.route)) {
    rate = std::min(rate, capacities_[each.link]);
  }
  return settings_.alpha + routes_.latency(message.route) +
         static_cast<double>(message.bytes) / rate;
}

}  // namespace tutti
