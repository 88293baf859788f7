// Finds the receives whose data the sender may write into this rank's memory by itself.
#include <algorithm>
#include <vector>

#include "exec/plan.hpp"

namespace tutti {
namespace {

/// What a rank does with its buffers between a send and a receive decides whether the buffer of the
/// receive may be exposed with the send: nothing else may use it, but for the peer, which reads
/// what was sent before it overwrites it.
class Exposures {
 public:
  explicit Exposures(Plan& plan) : plan_(plan) {
    std::uint32_t last = 0;
    for (const Rank rank : plan.ranks) last = std::max(last, rank);
    streams_.resize(last + 1);
  }

  void find() {
    for (std::uint32_t id = 0; id < plan_.operations.size(); ++id) {
      const Plan::Operation& operation = plan_.operations[id];
      if (operation.kind == Step::Kind::send && has_one_peer(id)) {
        streams_[peer(id)].sends_of(operation.segment).all.push_back(id);
      }
      if (operation.kind != Step::Kind::receive) continue;
      if (is_plain_copy(id)) find_send(id);
      for (const Rank from : plan_.ranks_of(id)) {
        streams_[from].received += operation.bytes;
      }
    }
  }

 private:
  /// Sends to one peer alone.
  struct Sends {
    std::vector<std::uint32_t> all{};
    std::size_t next = 0;  // Earlier ones expose something, or are passed over.
  };
  /// What is exchanged with one peer up to some operation.
  struct Stream {
    std::size_t received = 0;
    std::vector<Sends> sends{};  // By segment.

    Sends& sends_of(std::uint32_t segment) {
      if (segment >= sends.size()) sends.resize(segment + 1);
      return sends[segment];
    }
  };

  /// From one peer, to one place, without a contribution of this rank.
  [[nodiscard]] bool is_plain_copy(std::uint32_t id) const {
    const Plan::Operation& operation = plan_.operations[id];
    return has_one_peer(id) && operation.pieces.size() == 1 && !operation.own;
  }

  /// Finds the send that can say so: the one whose data is overwritten, or else the first of an
  /// earlier time that says nothing yet. It is of the same segment, so that its window is the last
  /// that the peer has seen when it computes the data: the port remembers only that one.
  void find_send(std::uint32_t receive) {
    const Plan::Piece& piece = plan_.pieces[plan_.operations[receive].pieces.begin];
    if (piece.waits.size() > 1) return;
    if (piece.waits.size() == 1) {
      const Plan::Wait& wait = plan_.waits[piece.waits.begin];
      if (can_say(wait.operation, receive)) add(wait.operation, receive, wait.shift);
      return;
    }
    Sends& sends = streams_[peer(receive)].sends_of(plan_.operations[receive].segment);
    if (sends.next == sends.all.size()) return;
    const std::uint32_t send = sends.all[sends.next];
    if (!can_say(send, receive)) return;
    ++sends.next;
    add(send, receive, std::nullopt);
  }

  [[nodiscard]] bool can_say(std::uint32_t send, std::uint32_t receive) const {
    const Plan::Operation& operation = plan_.operations[send];
    return operation.kind == Step::Kind::send && !operation.exposes &&
           operation.time < plan_.operations[receive].time && has_one_peer(send) &&
           peer(send) == peer(receive);
  }

  void add(std::uint32_t send, std::uint32_t receive, std::optional<std::int64_t> shift) {
    plan_.operations[send].exposes = static_cast<std::uint32_t>(plan_.exposures.size());
    plan_.exposures.push_back({.receive = receive,
                               .peer = peer(receive),
                               .before = streams_[peer(receive)].received,
                               .shift = shift});
  }

  [[nodiscard]] bool has_one_peer(std::uint32_t id) const {
    return plan_.operations[id].peers.size() == 1;
  }
  [[nodiscard]] Rank peer(std::uint32_t id) const { return plan_.ranks_of(id).front(); }

  Plan& plan_;
  std::vector<Stream> streams_;  // By peer.
};

}  // namespace

void find_exposures(Plan& plan) { Exposures(plan).find(); }

}  // namespace tutti
