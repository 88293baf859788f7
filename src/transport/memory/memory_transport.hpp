#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "transport/memory/arena.hpp"
#include "transport/memory/commons.hpp"
#include "transport/memory/doorbells.hpp"
#include "transport/memory/outbox.hpp"
#include "transport/memory/shared_view.hpp"
#include "transport/patience.hpp"
#include "transport/transport.hpp"

namespace tutti {

/// Between ranks that share memory: threads of a process, or processes of a host. What is theirs
/// together stands in an arena: the outbox of each rank, and for each communicator its commons.
///
/// Thread-safe; each port is for one thread at a time.
class MemoryTransport final : public Transport {
 public:
  struct Setting {
    std::byte* base = nullptr;  ///< Of the arena, which must outlive this.
    std::size_t stripe_bytes = 0;
    std::uint32_t self = 0;               ///< This member's place among the locals.
    std::vector<std::uint32_t> locals{};  ///< The members of the fabric that share the memory.
    SharedView* view = nullptr;           ///< Null: nothing is read directly. Must outlive this.
    Patience patience{};
    Doorbells* doorbells = nullptr;  ///< Null: nobody here sleeps on descriptors.
    /// Whether the process of a member has ended, so that it touches no memory any more.
    std::function<bool(std::uint32_t member)> has_ended{};
    std::uint32_t outbox_slots = Outbox::usual_slots;
    std::uint32_t slot_bytes = Outbox::usual_slot_bytes;
    std::size_t least_direct =
        2048;  ///< Shorter data is copied sooner than its reader has answered.
  };

  explicit MemoryTransport(Setting setting);
  ~MemoryTransport() override;
  MemoryTransport(const MemoryTransport&) = delete;
  MemoryTransport& operator=(const MemoryTransport&) = delete;

  /// The first local rank of the communicator makes its commons; the offer is where they stand.
  [[nodiscard]] std::uint64_t offer(const Membership& membership) override;
  [[nodiscard]] std::unique_ptr<Port> open(const Membership& membership,
                                           std::span<const std::uint64_t> offers) override;
  void withdraw(std::uint64_t offer) override;

  /// By rank of a communicator: its place among the locals; none for those that are elsewhere.
  [[nodiscard]] std::vector<std::optional<std::uint32_t>> locals(
      const Membership& membership) const;

  [[nodiscard]] const Setting& setting() const { return setting_; }
  [[nodiscard]] Arena& arena() { return arena_; }
  [[nodiscard]] Outbox& outbox() { return outbox_; }

  /// What a port leaves behind when it is closed. Others may still read what it has sent.
  struct Remains {
    Commons commons{nullptr, 0};
    std::uint32_t self = 0;                ///< In the commons.
    std::vector<std::uint32_t> members{};  ///< By place in the commons.
    std::unique_ptr<Outbox::Account> account{};
    std::vector<std::uint64_t> mailboxes{};      ///< Blocks of this rank's, in the arena.
    std::optional<std::uint64_t> own_commons{};  ///< That this rank has made.
    bool has_left = false;
    bool has_cleared = false;
  };
  void bury(Remains remains);

 private:
  /// Takes back what nobody uses any more.
  void sweep();
  [[nodiscard]] bool sweep(Remains& remains);

  Setting setting_;
  Arena arena_;
  Outbox outbox_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Remains>> buried_;
};

}  // namespace tutti
