#include <algorithm>
#include <limits>
#include <queue>

#include <tutti/error.hpp>
#include <tutti/schedule/price.hpp>

#include "cost/agenda.hpp"
#include "cost/step_graph.hpp"

namespace tutti {
namespace {

/// The event that determined a time; the critical path follows these.
struct Cause {
  enum class Kind : std::uint8_t { start, message, step } kind = Kind::start;
  std::uint32_t id = StepGraph::none;
};

/// An attempt of a rank to send a message.
struct Attempt {
  std::uint32_t round;
  std::uint32_t slot;
  std::uint32_t rank;

  friend auto operator<=>(const Attempt&, const Attempt&) = default;
};

/// The input port of a rank, its output port, or its adder.
struct Port {
  double free = 0;  // The time at which it can be used again.
  Cause last{};     // The use that ends at that time.

  std::span<const std::uint32_t> messages{};  // All messages that pass through it, by round.
  std::size_t opened = 0;                     // Number of messages in the rounds opened so far.
  std::size_t under_way = 0;                  // Number of opened messages that have not passed yet.
};

constexpr double never = std::numeric_limits<double>::infinity();

/// The messages of a rank's current round that are ready to leave, lowest slot first.
struct Sender {
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  double next_attempt = never;
};

/// One run of the schedule in the model.
class Clockwork {
 public:
  Clockwork(const StepGraph& graph, const Layout& layout, const CostModel& model, Ports ports)
      : graph_(graph),
        model_(model),
        one_port_(ports == Ports::one),
        sizes_(graph.sizes(layout)),
        waits_(graph.steps.size()),
        done_(graph.steps.size(), 0),
        step_cause_(graph.steps.size()),
        message_cause_(graph.messages.size()),
        blockers_(graph.messages.size(), one_port_ ? 3 : 1),
        senders_(graph.schedule->contract.ranks),
        out_(graph.schedule->contract.ranks),
        in_(graph.schedule->contract.ranks),
        adder_(graph.schedule->contract.ranks) {
    for (std::size_t i = 0; i < waits_.size(); ++i) waits_[i] = graph.steps[i].waits;
    for (std::uint32_t r = 0; r < out_.size(); ++r) {
      out_[r].messages = graph.outgoing(r);
      in_[r].messages = graph.incoming(r);
    }
  }

  Price run() {
    if (one_port_) {
      for (std::uint32_t r = 0; r < out_.size(); ++r) {
        open_next_round(out_[r]);
        open_next_round(in_[r]);
      }
    }
    for (std::uint32_t i = 0; i < waits_.size(); ++i) {
      if (graph_.steps[i].waits == 0) release(i);
    }
    run_ports();
    run_without_ports();
    if (passed_ != graph_.messages.size()) {
      throw Error(ErrorCode::invalid_argument,
                  "'" + graph_.schedule->name +
                      "' cannot be priced: its rounds wait for each other; verify it");
    }
    return price();
  }

 private:
  /// At each time messages become ready first, so that ranks choose among all of them.
  void run_ports() {
    std::vector<std::uint32_t> messages;
    std::vector<Attempt> attempts;
    while (!ready_.empty() || !attempts_.empty()) {
      if (attempts_.empty() || (!ready_.empty() && ready_.next() <= attempts_.next())) {
        now_ = ready_.take(messages);
        for (const std::uint32_t message : messages) get_ready(message);
        continue;
      }
      now_ = attempts_.take(attempts);
      std::sort(attempts.begin(), attempts.end());
      for (const Attempt& each : attempts) {
        // Skip it if this attempt was replaced by an earlier one.
        if (senders_[each.rank].next_attempt == now_) attempt(each.rank);
      }
    }
  }

  void get_ready(std::uint32_t message) {
    const std::uint32_t rank = graph_.steps[graph_.messages[message].send].rank;
    senders_[rank].ready.push(message);  // Within a rank and round, ids follow slots.
    plan_attempt(rank, std::max(now_, out_[rank].free));
  }

  void run_without_ports() {
    while (!sendable_.empty()) {
      const std::uint32_t message = sendable_.back();
      sendable_.pop_back();
      transfer(message, done_[graph_.messages[message].send],
               {Cause::Kind::step, graph_.messages[message].send});
    }
  }

  /// Delays the time at which `step` may continue to `at`, because of `cause`.
  void delay(std::uint32_t step, double at, Cause cause) {
    if (at <= done_[step] && step_cause_[step].kind != Cause::Kind::start) return;
    done_[step] = at;
    step_cause_[step] = cause;
  }

  /// Called when everything that `step` waits for has happened.
  void release(std::uint32_t step) {
    if (graph_.steps[step].operands == 0) {
      const auto [begin, end] = graph_.messages_of(step);
      for (std::uint32_t message = begin; message < end; ++message) unblock(message);
      return;
    }
    add_up(step);
    for (const std::uint32_t waiter : graph_.waiters(step)) {
      delay(waiter, done_[step], {Cause::Kind::step, step});
      if (--waits_[waiter] == 0) release(waiter);
    }
  }

