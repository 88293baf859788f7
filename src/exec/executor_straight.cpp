// How an executor runs plans of rather short messages: one operation after another.
#include <algorithm>
#include <cstring>

#include "core/short_copy.hpp"
#include "exec/executor.hpp"

namespace tutti {

/// Runs the operations of a plan whose messages are so short that the port takes each as a whole,
/// and lends nothing. False if there is no room for one, or if a message is in parts after all.
bool Executor::run_enclosed() {
  const std::span<const Plan::StraightStep> steps = plan_->straight;
  straight_put_.clear();
  for (straight_at_ = 0; straight_at_ < steps.size(); ++straight_at_) {
    const std::uint32_t id = steps[straight_at_].operation;
    const Plan::Operation& operation = plan_->operations[id];
    const std::span<const Rank> others = ranks(id);
    straight_done_ = 0;
    // One message alone is faster by itself.
    const std::optional<std::uint32_t> bundle = steps[straight_at_].bundle;
    if (bundle && plan_->bundles[*bundle].count > 1) {
      const std::size_t done = run_bundle(plan_->bundles[*bundle], false);
      if (done > 0) {
        straight_at_ += done - 1;
        continue;
      }
    }
    if (operation.kind != Step::Kind::send) {
      if (!receive_enclosed(operation, others)) return false;
      continue;
    }
    const Plan::Piece& piece = plan_->pieces[operation.pieces_end - 1];
    const std::byte* const data = source(piece.from, piece.from_offset);
    if (port_.send(others, {data, operation.bytes}) == 0) return false;
    for (const Rank rank : others) {
      PeerCounters& counted = counters_->peers[rank.index()];
      counted.bytes_sent += operation.bytes;
      ++counted.slices_sent;
      counted.messages_sent += messages_in(operation);
    }
  }
  (void)copy_aside();
  return true;
}

bool Executor::receive_enclosed(const Plan::Operation& operation, std::span<const Rank> from) {
  const Plan::Piece& piece = plan_->pieces[operation.pieces_end - 1];
  const std::size_t own = operation.own.value_or(from.size());
  operands_.resize(from.size() + (operation.own ? 1 : 0));
  std::size_t arrived = 0;
  for (std::uint32_t idle = 0; (arrived = port_.arrived_from_each(from, operands_)) == 0;) {
    if (!copy_aside()) wait(++idle);
  }
  if (arrived < operation.bytes) return false;
  if (operation.own) {
    for (std::size_t i = from.size(); i > own; --i) operands_[i] = operands_[i - 1];
    operands_[own] = source(piece.from, piece.from_offset);
  }
  std::byte* const to = target(piece.to, piece.to_offset);
  if (operands_.size() > 1) {
    fold(to, nullptr, operation.bytes);
  } else {
    short_copy(to, operands_.front(), operation.bytes);
  }
  port_.consume_from_each(from, operation.bytes);
  straight_done_ = operation.bytes;
  for (const Rank rank : from) {
    PeerCounters& counted = counters_->peers[rank.index()];
    counted.bytes_received += operation.bytes;
    ++counted.slices_received;
    counted.messages_received += messages_in(operation);
  }
  return true;
}

/// True if something is sent, and receivers can read all of it in place. Longer data that is copied
/// should be sent in slices, so that sender and receiver copy at the same time.
bool Executor::shares_all_it_sends() const {
  const std::span<const Plan::StraightStep> steps = plan_->straight;
  bool shares = false;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Plan::Operation& operation = plan_->operations[steps[i].operation];
    if (operation.kind != Step::Kind::send) continue;
    const Plan::Piece& piece = plan_->pieces[operation.pieces_end - 1];
    const std::byte* data = source(piece.from, piece.from_offset);
    std::size_t bytes = operation.bytes;
    if (steps[i].bundle) {
      const Plan::Bundle& bundle = plan_->bundles[*steps[i].bundle];
      data = source(bundle.buffer, bundle.extent.begin);
      bytes = bundle.extent.end - bundle.extent.begin;
      i = bundle.first_step + bundle.count - 1;
    }
    shares = port_.shares({data, bytes});
    if (!shares) return false;
  }
  return shares;
}

