// Finds the steps of a short plan that are made together.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "exec/plan.hpp"

namespace tutti {
namespace {

class Bundles {
 public:
  explicit Bundles(Plan& plan) : plan_(plan), is_forward_(plan.operations.size()) {
    std::uint32_t last = 0;
    for (const Rank rank : plan.ranks) last = std::max(last, rank.index());
    bundle_of_.resize(last + 1);
    for (const Plan::Operation& each : plan.operations) {
      if (each.forward) is_forward_[*each.forward] = true;
    }
  }

  void find() {
    bool has_received = false;
    for (std::uint32_t i = 0; i < plan_.straight.size(); ++i) {
      const std::uint32_t id = plan_.straight[i].operation;
      const Plan::Operation& operation = plan_.operations[id];
      has_received = has_received || operation.kind == Step::Kind::receive;
      if (!can_be_in_bundle(id) || (operation.exposes && has_received)) {
        is_open_ = false;
        continue;
      }
      if (!is_open_ || !fits(id)) open(i);
      add(i);
    }
    if (!plan_.bundles.empty()) {
      const Plan::Bundle& first = plan_.bundles.front();
      plan_.exposes_in_bundle =
          first.exposes && first.first_step == 0 && first.count == plan_.exposures.size();
    }
    find_receivers();
  }

 private:
  /// A send may be made before its turn, together with the fold that computes its data. Later
  /// segments of a message count as no message.
  [[nodiscard]] bool can_be_in_bundle(std::uint32_t id) const {
    const Plan::Operation& operation = plan_.operations[id];
    return operation.peers_end - first_peer(id) == 1 && !operation.own && !is_forward_[id] &&
           operation.begins_message;
  }

  /// True if the operation can be made together with those of the last bundle.
  [[nodiscard]] bool fits(std::uint32_t id) const {
    const Plan::Bundle& bundle = plan_.bundles.back();
    const std::uint32_t last = plan_.straight[bundle.first_step + bundle.count - 1].operation;
    const Plan::Operation& operation = plan_.operations[id];
    const bool is_alike =
        operation.kind == bundle.kind && operation.time == plan_.operations[last].time &&
        buffer(id) == bundle.buffer && operation.exposes.has_value() == bundle.exposes;
    if (!is_alike || bundle_of_[peer(id).index()] == plan_.bundles.size()) return false;
    return !bundle.exposes || window(id).to == bundle.window_buffer;
  }

  void open(std::uint32_t step) {
    const std::uint32_t id = plan_.straight[step].operation;
    const Plan::Operation& operation = plan_.operations[id];
    plan_.bundles.push_back({.first_step = step,
                             .first_parcel = static_cast<std::uint32_t>(plan_.parcels.size()),
                             .count = 0,
                             .kind = operation.kind,
                             .buffer = buffer(id),
                             .exposes = operation.exposes.has_value()});
    if (operation.exposes) plan_.bundles.back().window_buffer = window(id).to;
    is_open_ = true;
  }

  void add(std::uint32_t step) {
    Plan::StraightStep& added = plan_.straight[step];
    const std::uint32_t id = added.operation;
    const Plan::Operation& operation = plan_.operations[id];
    Plan::Bundle& bundle = plan_.bundles.back();
    added.bundle = static_cast<std::uint32_t>(plan_.bundles.size() - 1);
    bundle_of_[peer(id).index()] = plan_.bundles.size();
    const Plan::Piece& piece = plan_.pieces[operation.pieces_end - 1];
    const bool sends = operation.kind == Step::Kind::send;
    Port::Parcel parcel{.peer = peer(id),
                        .bytes = static_cast<std::uint32_t>(operation.bytes),
                        .offset = sends ? piece.from_offset : piece.to_offset,
                        .index = static_cast<std::uint32_t>(first_peer(id))};
    cover(bundle, bundle.extent, parcel.offset, operation.bytes, &Port::Parcel::offset);
    parcel.offset -= bundle.extent.begin;
    if (operation.exposes) {
      const Plan::Exposure& exposure = plan_.exposures[*operation.exposes];
      const std::size_t bytes = plan_.operations[exposure.receive].bytes;
      parcel.window_bytes = static_cast<std::uint32_t>(bytes);
      parcel.window_offset = window(id).to_offset;
      parcel.before = exposure.before;
      parcel.shift = exposure.shift;
      cover(bundle, bundle.window_extent, parcel.window_offset, bytes,
            &Port::Parcel::window_offset);
      parcel.window_offset -= bundle.window_extent.begin;
    }
    plan_.parcels.push_back(parcel);
    bundle.shortest =
        bundle.count == 0 ? operation.bytes : std::min(bundle.shortest, operation.bytes);
    bundle.longest = std::max(bundle.longest, operation.bytes);
    bundle.overwrites_sent = bundle.overwrites_sent || added.overwrites_sent;
    ++bundle.count;
  }

  /// Makes an extent cover more bytes. Offsets of the bundle's parcels are from its begin.
  void cover(const Plan::Bundle& bundle, Plan::Bundle::Extent& extent, std::size_t offset,
             std::size_t bytes, std::size_t Port::Parcel::*offset_of) {
    if (bundle.count == 0) {
      extent = {.begin = offset, .end = offset + bytes};
      return;
    }
    extent.end = std::max(extent.end, offset + bytes);
    if (offset >= extent.begin) return;
    for (std::size_t i = bundle.first_parcel; i < plan_.parcels.size(); ++i) {
      plan_.parcels[i].*offset_of += extent.begin - offset;
    }
    extent.begin = offset;
  }

  void find_receivers() {
    std::vector<bool> is_found(bundle_of_.size());
    for (const Plan::StraightStep& step : plan_.straight) {
      const Plan::Operation& operation = plan_.operations[step.operation];
      if (operation.kind != Step::Kind::send) continue;
      for (std::size_t i = first_peer(step.operation); i < operation.peers_end; ++i) {
        const Rank rank = plan_.ranks[i];
        if (is_found[rank.index()]) continue;
        is_found[rank.index()] = true;
        plan_.receivers.push_back(rank);
      }
    }
  }

  [[nodiscard]] std::size_t first_peer(std::uint32_t id) const {
    return id == 0 ? 0 : plan_.operations[id - 1].peers_end;
  }
  [[nodiscard]] Rank peer(std::uint32_t id) const { return plan_.ranks[first_peer(id)]; }
  [[nodiscard]] Buffer buffer(std::uint32_t id) const {
    const Plan::Operation& operation = plan_.operations[id];
    const Plan::Piece& piece = plan_.pieces[operation.pieces_end - 1];
    return operation.kind == Step::Kind::send ? piece.from : piece.to;
  }
  /// The piece of the receive whose destination a send exposes.
  [[nodiscard]] const Plan::Piece& window(std::uint32_t send) const {
    const Plan::Exposure& exposure = plan_.exposures[*plan_.operations[send].exposes];
    return plan_.pieces[plan_.operations[exposure.receive].pieces_end - 1];
  }

  Plan& plan_;
  std::vector<bool> is_forward_;        // By operation.
  std::vector<std::size_t> bundle_of_;  // By peer: the last bundle with it, from 1.
  bool is_open_ = false;
};

}  // namespace

void find_bundles(Plan& plan) {
  if (!plan.straight.empty()) Bundles(plan).find();
}

}  // namespace tutti
