#pragma once

#include <cstdint>
#include <optional>

#include "api/failure/gate.hpp"
#include "api/failure/retry_count.hpp"
#include "api/failure/running_messages.hpp"
#include "flight/recorder.hpp"
#include "lifeline/participant.hpp"
#include "messages/messenger.hpp"
#include "transport/port.hpp"

namespace tutti {

/// What the agreement asks this rank, from a thread of its own: what the rank is doing, and to
/// stop.
class LocalParticipant final : public Participant {
 public:
  struct Setup {
    Gate& gate;
    Port& port;
    Messenger& messenger;
    const FlightRecorder& recorder;
    const RunningMessages& messages;
    RetryCount& done;
    const std::uint64_t& calls;  ///< The number of the last call.
  };

  /// What the setup refers to must outlive this.
  explicit LocalParticipant(const Setup& setup) : at_(setup) {}

  [[nodiscard]] RankStatus status(std::uint64_t about) const override;
  std::uint64_t seal() override { return at_.done.seal(); }
  [[nodiscard]] std::optional<std::uint64_t> stop() override;
  void wake() override { at_.port.interrupt(); }

 private:
  Setup at_;
};

}  // namespace tutti
