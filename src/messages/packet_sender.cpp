#include "messages/packet_sender.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti {
namespace {

/// Up to this length packet and data are sent as one piece.
constexpr std::size_t most_together = 4096;
/// Long data is sent in pieces of this size, so that several messages share the connection.
constexpr std::size_t data_piece = std::size_t{1} << 20;
/// From this length on a waiting receiver reads data in place.
constexpr std::size_t least_in_place = 4096;

std::span<const std::byte> bytes_of(const Packet& packet) {
  return std::as_bytes(std::span(&packet, 1));
}

}  // namespace

void PacketSender::add_packet(const Packet& packet, std::shared_ptr<Message> completes) {
  auto outbound = std::make_unique<Outbound>();
  outbound->packet = packet;
  outbound->head = bytes_of(outbound->packet);
  outbound->completes = completes != nullptr;
  outbound->message = std::move(completes);
  out_.push_back(std::move(outbound));
}

void PacketSender::add_eager(const Packet& packet, const std::shared_ptr<Message>& send) {
  auto outbound = std::make_unique<Outbound>();
  outbound->packet = packet;
  outbound->message = send;
  outbound->completes = true;
  const std::span<const std::byte> data(send->data, send->bytes);
  const auto head = bytes_of(outbound->packet);
  if (data.size() <= Packet::most_inline) {
    if (!data.empty()) std::memcpy(outbound->packet.inlined.data(), data.data(), data.size());
    outbound->head = head;
  } else if (data.size() <= most_together) {
    outbound->own.reserve(head.size() + data.size());
    outbound->own.assign(head.begin(), head.end());
    outbound->own.insert(outbound->own.end(), data.begin(), data.end());
    outbound->head = outbound->own;
  } else {
    outbound->head = head;
    outbound->payload = data;
  }
  out_.push_back(std::move(outbound));
}

bool PacketSender::pump() {
  bool moved = false;
  while (true) {
    if (out_.empty()) {
      if (transfers_.empty()) return moved;
      add_data();
    }
    Outbound& outbound = *out_.front();
    const std::size_t before = outbound.sent;
    const bool is_done = push(outbound);
    moved = moved || outbound.sent > before;
    if (!is_done) return moved;
    outbound.end = sent_;
    unreleased_.push_back(std::move(out_.front()));
    out_.pop_front();
  }
}

/// The next piece of the first transfer, which then goes to the end of the queue.
void PacketSender::add_data() {
  const std::shared_ptr<Message> send = std::move(transfers_.front());
  transfers_.pop_front();
  const std::size_t bytes = std::min(data_piece, send->bytes - send->moved_);
  auto outbound = std::make_unique<Outbound>();
  outbound->packet = {.kind = Packet::Kind::data, .id = send->id_, .bytes = bytes};
  outbound->head = bytes_of(outbound->packet);
  outbound->payload = {send->data + send->moved_, bytes};
  outbound->may_be_in_place = true;
  outbound->message = send;
  send->moved_ += bytes;
  outbound->completes = send->moved_ == send->bytes;
  if (!outbound->completes) transfers_.push_back(send);
  out_.push_back(std::move(outbound));
}

/// True if all of it was sent.
bool PacketSender::push(Outbound& outbound) {
  const std::size_t all = outbound.head.size() + outbound.payload.size();
  while (outbound.sent < all) {
    const bool in_head = outbound.sent < outbound.head.size();
    const std::span<const std::byte> rest =
        in_head ? outbound.head.subspan(outbound.sent)
                : outbound.payload.subspan(outbound.sent - outbound.head.size());
    const bool may_be_in_place = !in_head && outbound.may_be_in_place;
    port_.begin(0, {.zero_copy_from = may_be_in_place ? least_in_place : ~std::size_t{0}});
    const Port::Send send{.peers = {&to_, 1}, .data = rest, .message = rest.size()};
    const Port::Posted posted = port_.post({&send, 1});
    const std::size_t taken = posted.sends > 0 ? rest.size() : posted.bytes;
    if (taken == 0) return false;
    outbound.sent += taken;
    sent_ += taken;
  }
  return true;
}

bool PacketSender::release(std::vector<std::shared_ptr<Message>>& done) {
  if (unreleased_.empty()) return false;
  const std::uint64_t released = sent_ - port_.unreleased(to_);
  bool moved = false;
  while (!unreleased_.empty() && unreleased_.front()->end <= released) {
    const std::unique_ptr<Outbound> outbound = std::move(unreleased_.front());
    unreleased_.pop_front();
    if (outbound->completes && outbound->message) done.push_back(outbound->message);
    moved = true;
  }
  return moved;
}

void PacketSender::detach(const Inbox& inbox) {
  const auto is_of_inbox = [&](const std::shared_ptr<Message>& message) {
    return message && message->inbox_.get() == &inbox;
  };
  std::erase_if(transfers_, is_of_inbox);
  bool is_touched = std::any_of(unreleased_.begin(), unreleased_.end(),
                                [&](const auto& each) { return is_of_inbox(each->message); });
  for (const auto& outbound : out_) {
    if (!is_of_inbox(outbound->message)) continue;
    // What was not sent the port does not know. It may be connecting in another thread.
    is_touched = is_touched || outbound->sent > 0;
    if (!outbound->payload.empty()) {
      std::vector<std::byte> all(outbound->head.begin(), outbound->head.end());
      all.insert(all.end(), outbound->payload.begin(), outbound->payload.end());
      outbound->own = std::move(all);
      outbound->head = outbound->own;
      outbound->payload = {};
    }
    outbound->message.reset();
  }
  if (is_touched) port_.copy_unreleased(to_);
}

bool PacketSender::is_outstanding(const Inbox& inbox) const {
  return std::any_of(unreleased_.begin(), unreleased_.end(), [&](const auto& each) {
    return each->message && each->message->inbox_.get() == &inbox;
  });
}

void PacketSender::stop_zero_copy(const Inbox& inbox) {
  for (const auto& outbound : unreleased_) {
    if (outbound->message && outbound->message->inbox_.get() == &inbox) outbound->message.reset();
  }
}

void PacketSender::clear() {
  out_.clear();
  unreleased_.clear();
  transfers_.clear();
}

}  // namespace tutti
