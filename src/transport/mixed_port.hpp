#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "transport/port.hpp"

namespace tutti {

/// Combines several ports, for a communicator whose peers use different transports: it forwards
/// what it is asked to the port of the peers. The last port sleeps for all of them: it polls
/// descriptors, among them the doorbell that wakes the other ports.
class MixedPort final : public Port {
 public:
  /// `ways`: by rank, the index of the port that reaches it.
  MixedPort(std::vector<std::unique_ptr<Port>> ports, std::vector<std::uint8_t> ways);

  void begin(std::uint32_t tag, const Terms& terms) override;
  [[nodiscard]] Posted post(std::span<const Send> sends) override;
  [[nodiscard]] Copies prepare(const Send& send, std::size_t reading, bool may_stage,
                               std::vector<std::byte*>& copies) override;
  [[nodiscard]] std::size_t unreleased(Rank peer) override;
  void copy_unreleased(Rank peer) override;
  [[nodiscard]] std::size_t poll(std::span<const Rank> peers, std::span<std::byte> into,
                                 const void** data, std::span<const Rank> next) override;
  void consume(std::span<const Rank> peers, std::size_t bytes) override;
  [[nodiscard]] bool may_arrive(Rank peer, bool has_ended) override;
  void revoke() override;
  [[nodiscard]] bool has_revoked(Rank peer) const override;
  [[nodiscard]] bool is_exposed(const std::function<bool(Rank)>& is_gone) override;
  void abandon() override;
  [[nodiscard]] Outlook progress(std::uint32_t idle, Clock::time_point deadline) override;
  void arm(WokenBy by) override;
  void sleep(Clock::time_point deadline) override;
  void interrupt() override;

 private:
  [[nodiscard]] Port& way(Rank peer) const { return *ports_[ways_[peer]]; }
  /// How many of the first elements are of one port.
  template <class Each, class RankOf>
  [[nodiscard]] std::size_t alike(std::span<Each> all, RankOf&& rank_of) const;

  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<std::uint8_t> ways_;
};

}  // namespace tutti
