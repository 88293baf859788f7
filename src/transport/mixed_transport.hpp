#pragma once

#include <optional>
#include <vector>

#include "transport/patience.hpp"
#include "transport/transport.hpp"

namespace tutti {

/// Some peers by memory, the others by another way: what a rank of a job on several hosts has.
class MixedTransport final : public Transport {
 public:
  /// `neighbours` says which rank is which in `memory`; none for those that are elsewhere. Both
  /// transports must outlive this one. Nobody who writes into memory wakes a rank that sleeps
  /// elsewhere: that one's naps must be short.
  MixedTransport(Transport& memory, Transport& elsewhere,
                 std::vector<std::optional<Rank>> neighbours, Patience patience);

  void begin(std::uint32_t sent, std::uint32_t received) override;
  void read_in_place_from(std::size_t bytes) override;
  [[nodiscard]] std::span<const std::byte> arrived(Rank peer) override;
  void consume(Rank peer, std::size_t bytes) override;
  [[nodiscard]] std::size_t receive(Rank peer, std::span<std::byte> to) override;
  [[nodiscard]] std::size_t send(std::span<const Rank> peers,
                                 std::span<const std::byte> data) override;
  [[nodiscard]] std::uint32_t lane(Rank peer) const override;
  [[nodiscard]] std::uint64_t released(Rank peer) override;
  [[nodiscard]] std::uint64_t sent(Rank peer) const override;
  void abandon() override;
  void stand_down() override;
  [[nodiscard]] bool is_lending(const std::function<bool(Rank)>& is_gone) override;
  bool wait(std::uint32_t idle, Clock::time_point deadline) override;

 private:
  /// A peer as the transport that reaches it knows it.
  struct Way {
    Transport* transport;
    Rank rank;
  };
  [[nodiscard]] Way way(Rank peer) const;

  Transport& memory_;
  Transport& elsewhere_;
  std::vector<std::optional<Rank>> neighbours_;
  Patience patience_;
  std::vector<Rank> translated_;
  bool memory_has_slept_ = false;  // Since something last changed.
};

}  // namespace tutti
