#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "transport/memory/memory_transport.hpp"
#include "transport/memory/outbox.hpp"
#include "transport/memory/shared_header.hpp"
#include "transport/memory/spread.hpp"
#include "transport/port.hpp"

namespace tutti {

/// The port of one communicator between ranks that share memory.
///
/// Up to 48 bytes travel inline in the descriptor, one cache line. Longer data is read in place if
/// the receivers can see it. Other data, and data too short to be worth waiting for its readers, is
/// copied into the sender's outbox, once for all receivers; or the receiver has the kernel copy it
/// from the sender's private memory. A sender that computes data may also write it to windows of
/// the receivers.
class MemoryPort final : public Port {
 public:
  /// `places`: by rank of the communicator, its place among the local ranks of the transport.
  /// `header`: offset of the communicator's header in the arena. `made_header`: this rank
  /// allocated them. The transport must outlive the port.
  MemoryPort(MemoryTransport& transport, const Membership& membership,
             std::span<const std::optional<std::uint32_t>> places, std::uint64_t header,
             bool made_header);
  ~MemoryPort() override;
  MemoryPort(const MemoryPort&) = delete;
  MemoryPort& operator=(const MemoryPort&) = delete;

  void begin(std::uint32_t tag, const Terms& terms) override {
    tag_ = tag;
    terms_ = terms;
    // Asking for the current core is costly, and progress() asks anyway.
    if (++begun_ % 64 == 0) spread_.show();
  }
  [[nodiscard]] Posted post(std::span<const Send> sends) override;
  [[nodiscard]] Copies prepare(const Send& send, std::size_t reading, bool may_stage,
                               std::vector<std::byte*>& copies) override;
  [[nodiscard]] std::size_t unreleased(Rank peer) override;
  /// What is staged is released, and the rest is read where it is.
  void copy_unreleased(Rank /*peer*/) override {}
  [[nodiscard]] std::size_t poll(std::span<const Rank> peers, std::span<std::byte> into,
                                 const void** data, std::span<const Rank> next) override;
  void consume(std::span<const Rank> peers, std::size_t bytes) override;
  [[nodiscard]] bool may_arrive(Rank peer, bool has_ended) override;
  void revoke() override;
  [[nodiscard]] bool has_revoked(Rank peer) const override {
    std::atomic_thread_fence(std::memory_order_acquire);
    const Retirement& owner = header_.retirement(in_[peer].place);
    return owner.revoked.load(std::memory_order_relaxed) != 0;
  }
  [[nodiscard]] bool is_exposed(const std::function<bool(Rank)>& is_gone) override;
  void abandon() override;
  [[nodiscard]] Outlook progress(std::uint32_t idle, Clock::time_point deadline) override;
  void arm(WokenBy by) override;
  void sleep(Clock::time_point deadline) override;
  void interrupt() override;

 private:
  /// The stream from a peer.
  struct Inbound {
    DescriptorRing* ring = nullptr;   // Null until the peer has allocated it.
    std::uint32_t turn = 1;           // The open descriptor, or the next one.
    std::uint32_t place = 0;          // The peer's place in the header.
    const std::byte* data = nullptr;  // Data of the open descriptor; null if none is open.
    std::size_t left = 0;             // Bytes of `data` not yet consumed.
    bool is_in_place = false;         // `data` is in the peer's own memory.
    bool is_remote = false;           // `data` is a copy of the peer's private memory,
    std::size_t fetched = 0;          // of which so many bytes are not yet consumed,
    std::uint64_t next_fetch = 0;     // and the following ones are at this address there.
    std::vector<std::byte> copy{};
    std::uint64_t consumed = 0;
    Descriptor::Window window{};  // The last one that the peer has announced.
  };
  using Begins = std::array<std::uint64_t, DescriptorRing::capacity>;
  /// The stream to a peer.
  struct Outbound {
    DescriptorRing* ring = nullptr;  // Null before the first send.
    std::uint64_t slots = 0;         // In the arena; 0 before the first short send.
    std::uint32_t turn = 1;          // The next descriptor.
    std::uint32_t done = 0;          // The last turn that the peer was seen to have finished.
    std::uint32_t place = 0;
    bool is_outstanding = false;         // The peer may be reading this rank's own memory,
    std::uint32_t last_outstanding = 0;  // until it has finished this turn.
    std::uint64_t sent = 0;
    std::unique_ptr<Begins> begins{};  // Stream positions at which the descriptors begin.
    std::uint32_t announced_call = 0;  // The last call that announced windows,
    std::vector<std::span<std::byte>> announced{};  // and their memory.
  };

