#include "api/failure/local_participant.hpp"

namespace tutti {

/// Another thread asks, perhaps during a call of this rank.
RankStatus LocalParticipant::status(std::uint64_t about) const {
  const FlightRecorder& recorder = at_.recorder;
  RankStatus status;
  if (const auto last = recorder.latest()) {
    const auto now = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
    status.call = last->number;
    status.words = words(*last);
    status.runs = last->state == FlightRecord::State::running;
    const std::uint64_t since = status.runs ? last->begun_ns : last->ended_ns;
    status.seconds = since == 0 || now < since ? 0 : 1e-9 * static_cast<double>(now - since);
  }
  at_.messages.describe(status);
  if (about == 0) return status;
  status.about = about;
  if (const auto asked = recorder.find(about)) {
    status.signature = asked->call.signature;
    status.asked = words(*asked);
  }
  const std::uint64_t first =
      about > RankStatus::most_earlier ? about - RankStatus::most_earlier : 1;
  for (std::uint64_t number = first; number < about; ++number) {
    if (const auto made = recorder.find(number)) {
      status.earlier.push_back(
          {.call = number, .signature = made->call.signature, .words = words(*made)});
    }
  }
  return status;
}

std::optional<std::uint64_t> LocalParticipant::stop() {
  const bool is_idle = at_.gate.close();
  // A rank that is in a call does so when it leaves the call: see Health::retire().
  if (is_idle) at_.port.revoke();
  at_.port.interrupt();
  at_.messenger.interrupt();
  return is_idle ? std::optional(at_.calls) : std::nullopt;
}

}  // namespace tutti
