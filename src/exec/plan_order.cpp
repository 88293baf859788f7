// Finds the order in which the operations of a plan of rather short messages can be run one after
// another, and the sends that forward a result.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "exec/plan.hpp"

namespace tutti {
namespace {

class Order {
 public:
  explicit Order(Plan& plan) : plan_(plan) {}

  void find_forwards() {
    for (std::uint32_t id = 0; id < plan_.operations.size(); ++id) {
      const Plan::Operation& send = plan_.operations[id];
      if (send.kind != Step::Kind::send) continue;
      const std::optional<std::uint32_t> source = only_source(id);
      if (!source) continue;
      Plan::Operation& receive = plan_.operations[*source];
      if (receive.kind == Step::Kind::receive && receive.bytes == send.bytes && !receive.forward) {
        receive.forward = id;
        receive.answers = has_peers(*source, id);
      }
    }
  }

  /// Messages of at most `longest` bytes are sent at once, so the operations can be run one after
  /// another if in each round all sends come before all receives. That order has no deadlock: the
  /// sends of a round need only what earlier rounds have received.
  void find_order(std::size_t longest) {
    std::vector<Plan::OrderedStep> order;
    order.reserve(plan_.operations.size());
    for (std::uint32_t id = 0; id < plan_.operations.size(); ++id) {
      const Plan::Operation& each = plan_.operations[id];
      const bool is_simple =
          each.kind != Step::Kind::local && each.bytes <= longest && each.pieces.size() == 1;
      if (!is_simple) return;
      bool overwrites_sent = false;
      for (const Plan::Wait& wait : plan_.pieces[each.pieces.begin].waits.of(plan_.waits)) {
        const Plan::Operation& other = plan_.operations[wait.operation];
        if (other.kind == Step::Kind::send) {
          overwrites_sent = true;
        } else if (each.kind == Step::Kind::send && other.time == each.time) {
          return;
        }
      }
      const Plan::Piece& piece = plan_.pieces[each.pieces.begin];
      const bool sends = each.kind == Step::Kind::send;
      order.push_back({.operation = id,
                       .bytes = each.bytes,
                       .peers = each.peers,
                       .buffer = sends ? piece.from : piece.to,
                       .offset = sends ? piece.from_offset : piece.to_offset,
                       .exposes = each.exposes.has_value(),
                       .overwrites_sent = overwrites_sent});
    }
    std::stable_sort(order.begin(), order.end(), [this](const auto& a, const auto& b) {
      const Plan::Operation& left = plan_.operations[a.operation];
      const Plan::Operation& right = plan_.operations[b.operation];
      if (left.time != right.time) return left.time < right.time;
      return left.kind == Step::Kind::send && right.kind != Step::Kind::send;
    });
    for (auto step = order.begin(); step != order.end(); ++step) {
      const std::optional<std::uint32_t> forward = plan_.operations[step->operation].forward;
      if (!forward) continue;
      const auto next_send = std::find_if(step + 1, order.end(), [&](const auto& other) {
        return plan_.operations[other.operation].kind == Step::Kind::send &&
               share_peers(other.operation, *forward);
      });
      step->forwards = next_send != order.end() && next_send->operation == *forward;
    }
    join_sends(order);
    plan_.order = std::move(order);
    add_up_traffic();
    place_windows();
  }

 private:
  void add_up_traffic() {
    for (const Plan::OrderedStep& step : plan_.order) {
      const Plan::Operation& operation = plan_.operations[step.operation];
      const std::uint64_t messages = operation.begins_message ? 1 : 0;
      for (const Rank rank : plan_.ranks_of(step.operation)) {
        PeerCounters& counts = traffic_with(rank);
        if (operation.kind == Step::Kind::send) {
          counts.bytes_sent += operation.bytes;
          counts.messages_sent += messages;
          ++counts.slices_sent;
        } else {
          counts.bytes_received += operation.bytes;
          counts.messages_received += messages;
          ++counts.slices_received;
        }
      }
    }
  }

