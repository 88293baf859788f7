#include <algorithm>
#include <limits>
#include <queue>

#include <tutti/error.hpp>
#include <tutti/schedule/price.hpp>

#include "cost/agenda.hpp"
#include "cost/step_graph.hpp"

namespace tutti {
namespace {

/// What a moment had to wait for last.
struct Cause {
  enum class Kind : std::uint8_t { start, message, step } kind = Kind::start;
  std::uint32_t id = StepGraph::none;
};

/// A rank tries to send a message.
struct Attempt {
  std::uint32_t round;
  std::uint32_t slot;
  std::uint32_t rank;

  friend auto operator<=>(const Attempt&, const Attempt&) = default;
};

/// One way into a rank, one way out, or the one that adds.
struct Port {
  double free = 0;  // When it can be used again,
  Cause last{};     // and who uses it until then.

  std::span<const std::uint32_t> messages{};  // All that will pass, by round.
  std::size_t opened = 0;                     // To so many of them the port has been opened;
  std::size_t under_way = 0;                  // so many of those have still to pass.
};

constexpr double never = std::numeric_limits<double>::infinity();

/// The messages of a rank's present round that are ready to leave, first the one with the lowest
/// slot.
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
        barred_(graph.messages.size(), one_port_ ? 3 : 1),
        senders_(graph.schedule->contract.ranks),
        out_(graph.schedule->contract.ranks),
        in_(graph.schedule->contract.ranks),
        adder_(graph.schedule->contract.ranks) {
    for (std::size_t i = 0; i < waits_.size(); ++i) waits_[i] = graph.steps[i].waits;
    for (std::uint32_t r = 0; r < out_.size(); ++r) {
      out_[r].messages = graph.outgoing(Rank{r});
      in_[r].messages = graph.incoming(Rank{r});
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
    run_messages_at_hand();
    if (passed_ != graph_.messages.size()) {
      throw Error(ErrorCode::invalid_argument,
                  "'" + graph_.schedule->name +
                      "' cannot be priced: its rounds wait for each other; verify it");
    }
    return price();
  }

 private:
  /// At every moment messages get ready first, so that ranks choose among all of them.
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
        // Unless an earlier attempt was planned later, which then has been made.
        if (senders_[each.rank].next_attempt == now_) attempt(each.rank);
      }
    }
  }

  void get_ready(std::uint32_t message) {
    const std::uint32_t rank = graph_.steps[graph_.messages[message].send].rank.index();
    senders_[rank].ready.push(message);  // Within a rank and round, ids follow slots.
    plan_attempt(rank, std::max(now_, out_[rank].free));
  }

  void run_messages_at_hand() {
    while (!at_hand_.empty()) {
      const std::uint32_t message = at_hand_.back();
      at_hand_.pop_back();
      transfer(message, done_[graph_.messages[message].send],
               {Cause::Kind::step, graph_.messages[message].send});
    }
  }

  /// The moment at which `step` may go on is put off to `at` because of `cause`.
  void put_off(std::uint32_t step, double at, Cause cause) {
    if (at <= done_[step] && step_cause_[step].kind != Cause::Kind::start) return;
    done_[step] = at;
    step_cause_[step] = cause;
  }

  /// All that `step` waits for is there.
  void release(std::uint32_t step) {
    if (graph_.steps[step].operands == 0) {
      const auto [begin, end] = graph_.messages_of(step);
      for (std::uint32_t message = begin; message < end; ++message) unbar(message);
      return;
    }
    add_up(step);
    for (const std::uint32_t waiter : graph_.waiters(step)) {
      put_off(waiter, done_[step], {Cause::Kind::step, step});
      if (--waits_[waiter] == 0) release(waiter);
    }
  }

  void add_up(std::uint32_t step) {
    const auto& info = graph_.steps[step];
    if (info.operands < 2 || model_.gamma == 0) return;
    Port& adder = adder_[info.rank.index()];
    if (one_port_ && adder.free > done_[step]) put_off(step, adder.free, adder.last);
    done_[step] += static_cast<double>(sizes_[step]) * (info.operands - 1) * model_.gamma;
    adder.free = done_[step];
    adder.last = {Cause::Kind::step, step};
  }

  /// One thing less stands in the way of a message: what it carries, or one of its two ports.
  void unbar(std::uint32_t message) {
    if (--barred_[message] > 0) return;
    if (!one_port_) {
      at_hand_.push_back(message);
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
    for (std::size_t i = begin; i < begin + port.under_way; ++i) unbar(port.messages[i]);
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

  /// The rank's first message goes if the receiver's port is free, and else waits for it.
  void attempt(std::uint32_t rank) {
    Sender& sender = senders_[rank];
    sender.next_attempt = never;
    Port& out = out_[rank];
    const std::uint32_t id = sender.ready.top();
    Port& in = in_[graph_.steps[graph_.messages[id].receive].rank.index()];
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

  /// What a message that leaves now had to wait for last.
  [[nodiscard]] Cause cause_of_start(std::uint32_t message, const Port& out, const Port& in) const {
    const std::uint32_t send = graph_.messages[message].send;
    if (done_[send] >= now_) return {Cause::Kind::step, send};
    return out.free >= in.free ? out.last : in.last;
  }

  /// Lets a message go at `start` and returns when it arrives.
  double transfer(std::uint32_t id, double start, Cause cause) {
    const auto& message = graph_.messages[id];
    const LinkCost& link =
        model_.between(graph_.steps[message.send].rank, graph_.steps[message.receive].rank);
    const double arrival =
        start + link.alpha + static_cast<double>(sizes_[message.send]) * link.beta;
    message_cause_[id] = cause;
    ++passed_;
    put_off(message.receive, arrival, {Cause::Kind::message, id});
    if (--waits_[message.receive] == 0) release(message.receive);
    return arrival;
  }

  /// Walks back from the end and adds up what the time consists of.
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
  std::vector<double> done_;  // When a step may go on; of a receive released, when it is done.
  std::vector<Cause> step_cause_;
  std::vector<Cause> message_cause_;
  std::vector<std::uint8_t> barred_;  // How many things stand in the way of each message.
  std::vector<Sender> senders_;
  std::vector<Port> out_;
  std::vector<Port> in_;
  std::vector<Port> adder_;
  Agenda<std::uint32_t> ready_;  // Messages that get what they carry, and open ports.
  Agenda<Attempt> attempts_;
  double now_ = 0;
  std::vector<std::uint32_t> at_hand_;  // With unlimited ports nobody waits.
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
