// Finds the order in which the operations of a plan of rather short messages can be run one after
// another, and the sends that forward a result.
#include <algorithm>
#include <optional>
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
  void find_straight_order(std::size_t longest) {
    std::vector<Plan::StraightStep> order;
    order.reserve(plan_.operations.size());
    for (std::uint32_t id = 0; id < plan_.operations.size(); ++id) {
      const Plan::Operation& each = plan_.operations[id];
      const std::uint32_t piece = id == 0 ? 0 : plan_.operations[id - 1].pieces_end;
      const bool is_simple =
          each.kind != Step::Kind::local && each.bytes <= longest && each.pieces_end - piece == 1;
      if (!is_simple) return;
      bool overwrites_sent = false;
      const std::uint32_t begin = piece == 0 ? 0 : plan_.pieces[piece - 1].waits_end;
      for (std::uint32_t i = begin; i < plan_.pieces[piece].waits_end; ++i) {
        const Plan::Operation& other = plan_.operations[plan_.waits[i].operation];
        if (other.kind == Step::Kind::send) {
          overwrites_sent = true;
        } else if (each.kind == Step::Kind::send && other.time == each.time) {
          return;
        }
      }
      order.push_back({.operation = id,
                       .overwrites_sent = overwrites_sent,
                       .is_exposed = false,
                       .forwards = false});
    }
    for (const Plan::Exposure& each : plan_.exposures) order[each.receive].is_exposed = true;
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
    for (const Plan::Operation& each : plan_.operations) {
      plan_.longest = std::max(plan_.longest, each.bytes);
    }
    plan_.straight = std::move(order);
  }

 private:
  [[nodiscard]] std::span<const Rank> ranks(std::uint32_t id) const {
    const std::size_t begin = id == 0 ? 0 : plan_.operations[id - 1].peers_end;
    return std::span(plan_.ranks).subspan(begin, plan_.operations[id].peers_end - begin);
  }

  /// True if every peer of `some` is also a peer of `all`.
  [[nodiscard]] bool has_peers(std::uint32_t all, std::uint32_t some) const {
    const std::span<const Rank> found = ranks(all);
    const std::span<const Rank> wanted = ranks(some);
    return std::all_of(wanted.begin(), wanted.end(), [&](Rank each) {
      return std::find(found.begin(), found.end(), each) != found.end();
    });
  }

  [[nodiscard]] bool share_peers(std::uint32_t a, std::uint32_t b) const {
    const std::span<const Rank> left = ranks(a);
    const std::span<const Rank> right = ranks(b);
    return std::find_first_of(left.begin(), left.end(), right.begin(), right.end()) != left.end();
  }

  /// The operation that all pieces of a send wait for, if each waits for the same bytes of it and
  /// for nothing else.
  [[nodiscard]] std::optional<std::uint32_t> only_source(std::uint32_t id) const {
    std::optional<std::uint32_t> source;
    std::uint32_t piece = id == 0 ? 0 : plan_.operations[id - 1].pieces_end;
    for (; piece < plan_.operations[id].pieces_end; ++piece) {
      const std::uint32_t begin = piece == 0 ? 0 : plan_.pieces[piece - 1].waits_end;
      if (plan_.pieces[piece].waits_end - begin != 1) return std::nullopt;
      const Plan::Wait& wait = plan_.waits[begin];
      if (wait.shift != 0 || (source && *source != wait.operation)) return std::nullopt;
      source = wait.operation;
    }
    return source;
  }

  Plan& plan_;
};

}  // namespace

void find_forwards(Plan& plan) { Order(plan).find_forwards(); }

void find_straight_order(Plan& plan, std::size_t longest) {
  Order(plan).find_straight_order(longest);
}

}  // namespace tutti