/// Runs the operations one after another. False if one of them would have to wait while others may
/// go on: the outbox is full, or a receiver still reads data that is about to be overwritten.
bool Executor::run_straight() {
  const std::span<const Plan::StraightStep> steps = plan_->straight;
  least_lent_ = port_.least_lent();
  straight_put_.clear();
  bool has_lent = false;
  for (straight_at_ = 0; straight_at_ < steps.size(); ++straight_at_) {
    const Plan::StraightStep& step = steps[straight_at_];
    const Plan::Operation& operation = plan_->operations[step.operation];
    const bool sends = operation.kind == Step::Kind::send;
    straight_done_ = 0;
    if (sends) {
      if (is_put(step.operation)) continue;
      has_lent |= operation.bytes >= least_lent_ || operation.exposes;
    }
    if (step.bundle) {
      const std::size_t done = run_bundle(plan_->bundles[*step.bundle], has_lent);
      if (done > 0) {
        straight_at_ += done - 1;
        continue;
      }
    }
    if (sends) {
      if (!send_straight(step.operation, operation)) return false;
    } else {
      if (step.overwrites_sent && has_lent && !(step.is_exposed && await_put(step.operation))) {
        return false;
      }
      receive_straight(step.operation, operation);
    }
  }
  (void)copy_aside();
  if (has_lent) {
    for (std::uint32_t idle = 0; !port_.all_released(plan_->receivers);) wait(++idle);
  }
  return true;
}

/// Makes the steps of a bundle from the current one on, and returns how many it has made: all sends
/// or none, and the receives whose data has arrived.
std::size_t Executor::run_bundle(const Plan::Bundle& bundle, bool has_lent) {
  const std::size_t made = straight_at_ - bundle.first_step;
  const auto parcels =
      std::span(plan_->parcels).subspan(bundle.first_parcel + made, bundle.count - made);
  if (bundle.kind == Step::Kind::send) {
    // Later parts of a bundle are sent one by one: there was no room for the first one.
    return made == 0 && send_bundle(bundle, parcels) ? parcels.size() : 0;
  }
  const std::size_t done = port_.receive_each(parcels, target(bundle.buffer, bundle.extent.begin),
                                              bundle.overwrites_sent && has_lent);
  for (const Port::Parcel& parcel : parcels.first(done)) {
    PeerCounters& counted = counters_->peers[parcel.peer.index()];
    counted.bytes_received += parcel.bytes;
    ++counted.slices_received;
    counted.messages_received += is_first_part_ ? 1 : 0;
  }
  return done;
}

bool Executor::send_bundle(const Plan::Bundle& bundle, std::span<const Port::Parcel> parcels) {
  const Plan::Bundle::Extent& extent = bundle.extent;
  const Plan::Bundle::Extent& windows = bundle.window_extent;
  Port::Shipment shipment{.parcels = parcels,
                          .data = {source(bundle.buffer, extent.begin), extent.end - extent.begin},
                          .shortest = bundle.shortest,
                          .longest = bundle.longest};
  if (bundle.exposes) {
    shipment.windows = {target(bundle.window_buffer, windows.begin), windows.end - windows.begin};
  }
  if (!port_.send_each(shipment, send_begin_)) {
    if (plan_->exposes_in_bundle && bundle.exposes) note_positions();
    return false;
  }
  for (const Port::Parcel& parcel : parcels) {
    count_straight({&parcel.peer, 1}, parcel.bytes, is_first_part_ ? 1 : 0);
  }
  return true;
}

/// True if the send was made together with the fold that computed its data.
bool Executor::is_put(std::uint32_t send) const {
  return std::find(straight_put_.begin(), straight_put_.end(), send) != straight_put_.end();
}

/// Waits for the data of a receive. True if its sender has written it by itself.
bool Executor::await_put(std::uint32_t receive) {
  const Plan::Piece& piece = plan_->pieces[plan_->operations[receive].pieces_end - 1];
  const Rank peer = ranks(receive).front();
  for (std::uint32_t idle = 0;;) {
    const std::span<const std::byte> arrived = port_.arrived(peer);
    if (!arrived.empty()) return arrived.data() == target(piece.to, piece.to_offset);
    if (!copy_aside()) wait(++idle);
  }
}

