#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "lifeline/participant.hpp"

namespace tutti::test {

/// A rank whose status the test sets. It is after call 1.
class FakeParticipant final : public Participant {
 public:
  [[nodiscard]] RankStatus status(std::uint64_t about) const override {
    RankStatus status{.call = 1, .words = "call 1"};
    if (about == 1) {
      status.about = about;
      status.signature = signature;
      status.asked = "call 1 of kind " + std::to_string(signature);
    }
    return status;
  }
  std::uint64_t seal() override {
    was_sealed = true;
    return done;
  }
  std::optional<std::uint64_t> stop() override {
    was_stopped = true;
    return last_call;
  }
  void wake() override { ++wakes; }

  std::uint32_t signature = 0;
  std::uint64_t done = 0;
  std::optional<std::uint64_t> last_call{};
  std::atomic<int> wakes{0};
  std::atomic<bool> was_sealed{false};
  std::atomic<bool> was_stopped{false};
};

}  // namespace tutti::test
