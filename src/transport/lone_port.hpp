#pragma once

#include <tutti/error.hpp>

#include "transport/port.hpp"

namespace tutti {

/// The port of a communicator of one rank, which has no peers.
class LonePort : public Port {
 public:
  void begin(std::uint32_t /*tag*/, const Terms& /*terms*/) override {}
  [[nodiscard]] Posted post(std::span<const Send> /*sends*/) override { refuse(); }
  [[nodiscard]] Copies prepare(const Send& /*send*/, std::size_t /*reading*/, bool /*may_stage*/,
                               std::vector<std::byte*>& /*copies*/) override {
    refuse();
  }
  [[nodiscard]] std::size_t unreleased(Rank /*peer*/) override { return 0; }
  void copy_unreleased(Rank /*peer*/) override {}
  [[nodiscard]] std::size_t poll(std::span<const Rank> /*peers*/, std::span<std::byte> /*into*/,
                                 const void** /*data*/, std::span<const Rank> /*next*/) override {
    return 0;
  }
  void consume(std::span<const Rank> /*peers*/, std::size_t /*bytes*/) override {}
  [[nodiscard]] bool may_arrive(Rank /*peer*/, bool /*has_ended*/) override { return false; }
  void revoke() override {}
  [[nodiscard]] bool has_revoked(Rank /*peer*/) const override { return false; }
  [[nodiscard]] bool is_exposed(const std::function<bool(Rank)>& /*is_gone*/) override {
    return false;
  }
  void abandon() override {}
  [[nodiscard]] Outlook progress(std::uint32_t /*idle*/, Clock::time_point /*deadline*/) override {
    return Outlook::soon;
  }
  void arm(WokenBy /*by*/) override {}
  void sleep(Clock::time_point /*deadline*/) override {}
  void interrupt() override {}

 private:
  [[noreturn]] static void refuse() {
    throw Error(ErrorCode::internal, "send on a communicator of one rank");
  }
};

}  // namespace tutti
