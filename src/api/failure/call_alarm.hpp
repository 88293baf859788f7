#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "api/failure/gate.hpp"
#include "exec/executor.hpp"
#include "lifeline/consensus.hpp"
#include "transport/port.hpp"

namespace tutti {

/// What the executor asks while a call waits: whether the call can go on although a rank has left,
/// or although there is a verdict.
class CallAlarm final : public Alarm {
 public:
  /// `calls`: the number of the running call. All references must outlive this.
  CallAlarm(const Gate& gate, Port& port, const std::uint64_t& calls,
            std::function<void()> while_waiting)
      : gate_(gate), port_(port), calls_(calls), while_waiting_(std::move(while_waiting)) {}

  /// For a communicator of several ranks. It must outlive the last call.
  void set_consensus(Consensus& consensus) { consensus_ = &consensus; }

  [[nodiscard]] std::optional<Error> ring(std::span<const std::uint32_t> awaited) override;
  void note_wait(std::span<const std::uint32_t> ranks) override;
  void note_stall() override;
  void note_sleep() override {
    if (while_waiting_) while_waiting_();
  }

  /// A rank that has left though the call needs it.
  [[nodiscard]] std::optional<std::uint32_t> leaver() const { return leaver_; }

 private:
  const Gate& gate_;
  Port& port_;
  const std::uint64_t& calls_;
  std::function<void()> while_waiting_;
  Consensus* consensus_ = nullptr;
  std::optional<std::uint32_t> leaver_;
  /// When a running call found that there is a verdict.
  std::optional<Clock::time_point> verdict_found_at_;
};

}  // namespace tutti