  void add_up(std::uint32_t step) {
    const auto& info = graph_.steps[step];
    if (info.operands < 2 || model_.gamma == 0) return;
    Port& adder = adder_[info.rank];
    if (one_port_ && adder.free > done_[step]) delay(step, adder.free, adder.last);
    done_[step] += static_cast<double>(sizes_[step]) * (info.operands - 1) * model_.gamma;
    adder.free = done_[step];
    adder.last = {Cause::Kind::step, step};
  }

  /// Removes one blocker of a message: its data, or one of its two ports.
  void unblock(std::uint32_t message) {
    if (--blockers_[message] > 0) return;
    if (!one_port_) {
      sendable_.push_back(message);
      return;
    }
    ready_.add(std::max(now_, done_[graph_.messages[message].send]), message);
  }

  void open_next_round(Port& port) {
    const auto round = [&](std::size_t i) {
      return graph_.steps[graph_.messages[port.messages[i]].send].round;
    };
    const std::size_t begin = port.opened;
    while (port.opened < port.messages.size() && round(port.opened) == round(begin)) ++port.opened;
    port.under_way = port.opened - begin;
    for (std::size_t i = begin; i < begin + port.under_way; ++i) unblock(port.messages[i]);
  }

  void plan_attempt(std::uint32_t rank, double at) {
    Sender& sender = senders_[rank];
    if (sender.next_attempt <= at) return;
    sender.next_attempt = at;
    const std::uint32_t message = sender.ready.top();
    attempts_.add(at, {.round = graph_.steps[graph_.messages[message].send].round,
                       .slot = graph_.messages[message].slot,
                       .rank = rank});
  }

  /// Sends the first message of the rank if the receiver's port is free; otherwise waits for the
  /// port.
  void attempt(std::uint32_t rank) {
    Sender& sender = senders_[rank];
    sender.next_attempt = never;
    Port& out = out_[rank];
    const std::uint32_t id = sender.ready.top();
    Port& in = in_[graph_.steps[graph_.messages[id].receive].rank];
    if (in.free > now_) {
      plan_attempt(rank, in.free);
      return;
    }
    sender.ready.pop();
    out.free = in.free = transfer(id, now_, cause_of_start(id, out, in));
    out.last = in.last = {Cause::Kind::message, id};
    if (!sender.ready.empty()) plan_attempt(rank, out.free);
    for (Port* port : {&out, &in}) {
      if (--port->under_way == 0) open_next_round(*port);
    }
  }

  /// What a message that leaves now waited for last.
  [[nodiscard]] Cause cause_of_start(std::uint32_t message, const Port& out, const Port& in) const {
    const std::uint32_t send = graph_.messages[message].send;
    if (done_[send] >= now_) return {Cause::Kind::step, send};
    return out.free >= in.free ? out.last : in.last;
  }

  /// Sends a message at `start` and returns its arrival time.
  double transfer(std::uint32_t id, double start, Cause cause) {
    const auto& message = graph_.messages[id];
    const LinkCost& link =
        model_.between(graph_.steps[message.send].rank, graph_.steps[message.receive].rank);
    const double arrival =
        start + link.alpha + static_cast<double>(sizes_[message.send]) * link.beta;
    message_cause_[id] = cause;
    ++passed_;
    delay(message.receive, arrival, {Cause::Kind::message, id});
    if (--waits_[message.receive] == 0) release(message.receive);
    return arrival;
  }

  /// Follows the critical path back from the end and adds up its parts.
  [[nodiscard]] Price price() const {
    Price price;
    if (done_.empty()) return price;
    const auto last =
        static_cast<std::uint32_t>(std::max_element(done_.begin(), done_.end()) - done_.begin());
    price.seconds = done_[last];
    for (Cause at{Cause::Kind::step, last}; at.kind != Cause::Kind::start;) {
      if (at.kind == Cause::Kind::message) {
        ++price.messages;
        price.bytes += sizes_[graph_.messages[at.id].send];
        at = message_cause_[at.id];
      } else {
        const auto& info = graph_.steps[at.id];
        if (info.operands > 1) price.reduced += sizes_[at.id] * (info.operands - 1);
        at = step_cause_[at.id];
      }
    }
    return price;
  }

  const StepGraph& graph_;
  const CostModel& model_;
  bool one_port_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::uint32_t> waits_;
  std::vector<double>
      done_;  // When a step may continue; for a released receive, when it is complete.
  std::vector<Cause> step_cause_;
  std::vector<Cause> message_cause_;
  std::vector<std::uint8_t> blockers_;  // The number of blockers of each message.
  std::vector<Sender> senders_;
  std::vector<Port> out_;
  std::vector<Port> in_;
  std::vector<Port> adder_;
  Agenda<std::uint32_t>
      ready_;  // Messages by the time at which their data and both ports are available.
  Agenda<Attempt> attempts_;
  double now_ = 0;
  std::vector<std::uint32_t> sendable_;  // Unlimited ports: messages whose data is ready.
  std::size_t passed_ = 0;
};

}  // namespace

Pricer::Pricer(const Schedule& schedule) : graph_(std::make_unique<StepGraph>(schedule)) {}
Pricer::~Pricer() = default;
Pricer::Pricer(Pricer&&) noexcept = default;
Pricer& Pricer::operator=(Pricer&&) noexcept = default;

Price Pricer::price(const Layout& layout, const CostModel& model, Ports ports) const {
  return Clockwork(*graph_, layout, model, ports).run();
}

}  // namespace tutti
