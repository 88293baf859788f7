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
      random_(temper.seed * 1000 + membership.self.index()) {
  if (temper.steps_to_live > 0 && membership.members[membership.self.index()] == temper.mortal) {
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
  return group_->streams[membership_.self.index() * membership_.size() + peer.index()];
}
Network::Stream& ErraticPort::from(Rank peer) const {
  return group_->streams[peer.index() * membership_.size() + membership_.self.index()];
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
  network_->is_dead[membership_.members[membership_.self.index()]] = true;
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
      Parcel& parcel = to(peer).parcels.emplace_back();
      parcel.tag = terms_.sent_tag;
      parcel.left = taken;
      parcel.delay = random_.below(8U);
      parcel.data = data;
      if (in_place) continue;
      parcel.copy.assign(data, data + taken);
      parcel.data = parcel.copy.data();
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
  if (network_->is_dead[membership_.members[peer.index()]]) return 0;
  // From the first parcel on that is read from the caller's memory.
  std::size_t bytes = 0;
  bool counts = false;
  for (const Parcel& parcel : to(peer).parcels) {
    counts = counts || parcel.copy.empty();
    if (counts) bytes += parcel.left;
  }
  return bytes;
}

void ErraticPort::copy(Network::Stream& stream) const {
  for (Parcel& parcel : stream.parcels) {
    if (!parcel.copy.empty()) continue;
    parcel.copy.assign(parcel.data, parcel.data + parcel.left);
    parcel.data = parcel.copy.data();
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
    const std::string name = "rank " + std::to_string(peers[i].index());
    if (stream.parcels.empty()) {
      if (network_->is_dead[membership_.members[peers[i].index()]]) {
        throw Error(ErrorCode::peer_lost, name + " is gone");
      }
      return 0;
    }
    Parcel& parcel = stream.parcels.front();
    if (parcel.delay > 0) {
      --parcel.delay;
      return 0;
    }
    if (parcel.tag != terms_.received_tag) {
      throw Error(ErrorCode::mismatch, name + " is in another call");
    }
    stream.is_open = stream.is_open || parcel.copy.empty();
    data[i] = parcel.data;
    least = std::min(least, parcel.left);
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
    if (stream.is_open && group_->has_revoked[peer.index()]) {
      throw Error(ErrorCode::peer_lost,
                  "rank " + std::to_string(peer.index()) + " has given up: its data may be wrong");
    }
    stream.is_open = false;
    Parcel& parcel = stream.parcels.front();
    parcel.data += bytes;
    parcel.left -= bytes;
    if (parcel.left == 0) stream.parcels.pop_front();
  }
  network_->news.notify_all();
}

bool ErraticPort::may_arrive(Rank peer, bool has_ended) {
  const Lock held = lock();
  return !has_ended || !from(peer).parcels.empty();
}

void ErraticPort::revoke() {
  const Lock held = lock();
  group_->has_revoked[membership_.self.index()] = true;
}

bool ErraticPort::has_revoked(Rank peer) const {
  const Lock held = lock();
  return group_->has_revoked[peer.index()];
}

bool ErraticPort::is_exposed(const std::function<bool(Rank)>& is_gone) {
  const Lock held = lock();
  for (std::uint32_t peer = 0; peer < membership_.size(); ++peer) {
    const auto& parcels = to(Rank{peer}).parcels;
    const bool is_read = std::any_of(parcels.begin(), parcels.end(),
                                     [](const Parcel& each) { return each.copy.empty(); });
    if (is_read && !group_->has_revoked[peer] && !is_gone(Rank{peer})) return true;
  }
  return false;
}

void ErraticPort::abandon() {
  const Lock held = lock();
  for (std::uint32_t peer = 0; peer < membership_.size(); ++peer) copy(to(Rank{peer}));
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
