#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "transport/port.hpp"

namespace tutti {

/// Combines several ports, for a communicator whose peers use different transports. The last port
/// sleeps for all of them: it polls descriptors, among them the doorbell that wakes the other
/// ports.
class MixedPort final : public Port {
 public:
  /// `ways`: by rank, the index of the port that reaches it.
  MixedPort(std::vector<std::unique_ptr<Port>> ports, std::vector<std::uint8_t> ways);

  void begin(std::uint32_t sent, std::uint32_t received) override;
  void read_in_place_from(std::size_t bytes) override;
  void allow_single_copy(bool is_allowed) override;
  [[nodiscard]] std::span<const std::byte> arrived(Rank peer) override {
    return way(peer).arrived(peer);
  }
  void consume(Rank peer, std::size_t bytes) override { way(peer).consume(peer, bytes); }
  [[nodiscard]] std::size_t receive(Rank peer, std::span<std::byte> to) override {
    return way(peer).receive(peer, to);
  }
  void expect(Rank peer, std::span<std::byte> to) override { way(peer).expect(peer, to); }
  void expose(Rank peer, const Window& window) override { way(peer).expose(peer, window); }
  [[nodiscard]] std::uint64_t consumed(Rank peer) const override {
    return way(peer).consumed(peer);
  }
  [[nodiscard]] bool find_windows(std::span<const Rank> peers, std::size_t bytes,
                                  std::size_t reading, std::vector<std::byte*>& windows) override {
    return way(peers.front()).find_windows(peers, bytes, reading, windows);
  }
  void put(std::span<const Rank> peers, std::size_t bytes) override {
    way(peers.front()).put(peers, bytes);
  }
  [[nodiscard]] std::size_t send(std::span<const Rank> peers,
                                 std::span<const std::byte> data) override {
    return way(peers.front()).send(peers, data);
  }
  [[nodiscard]] std::byte* reserve(std::span<const Rank> peers,
                                   std::span<const std::byte> data) override {
    return way(peers.front()).reserve(peers, data);
  }
  void commit(std::span<const Rank> peers, std::size_t bytes) override {
    way(peers.front()).commit(peers, bytes);
  }
  [[nodiscard]] bool is_reached(Rank peer) override { return way(peer).is_reached(peer); }
  [[nodiscard]] bool may_deliver(Rank peer) override { return way(peer).may_deliver(peer); }
  [[nodiscard]] std::uint32_t lane(Rank peer) const override;
  [[nodiscard]] std::uint64_t released(Rank peer) override { return way(peer).released(peer); }
  [[nodiscard]] std::uint64_t sent(Rank peer) const override { return way(peer).sent(peer); }
  void copy_unreleased(Rank peer) override { way(peer).copy_unreleased(peer); }
  void abandon() override;
  void stand_down() override;
  [[nodiscard]] bool has_stood_down(Rank peer) const override {
    return way(peer).has_stood_down(peer);
  }
  [[nodiscard]] bool is_lending(const std::function<bool(Rank)>& is_gone) override;
  void revoke_windows() override;
  void look() override;
  void interrupt() override { sleeper().interrupt(); }
  [[nodiscard]] bool goes_on(Clock::time_point deadline) override;
  [[nodiscard]] bool stay_awake(std::uint32_t idle) override;
  void lie_down(WokenBy by) override;
  void get_up() override;
  void sleep(Clock::time_point deadline) override { sleeper().sleep(deadline); }

 private:
  [[nodiscard]] Port& way(Rank peer) const { return *ports_[ways_[peer.index()]]; }
  [[nodiscard]] Port& sleeper() const { return *ports_.back(); }

  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<std::uint8_t> ways_;
};

}  // namespace tutti
