#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "transport/memory/arena.hpp"
#include "transport/memory/doorbells.hpp"
#include "transport/memory/outbox.hpp"
#include "transport/memory/shared_header.hpp"
#include "transport/memory/shared_view.hpp"
#include "transport/patience.hpp"
#include "transport/transport.hpp"

namespace tutti {

/// The transport between ranks that share memory: threads of a process, or processes of a host. An
/// arena holds what they share: the outbox of each rank, and the shared header of each
/// communicator.
///
/// Thread-safe; each port is for one thread at a time.
class MemoryTransport final : public Transport {
 public:
  struct Setting {
    std::byte* base = nullptr;  ///< Memory of the arena. Must outlive the transport.
    std::size_t stripe_bytes = 0;
    std::uint32_t self = 0;               ///< This member's place among the local ranks.
    std::vector<std::uint32_t> locals{};  ///< The members of the fabric that share the memory.
    SharedView* view = nullptr;           ///< Null: no reads in place. Must outlive the transport.
    Patience patience{};
    Doorbells* doorbells = nullptr;  ///< Null: no local rank sleeps on descriptors.
    /// True if the process of a member has ended, so that it no longer accesses shared memory.
    std::function<bool(std::uint32_t member)> has_ended{};
    std::uint32_t outbox_slots = Outbox::usual_slots;
    std::uint32_t slot_bytes = Outbox::usual_slot_bytes;
  };

  explicit MemoryTransport(Setting setting);
  ~MemoryTransport() override;
  MemoryTransport(const MemoryTransport&) = delete;
  MemoryTransport& operator=(const MemoryTransport&) = delete;

  /// The first local rank of the communicator allocates its shared header. The offer is its offset.
  [[nodiscard]] std::uint64_t offer(const Membership& membership) override;
  [[nodiscard]] std::unique_ptr<Port> open(const Membership& membership,
                                           std::span<const std::uint64_t> offers) override;
  void withdraw(std::uint64_t offer) override;

  /// By rank of a communicator: its place among the local ranks; none for ranks of other hosts.
  [[nodiscard]] std::vector<std::optional<std::uint32_t>> locals(
      const Membership& membership) const;

  [[nodiscard]] const Setting& setting() const { return setting_; }
  [[nodiscard]] Arena& arena() { return arena_; }
  [[nodiscard]] Outbox& outbox() { return outbox_; }

  /// The shared state of a closed port. Peers may still read what it has sent.
  struct ClosedPort {
    SharedHeader header{nullptr, 0};
    std::uint32_t self = 0;                ///< Own place in the header.
    std::vector<std::uint32_t> members{};  ///< Members of the fabric, by place in the header.
    std::unique_ptr<Outbox::Quota> quota{};
    std::vector<std::uint64_t> blocks{};        ///< This rank's rings and slots in the arena.
    std::optional<std::uint64_t> own_header{};  ///< Set if this rank allocated the header.
    bool has_left = false;
    bool has_cleared = false;
  };
  /// Keeps the state of a closed port until no peer uses it, then frees it.
  void retire(ClosedPort closed);

 private:
  /// Frees the state that no rank uses any more.
  void reclaim();
  [[nodiscard]] bool reclaim(ClosedPort& closed);

  Setting setting_;
  Arena arena_;
  Outbox outbox_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ClosedPort>> retired_;
};

}  // namespace tutti