  // Receiving:
  [[nodiscard]] bool find_ring(Inbound& in) const;
  [[nodiscard]] bool open(Rank peer, Inbound& in);
  void find_data(Rank peer, Inbound& in, const Descriptor& descriptor);
  void finish(Rank peer, Inbound& in, std::size_t bytes);
  void fetch(Inbound& in, std::span<std::byte> to);
  void fill_copy(Inbound& in);
  [[noreturn]] static void refuse_call(Rank peer);
  /// Throws if the peer has revoked its memory: it may have changed while it was read.
  void require_unchanged(Rank peer) {
    if (has_revoked(peer)) refuse_changed(peer);
  }
  [[noreturn]] void refuse_changed(Rank peer);

  // Sending:
  /// How a send travels.
  struct Way {
    Descriptor::Kind kind = Descriptor::Kind::inlined;
    std::uint64_t where = 0;
    std::size_t bytes = 0;  ///< As many as go this way. For data to be staged: at most.
  };
  void make_ring(Outbound& out);
  [[nodiscard]] std::uint64_t make_block(std::size_t bytes);
  static void refresh(Outbound& out) { out.done = out.ring->done.load(std::memory_order_acquire); }
  [[nodiscard]] bool has_room(Outbound& out);
  [[nodiscard]] bool have_room(std::span<const Rank> peers);
  [[nodiscard]] Way find_way(const Send& send, bool has_window);
  [[nodiscard]] bool is_single_copy(const Send& send);
  void post_long(std::span<const Send> sends, Posted& posted);
  void post_prepared(const Send& send);
  [[nodiscard]] bool stage(std::span<const Send> sends, std::size_t most,
                           const Descriptor::Window& window, Posted& posted);
  [[nodiscard]] Outbox::Slot* take_slot(std::span<const Send> sends);
  void prefetch_next_descriptor(Rank peer) const;
  void post_in_place(Rank peer, const Way& way, const Descriptor::Window& window);
  void post_inline(Rank peer, std::span<const std::byte> data);
  void post_short(Rank peer, std::span<const std::byte> data, const Descriptor::Window& window);
  void add_descriptor(Outbound& out, const Inbound& in, const Way& way,
                      const Descriptor::Window& window);

  // Windows:
  [[nodiscard]] Descriptor::Window announce(const Send& send);
  void note_announced(Outbound& out, std::span<std::byte> memory) const;
  [[nodiscard]] bool find_windows(std::span<const Rank> peers, std::size_t bytes,
                                  std::size_t reading, std::vector<std::byte*>& windows);
  [[nodiscard]] std::byte* find_window(Rank peer, std::size_t bytes, std::size_t reading);
  void put(const Send& send);
  void set_writing(bool is_writing);
  [[nodiscard]] bool may_read(Outbound& out);
  [[nodiscard]] bool may_write(const Outbound& out) const;
  void revoke_windows();

  // Waiting:
  [[nodiscard]] bool stay_awake(std::uint32_t idle);
  void wake(std::uint32_t place) {
    Bell& bell = header_.bell(place);
    if (const std::uint32_t asleep = bell.asleep.load(std::memory_order_relaxed)) {
      wake_from(asleep, place);
    }
  }
  void wake_from(std::uint32_t asleep, std::uint32_t place);
  void ring_futex(Bell& bell);

  MemoryTransport& transport_;
  MemoryTransport::ClosedPort closing_;
  SharedHeader header_;
  std::uint32_t self_ = 0;                   // This rank's place in the header.
  std::vector<std::uint32_t> local_places_;  // Place in the header → place among the local ranks.
  std::uint32_t tag_ = 0;                    // Of the current call.
  Terms terms_{};
  SharedView* view_;
  Patience patience_;
  std::span<const std::byte> fetchable_{};  // Data that can_be_fetched(), and was sent
  std::uint32_t fetchable_call_ = 0;        // in this call.
  Spread spread_;
  std::uint32_t begun_ = 0;           // Number of begin() calls.
  std::vector<Inbound> in_;           // By rank of the communicator.
  std::vector<Outbound> out_;         // By rank of the communicator.
  std::uint32_t free_rings_ = 0;      // Rings left in the last block of them,
  std::uint64_t next_ring_ = 0;       // and the first of them, in the arena.
  Outbox::Slot* prepared_ = nullptr;  // For the next post().
  bool crowded_ = false;              // Another rank was last seen on the same core.
  std::uint32_t rung_before_ = 0;
  std::atomic<bool> is_interrupted_{false};
};

}  // namespace tutti
