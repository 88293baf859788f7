#include "support/erratic/erratic_port.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include <tutti/error.hpp>

namespace tutti::test::erratic {
namespace {

constexpr std::size_t granule = 64;

}  // namespace

ErraticPort::ErraticPort(std::shared_ptr<Network> network, const Membership& membership,
                         const Temper& temper)
    : network_(std::move(network)),
      membership_(membership),
      random_(temper.seed * 1000 + membership.self) {
  if (temper.steps_to_live > 0 && membership.members[membership.self] == temper.mortal) {
    steps_to_live_ = temper.steps_to_live;
  }
  const Lock held = lock();
  std::shared_ptr<Network::Group>& group = network_->groups[membership.context];
  if (!group) group = std::make_shared<Network::Group>(membership.size());
  group_ = group;
}

/// What was sent is still delivered, but not from memory of the caller.
ErraticPort::~ErraticPort() { ErraticPort::abandon(); }

Network::Stream& ErraticPort::to(Rank peer) const {
  return group_->streams[membership_.self * membership_.size() + peer];
}
Network::Stream& ErraticPort::from(Rank peer) const {
  return group_->streams[peer * membership_.size() + membership_.self];
}

/// Part of so many bytes, or all of them.
std::size_t ErraticPort::piece_of(std::size_t bytes) {
  if (random_.one_in(2) || bytes <= granule) return bytes;
  return granule * (1 + random_.below(std::uint64_t{(bytes - 1) / granule}));
}

/// Comes a step closer to death.
void ErraticPort::age() {
  if (!steps_to_live_) return;
  if (*steps_to_live_ > 0) --*steps_to_live_;
  if (*steps_to_live_ > 0) return;
  network_->is_dead[membership_.members[membership_.self]] = true;
  network_->news.notify_all();
  throw Error(ErrorCode::internal, "this rank is dead");
}

Port::Posted ErraticPort::post(std::span<const Send> sends) {
  const Lock held = lock();
  age();
  Posted posted;
  for (const Send& send : sends) {
    if (!send.is_prepared && random_.one_in(4)) break;
    const bool in_place = !send.is_prepared && random_.one_in(2);
    const std::size_t taken = send.is_prepared ? send.data.size() : piece_of(send.data.size());
    const std::byte* const data = send.is_prepared ? prepared_.data() : send.data.data();
    for (const Rank peer : send.peers) {
      Delivery& delivery = to(peer).deliveries.emplace_back();
      delivery.tag = tag_;
      delivery.left = taken;
      delivery.delay = random_.below(8U);
      delivery.data = data;
      if (in_place) continue;
      delivery.copy.assign(data, data + taken);
      delivery.data = delivery.copy.data();
    }
    posted.is_outstanding = posted.is_outstanding || in_place;
    if (taken < send.data.size()) {
      posted.bytes = taken;
      break;
    }
    ++posted.sends;
  }
  network_->news.notify_all();
  return posted;
}

Port::Copies ErraticPort::prepare(const Send& send, std::size_t /*reading*/, bool may_stage,
                                  std::vector<std::byte*>& copies) {
  if (!may_stage || random_.one_in(2)) return Copies::none;
  prepared_.assign(send.data.size(), std::byte{});
  copies.assign(1, prepared_.data());
  return Copies::staged;
}

std::size_t ErraticPort::unreleased(Rank peer) {
  const Lock held = lock();
  if (network_->is_dead[membership_.members[peer]]) return 0;
  // From the first delivery on that is read from the caller's memory.
  std::size_t bytes = 0;
  bool counts = false;
  for (const Delivery& delivery : to(peer).deliveries) {
    counts = counts || delivery.copy.empty();
    if (counts) bytes += delivery.left;
  }
  return bytes;
}

void ErraticPort::copy(Network::Stream& stream) const {
  for (Delivery& delivery : stream.deliveries) {
    if (!delivery.copy.empty()) continue;
    delivery.copy.assign(delivery.data, delivery.data + delivery.left);
    delivery.data = delivery.copy.data();
  }
}

void ErraticPort::copy_unreleased(Rank peer) {
  const Lock held = lock();
  // What is being read stays where it is.
  if (!to(peer).is_open) copy(to(peer));
}

std::size_t ErraticPort::poll(std::span<const Rank> peers, std::span<std::byte> into,
                              const void** data, std::span<const Rank> /*next*/) {
  const Lock held = lock();
  age();
  std::size_t least = ~std::size_t{0};
  for (std::size_t i = 0; i < peers.size(); ++i) {
    Network::Stream& stream = from(peers[i]);
    const std::string name = "rank " + std::to_string(peers[i]);
    if (stream.deliveries.empty()) {
      if (network_->is_dead[membership_.members[peers[i]]]) {
        throw Error(ErrorCode::peer_lost, name + " is gone");
      }
      return 0;
    }
    Delivery& delivery = stream.deliveries.front();
    if (delivery.delay > 0) {
      --delivery.delay;
      return 0;
    }
    if (delivery.tag != tag_) {
      throw Error(ErrorCode::mismatch, name + " is in another call");
    }
    stream.is_open = stream.is_open || delivery.copy.empty();
    data[i] = delivery.data;
    least = std::min(least, delivery.left);
  }
  const std::size_t found = piece_of(least);
  if (peers.size() == 1 && !into.empty() && random_.one_in(2)) {
    const std::size_t moved = std::min(found, into.size());
    std::memcpy(into.data(), data[0], moved);
    data[0] = into.data();
    return moved;
  }
  return found;
}

void ErraticPort::consume(std::span<const Rank> peers, std::size_t bytes) {
  const Lock held = lock();
  for (const Rank peer : peers) {
    Network::Stream& stream = from(peer);
    if (stream.is_open && group_->has_revoked[peer]) {
      throw Error(ErrorCode::peer_lost,
                  "rank " + std::to_string(peer) + " has given up: its data may be wrong");
    }
    stream.is_open = false;
    Delivery& delivery = stream.deliveries.front();
    delivery.data += bytes;
    delivery.left -= bytes;
    if (delivery.left == 0) stream.deliveries.pop_front();
  }
  network_->news.notify_all();
}

bool ErraticPort::may_arrive(Rank peer, bool has_ended) {
  const Lock held = lock();
  return !has_ended || !from(peer).deliveries.empty();
}

void ErraticPort::revoke() {
  const Lock held = lock();
  group_->has_revoked[membership_.self] = true;
}

bool ErraticPort::has_revoked(Rank peer) const {
  const Lock held = lock();
  return group_->has_revoked[peer];
}

bool ErraticPort::is_exposed(const std::function<bool(Rank)>& is_gone) {
  const Lock held = lock();
  for (std::uint32_t peer = 0; peer < membership_.size(); ++peer) {
    const auto& deliveries = to(peer).deliveries;
    const bool is_read = std::any_of(deliveries.begin(), deliveries.end(),
                                     [](const Delivery& each) { return each.copy.empty(); });
    if (is_read && !group_->has_revoked[peer] && !is_gone(peer)) return true;
  }
  return false;
}

void ErraticPort::abandon() {
  const Lock held = lock();
  for (std::uint32_t peer = 0; peer < membership_.size(); ++peer) copy(to(peer));
}

Port::Outlook ErraticPort::progress(std::uint32_t idle, Clock::time_point /*deadline*/) {
  constexpr std::uint32_t patience = 20;
  if (idle > patience) return Outlook::later;
  std::this_thread::yield();
  return Outlook::soon;
}

void ErraticPort::arm(WokenBy /*by*/) {}

/// No longer than a moment: what is delayed comes after some more polls.
void ErraticPort::sleep(Clock::time_point deadline) {
  Lock held = lock();
  if (std::exchange(is_interrupted_, false)) return;
  constexpr std::chrono::microseconds moment{200};
  const Clock::time_point now = Clock::now();
  if (deadline > now)
    network_->news.wait_for(held, std::min<Clock::duration>(moment, deadline - now));
}

void ErraticPort::interrupt() {
  const Lock held = lock();
  is_interrupted_ = true;
  network_->news.notify_all();
}

}  // namespace tutti::test::erratic
