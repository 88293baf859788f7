#include "transport/tcp/reception.hpp"

#include <algorithm>

#include "transport/tcp/greeting.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// A rank that knocks has already said who it is, and answers within a round trip.
constexpr auto enough_time = 10s;
/// When all places are taken, who has been here so long must make room.
constexpr auto fair_time = 1s;

}  // namespace

Reception::Reception(Socket listener, Watch& watch, const Secret& secret, std::string group,
                     Rank self)
    : listener_(std::move(listener)),
      watch_(watch),
      secret_(secret),
      group_(std::move(group)),
      self_(self) {
  if (listener_) watch_.add(listener_.fd(), {.kind = Watch::Kind::listener, .index = 0}, false);
}

Reception::~Reception() {
  if (listener_) watch_.remove(listener_.fd());
  for (const Place& place : places_) {
    if (place.socket) watch_.remove(place.socket.fd());
  }
}

void Reception::open_door(Clock::time_point now) {
  if (!listener_) return;
  while (Place* const place = free_place(now)) {
    place->socket = accept_from(listener_);
    if (!place->socket) return;
    place->handshake.emplace(Handshake::Side::accepts, secret_,
                             tcp_greeting(group_, self_.index()));
    place->late = now + enough_time;
    ++strangers_;
    watch_.add(place->socket.fd(), tag(*place), true);
  }
}

std::optional<Reception::Guest> Reception::advance(std::uint32_t index) {
  if (index >= places_.size() || !places_[index].socket) return std::nullopt;
  Place& place = places_[index];
  switch (place.handshake->advance(place.socket.fd())) {
    case Handshake::State::reading:
    case Handshake::State::writing:
      return std::nullopt;
    case Handshake::State::refused:
      last_refusal_ = place.handshake->refusal();
      leave(place);
      return std::nullopt;
    case Handshake::State::done:
      break;
  }
  const std::string greeting = place.handshake->peer_greeting();
  Socket socket = leave(place);
  const std::optional<std::uint32_t> rank = rank_that_greets(greeting, group_);
  if (!rank || *rank >= self_.index()) {
    last_refusal_ = "somebody else called, who said \"" + greeting + "\"";
    return std::nullopt;
  }
  return Guest{.rank = *rank, .socket = std::move(socket)};
}

void Reception::close_late(Clock::time_point now) {
  if (strangers_ == 0) return;
  for (Place& place : places_) {
    if (!place.socket || now < place.late) continue;
    last_refusal_ = "somebody called and did not say who";
    leave(place);
  }
}

Reception::Place* Reception::free_place(Clock::time_point now) {
  const auto free = std::find_if(places_.begin(), places_.end(),
                                 [](const Place& place) { return !place.socket; });
  if (free != places_.end()) return &*free;
  if (places_.size() < most_strangers) return &places_.emplace_back();
  const auto oldest =
      std::min_element(places_.begin(), places_.end(),
                       [](const Place& one, const Place& other) { return one.late < other.late; });
  if (now < oldest->late - enough_time + fair_time) return nullptr;
  leave(*oldest);
  return &*oldest;
}

Watch::Tag Reception::tag(const Place& place) const {
  return {.kind = Watch::Kind::stranger,
          .index = static_cast<std::uint32_t>(&place - places_.data())};
}

Socket Reception::leave(Place& place) {
  watch_.remove(place.socket.fd());
  place.handshake.reset();
  --strangers_;
  return std::exchange(place.socket, Socket());
}

}  // namespace tutti
