// How members tell each other that they end in order, and stay connected when others do.
#include <algorithm>
#include <charconv>
#include <utility>

#include "lifeline/mesh.hpp"

namespace tutti {

/// Members that do not hear this take the end of the connection for a loss.
void Mesh::depart() {
  std::string body = std::to_string(place_.self) + " " + lifeline_.farewell();
  if (body.size() > Frame::most_bytes) body.resize(body.rfind(';', Frame::most_bytes - 1) + 1);
  send_to_connected(Frame::Kind::departure, body);
  departures_.push_back(std::move(body));
}

void Mesh::hear_of_departure(std::uint32_t from, const std::string& body) {
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), index);
  if (error != std::errc{} || index >= members_.size()) return;
  if (index == place_.self) {
    members_[from].has_echoed = true;
    return;
  }
  Member& member = members_[index];
  const bool is_known = std::exchange(member.departs, true);
  if (!is_known) member.farewell = std::string(end, body.data() + body.size());
  if (from == index) take_farewell(index);
  if (is_full()) return;
  if (!is_known) {
    departures_.push_back(body);
    send_to_connected(Frame::Kind::departure, body);
    stay_connected();
  } else if (from == index && !member.channels.empty()) {
    member.channels.front()->send(Frame::Kind::departure, body);
    member.channels.front()->flush();
  }
}

void Mesh::take_farewell(std::uint32_t index) {
  std::optional<std::string> farewell = std::exchange(members_[index].farewell, std::nullopt);
  if (farewell) lifeline_.receive_farewell(index, *farewell);
}

/// What a member has sent to this one before it departs comes first, also if that connection is
/// still to be accepted.
void Mesh::take_farewells(Clock::time_point now) {
  for (std::uint32_t index = 0; index < members_.size(); ++index) {
    const Member& member = members_[index];
    if (!member.farewell || !member.channels.empty() || member.dial) continue;
    acceptor_.accept_pending(now);
    if (acceptor_.unauthenticated() == 0) take_farewell(index);
  }
}

/// The next member that is neither lost nor departs.
std::optional<std::uint32_t> Mesh::next_present() const {
  const auto size = static_cast<std::uint32_t>(members_.size());
  for (std::uint32_t distance = 1; distance < size; ++distance) {
    const std::uint32_t next = (place_.self + distance) % size;
    if (!members_[next].is_lost && !members_[next].departs) return next;
  }
  return std::nullopt;
}

void Mesh::stay_connected() {
  if (is_full()) return;
  if (const auto next = next_present()) need(*next, until_connected, "it cannot be reached");
}

/// True if all that are to know of it have heard that this member departs.
bool Mesh::may_end() const {
  if (is_full()) return true;
  const auto next = next_present();
  if (next && !members_[*next].has_echoed) return false;
  return std::all_of(members_.begin(), members_.end(), [](const Member& member) {
    return member.channels.empty() || member.has_echoed || member.departs;
  });
}

}  // namespace tutti