/// Sets the states of the operations that run_straight() has run, wholly or in part.
void Executor::continue_straight() {
  is_straight_ = false;
  const std::span<const Plan::StraightStep> steps = plan_->straight;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::uint32_t id = steps[i].operation;
    if (i > straight_at_ && !is_put(id)) continue;
    const Plan::Operation& operation = plan_->operations[id];
    State& state = states_[id];
    state.done = i < straight_at_ || is_put(id) ? operation.bytes : straight_done_;
    if (state.done < operation.bytes) continue;
    state.finished = cleared(id) == operation.bytes;
    auto& turns = operation.kind == Step::Kind::send ? send_turns_ : receive_turns_;
    for (const Rank rank : ranks(id)) ++turns[rank.index()];
  }
}

/// False if the port did not take all of the data.
bool Executor::send_straight(std::uint32_t id, const Plan::Operation& operation) {
  const Plan::Piece& piece = plan_->pieces[operation.pieces_end - 1];
  const std::byte* const data = source(piece.from, piece.from_offset);
  const std::span<const Rank> to = ranks(id);
  const std::size_t begin = first_peer(id);
  for (std::size_t k = 0; k < to.size(); ++k) send_begin_[begin + k] = port_.sent(to[k]);
  if (operation.exposes) expose(operation);
  straight_done_ = port_.send(to, {data, operation.bytes});
  if (straight_done_ == 0) return false;
  const bool is_whole = straight_done_ == operation.bytes;
  count_straight(to, straight_done_, is_whole ? messages_in(operation) : 0);
  return is_whole;
}

void Executor::count_straight(std::span<const Rank> to, std::size_t bytes, std::uint64_t messages) {
  for (const Rank rank : to) {
    PeerCounters& counted = counters_->peers[rank.index()];
    counted.bytes_sent += bytes;
    ++counted.slices_sent;
    counted.messages_sent += messages;
  }
}

void Executor::receive_straight(std::uint32_t id, const Plan::Operation& operation) {
  const Plan::Piece& piece = plan_->pieces[operation.pieces_end - 1];
  const std::span<const Rank> from = ranks(id);
  const auto own = static_cast<std::ptrdiff_t>(operation.own.value_or(0));
  std::byte* const to = target(piece.to, piece.to_offset);
  operands_.resize(from.size() + (operation.own ? 1 : 0));
  std::uint32_t slices = 0;
  for (std::uint32_t idle = 0; straight_done_ < operation.bytes;) {
    const std::size_t bytes =
        std::min(operation.bytes - straight_done_, port_.arrived_from_each(from, operands_));
    if (bytes == 0) {
      if (!copy_aside()) wait(++idle);
      continue;
    }
    if (operation.own) {
      std::copy_backward(operands_.begin() + own, operands_.end() - 1, operands_.end());
      operands_[static_cast<std::size_t>(own)] =
          source(piece.from, piece.from_offset + straight_done_);
    }
    bool puts = false;
    if (operands_.size() > 1) {
      puts = plan_->straight[straight_at_].forwards && bytes == operation.bytes &&
             folding_.combine == nullptr && find_windows(operation, bytes);
      if (puts) {
        fold_to_windows(to, bytes);
      } else {
        fold(to + straight_done_, nullptr, bytes);
      }
    } else if (operands_.front() == to + straight_done_) {
      // Its sender has put it there.
    } else if (bytes <= longest_short_copy) {
      short_copy(to + straight_done_, operands_.front(), bytes);
    } else {
      std::memcpy(to + straight_done_, operands_.front(), bytes);
    }
    port_.consume_from_each(from, bytes);
    if (puts) put_straight(*operation.forward);
    idle = 0;
    straight_done_ += bytes;
    ++slices;
  }
  for (const Rank rank : from) {
    PeerCounters& counted = counters_->peers[rank.index()];
    counted.bytes_received += operation.bytes;
    counted.slices_received += slices;
    counted.messages_received += messages_in(operation);
  }
}

/// Sends the data of a later send, which is in the windows of its receivers.
void Executor::put_straight(std::uint32_t send) {
  const Plan::Operation& operation = plan_->operations[send];
  const std::span<const Rank> to = ranks(send);
  const std::size_t begin = first_peer(send);
  for (std::size_t k = 0; k < to.size(); ++k) send_begin_[begin + k] = port_.sent(to[k]);
  put(send, operation.bytes);
  count_straight(to, operation.bytes, messages_in(operation));
  straight_put_.push_back(send);
}

}  // namespace tutti