  PeerCounters& traffic_with(Rank peer) {
    const auto found = std::find_if(plan_.traffic.begin(), plan_.traffic.end(),
                                    [&](const Plan::Traffic& each) { return each.peer == peer; });
    return found != plan_.traffic.end()
               ? found->counts
               : plan_.traffic.emplace_back(Plan::Traffic{.peer = peer, .counts = {}}).counts;
  }

  /// Finds how far before each window the stream from its peer is when the window is announced.
  void place_windows() {
    if (plan_.exposures.empty()) return;
    std::unordered_map<std::uint32_t, std::size_t> received;  // By rank.
    for (Plan::OrderedStep& step : plan_.order) {
      const Plan::Operation& operation = plan_.operations[step.operation];
      const bool receives = operation.kind == Step::Kind::receive;
      if (receives) {
        for (const Rank rank : plan_.ranks_of(step.operation)) {
          received[rank] += operation.bytes;
        }
      }
      // A forward is posted when the receive is consumed.
      const std::uint32_t send = receives && step.forwards ? *operation.forward : step.operation;
      if (const auto exposes = plan_.operations[send].exposes) {
        const Plan::Exposure& exposure = plan_.exposures[*exposes];
        step.window_at = exposure.before - received[exposure.peer];
      }
    }
  }

  /// Finds the sends that follow each other and have different peers.
  void join_sends(std::vector<Plan::OrderedStep>& order) const {
    std::unordered_set<std::uint32_t> named;
    for (auto first = order.begin(); first != order.end();) {
      named.clear();
      auto end = first;
      const auto joins = [&](const Plan::OrderedStep& step) {
        if (plan_.operations[step.operation].kind != Step::Kind::send) return false;
        const std::span<const Rank> to = plan_.ranks_of(step.operation);
        return std::none_of(to.begin(), to.end(), [&](Rank r) { return named.contains(r); });
      };
      for (; end != order.end() && joins(*end); ++end) {
        for (const Rank rank : plan_.ranks_of(end->operation)) named.insert(rank);
      }
      for (auto each = first; each != end; ++each) {
        each->sends = static_cast<std::uint32_t>(end - each);
      }
      if (end == first) ++end;  // A receive.
      first = end;
    }
  }

  /// True if every peer of `some` is also a peer of `all`.
  [[nodiscard]] bool has_peers(std::uint32_t all, std::uint32_t some) const {
    const std::span<const Rank> found = plan_.ranks_of(all);
    const std::span<const Rank> wanted = plan_.ranks_of(some);
    return std::all_of(wanted.begin(), wanted.end(), [&](Rank each) {
      return std::find(found.begin(), found.end(), each) != found.end();
    });
  }

  [[nodiscard]] bool share_peers(std::uint32_t a, std::uint32_t b) const {
    const std::span<const Rank> left = plan_.ranks_of(a);
    const std::span<const Rank> right = plan_.ranks_of(b);
    return std::find_first_of(left.begin(), left.end(), right.begin(), right.end()) != left.end();
  }

  /// The operation that all pieces of a send wait for, if each waits for the same bytes of it and
  /// for nothing else.
  [[nodiscard]] std::optional<std::uint32_t> only_source(std::uint32_t id) const {
    std::optional<std::uint32_t> source;
    for (const Plan::Piece& piece : plan_.operations[id].pieces.of(plan_.pieces)) {
      if (piece.waits.size() != 1) return std::nullopt;
      const Plan::Wait& wait = plan_.waits[piece.waits.begin];
      if (wait.shift != 0 || (source && *source != wait.operation)) return std::nullopt;
      source = wait.operation;
    }
    return source;
  }

  Plan& plan_;
};

}  // namespace

void find_forwards(Plan& plan) { Order(plan).find_forwards(); }

void find_order(Plan& plan, std::size_t longest) { Order(plan).find_order(longest); }

}  // namespace tutti
