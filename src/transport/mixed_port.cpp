#include "transport/mixed_port.hpp"

#include <algorithm>

namespace tutti {

MixedPort::MixedPort(std::vector<std::unique_ptr<Port>> ports, std::vector<std::uint8_t> ways)
    : ports_(std::move(ports)), ways_(std::move(ways)) {}

void MixedPort::begin(std::uint32_t sent, std::uint32_t received) {
  for (const auto& port : ports_) port->begin(sent, received);
}

void MixedPort::read_in_place_from(std::size_t bytes) {
  for (const auto& port : ports_) port->read_in_place_from(bytes);
}

void MixedPort::allow_single_copy(bool is_allowed) {
  for (const auto& port : ports_) port->allow_single_copy(is_allowed);
}

/// Lanes of different ports must differ.
std::uint32_t MixedPort::lane(Rank peer) const {
  return way(peer).lane(peer) * static_cast<std::uint32_t>(ports_.size()) + ways_[peer.index()];
}

void MixedPort::abandon() {
  for (const auto& port : ports_) port->abandon();
}

void MixedPort::stand_down() {
  for (const auto& port : ports_) port->stand_down();
}

bool MixedPort::is_lending(const std::function<bool(Rank)>& is_gone) {
  return std::any_of(ports_.begin(), ports_.end(),
                     [&](const auto& port) { return port->is_lending(is_gone); });
}

void MixedPort::revoke_windows() {
  for (const auto& port : ports_) port->revoke_windows();
}

void MixedPort::look() {
  for (const auto& port : ports_) port->look();
}

bool MixedPort::goes_on(Clock::time_point deadline) {
  bool moved = false;
  for (const auto& port : ports_) moved = port->goes_on(deadline) || moved;
  return moved;
}

/// Sleeps as soon as one port would: the one that is most expensive to poll decides.
bool MixedPort::stay_awake(std::uint32_t idle) {
  return std::all_of(ports_.begin(), ports_.end(),
                     [&](const auto& port) { return port->stay_awake(idle); });
}

void MixedPort::lie_down(WokenBy /*by*/) {
  for (const auto& port : ports_) port->lie_down(WokenBy::descriptors);
}

void MixedPort::get_up() {
  for (const auto& port : ports_) port->get_up();
}

}  // namespace tutti
