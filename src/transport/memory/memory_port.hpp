#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "transport/memory/commons.hpp"
#include "transport/memory/memory_transport.hpp"
#include "transport/memory/outbox.hpp"
#include "transport/memory/spread.hpp"
#include "transport/port.hpp"

namespace tutti {

/// The port of one communicator between ranks that share memory.
///
/// Up to 48 bytes travel inline in the note, one cache line. Longer data is read in place if the
/// receivers can see it. Other data, and data too short to be worth waiting for its readers, is
/// copied into the sender's outbox, once for all receivers; or the receiver has the kernel copy it
/// from the sender's private memory. A sender that computes data may also write it to windows of
/// the receivers.
class MemoryPort final : public Port {
 public:
  /// `places`: by rank of the communicator, its place among the local ranks of the transport.
  /// `commons`: offset of the communicator's commons in the arena. `made_commons`: this rank
  /// allocated them. The transport must outlive the port.
  MemoryPort(MemoryTransport& transport, const Membership& membership,
             std::span<const std::optional<std::uint32_t>> places, std::uint64_t commons,
             bool made_commons);
  ~MemoryPort() override;
  MemoryPort(const MemoryPort&) = delete;
  MemoryPort& operator=(const MemoryPort&) = delete;

  void begin(std::uint32_t sent, std::uint32_t received) override {
    sent_call_ = sent;
    received_call_ = received;
    // Asking for the current core is costly, and wait() asks anyway.
    if (++begun_ % 64 == 0) spread_.show();
  }
  void read_in_place_from(std::size_t bytes) override { least_direct_ = bytes; }
  void allow_single_copy(bool is_allowed) override { allows_single_copy_ = is_allowed; }
  [[nodiscard]] bool is_reached(Rank peer) override {
    Inbound& in = in_[peer.index()];
    return in.box != nullptr || find_mailbox(in);
  }
  [[nodiscard]] std::uint32_t lane(Rank /*peer*/) const override { return 0; }
  [[nodiscard]] std::span<const std::byte> arrived(Rank peer) override;
  void consume(Rank peer, std::size_t bytes) override;
  [[nodiscard]] std::size_t receive(Rank peer, std::span<std::byte> to) override;
  [[nodiscard]] std::size_t arrived_from_each(std::span<const Rank> peers,
                                              std::span<const void*> data) override;
  void consume_from_each(std::span<const Rank> peers, std::size_t bytes) override;
  [[nodiscard]] bool send_each(const Shipment& shipment,
                               std::span<std::uint64_t> positions) override;
  [[nodiscard]] std::size_t receive_each(std::span<const Parcel> parcels, std::byte* to,
                                         bool if_put) override;
  [[nodiscard]] bool all_released(std::span<const Rank> peers) override;
  [[nodiscard]] std::size_t send(std::span<const Rank> peers,
                                 std::span<const std::byte> data) override;
  void expose(Rank peer, const Window& window) override;
  [[nodiscard]] std::uint64_t consumed(Rank peer) const override {
    return in_[peer.index()].consumed;
  }
  [[nodiscard]] bool find_windows(std::span<const Rank> peers, std::size_t bytes,
                                  std::size_t reading, std::vector<std::byte*>& windows) override;
  void put(std::span<const Rank> peers, std::size_t bytes) override;
  [[nodiscard]] std::byte* reserve(std::span<const Rank> peers,
                                   std::span<const std::byte> data) override;
  void commit(std::span<const Rank> peers, std::size_t bytes) override;
  [[nodiscard]] std::size_t most_enclosed() const override { return Note::most_enclosed; }
  [[nodiscard]] std::size_t least_lent() const override {
    return std::max(least_direct_, Note::most_enclosed + 1);
  }
  [[nodiscard]] bool shares(std::span<const std::byte> data) override;
  void abandon() override { set_writing(false); }
  [[nodiscard]] std::uint64_t released(Rank peer) override;
  [[nodiscard]] std::uint64_t sent(Rank peer) const override;
  void stand_down() override;
  [[nodiscard]] bool has_stood_down(Rank peer) const override {
    std::atomic_thread_fence(std::memory_order_acquire);
    const Retirement& owner = commons_.retirement(in_[peer.index()].place);
    return owner.stood_down.load(std::memory_order_relaxed) != 0;
  }
  [[nodiscard]] bool is_lending(const std::function<bool(Rank)>& is_gone) override;
  void revoke_windows() override;
  void interrupt() override;
  [[nodiscard]] bool stay_awake(std::uint32_t idle) override;
  void lie_down(WokenBy by) override;
  void get_up() override;
  void sleep(Clock::time_point deadline) override;

 private:
  /// The stream from a peer.
  struct Inbound {
    Mailbox* box = nullptr;           // Null until the peer has allocated it.
    std::uint32_t turn = 1;           // The open note, or the next one.
    std::uint32_t place = 0;          // The peer's place in the commons.
    const std::byte* data = nullptr;  // Data of the open note; null if none is open.
    std::size_t left = 0;             // Bytes of `data` not yet consumed.
    bool is_lent = false;             // `data` is in the peer's own memory.
    bool is_remote = false;           // `data` is a copy of the peer's private memory,
    std::size_t fetched = 0;          // of which so many bytes are not yet consumed,
    std::uint64_t next_fetch = 0;     // and the following ones are at this address there.
    std::vector<std::byte> copy{};
    std::uint64_t consumed = 0;
    Note::Exposure window{};  // The last one that the peer has exposed.
  };
  using Begins = std::array<std::uint64_t, Mailbox::capacity>;
  /// The stream to a peer.
  struct Outbound {
    Mailbox* box = nullptr;  // Null before the first send.
    std::uint32_t turn = 1;  // The next note.
    std::uint32_t done = 0;  // The last turn that the peer was seen to have finished.
    std::uint32_t place = 0;
    bool lends = false;           // The peer may be reading this rank's own memory,
    std::uint32_t last_lent = 0;  // until it has finished this turn.
    std::uint64_t sent = 0;
    std::unique_ptr<Begins> begins{};             // Stream positions at which the notes begin.
    Note::Exposure window{};                      // To be exposed with the next note.
    std::uint32_t exposed_call = 0;               // The last call that exposed windows,
    std::vector<std::span<std::byte>> exposed{};  // and their memory.
  };

  [[nodiscard]] bool find_mailbox(Inbound& in) const;
  [[nodiscard]] bool open(Rank peer, Inbound& in);
  void find_data(Rank peer, Inbound& in, const Note& note);
  void finish(Rank peer, Inbound& in, std::size_t bytes);
  [[noreturn]] static void refuse_call(Rank peer);
  void make_mailbox(Outbound& out);
  [[nodiscard]] std::size_t least_to_lend(std::span<const Rank> peers) const;
  [[nodiscard]] std::optional<SharedView::Published> publish(std::span<const std::byte> data,
                                                             std::size_t least);
  [[nodiscard]] std::byte* find_window(Rank peer, std::size_t bytes, std::size_t reading);
  void set_writing(bool is_writing);
  [[nodiscard]] bool may_read(Outbound& out);
  [[nodiscard]] bool may_write(const Outbound& out) const;
  [[nodiscard]] bool has_room(Outbound& out);
  [[nodiscard]] bool have_room(std::span<const Rank> peers);
  void prefetch_next_note(Rank peer) const;
  [[nodiscard]] std::size_t send_long(std::span<const Rank> peers, std::span<const std::byte> data);
  [[nodiscard]] Outbox::Slot* take_slot(std::span<const Rank> peers);
  void post_slot(Outbox::Slot& slot, std::span<const Rank> peers, std::size_t bytes);
  static void refresh(Outbound& out) { out.done = out.box->done.load(std::memory_order_acquire); }
  /// Throws if the peer has stood down: its memory may have changed while it was read.
  void require_unchanged(Rank peer) {
    if (has_stood_down(peer)) refuse_changed(peer);
  }
  [[noreturn]] void refuse_changed(Rank peer);
  void enclose(Rank peer, std::span<const std::byte> data);
  void lend(Rank peer, Note::Kind kind, std::uint64_t where, std::size_t bytes);
  [[nodiscard]] bool is_single_copy(std::span<const std::byte> data);
  static void open_remote(Inbound& in, const Note& note);
  void fetch(Inbound& in, std::span<std::byte> to);
  void fill_copy(Inbound& in);
  void note_exposed(Outbound& out, std::span<std::byte> memory) const;
  [[nodiscard]] std::optional<std::uint64_t> whole_place(std::span<const std::byte> bytes);
  [[nodiscard]] Outbox::Slot* stage(const Shipment& shipment);
  void post(Rank peer, Note::Kind kind, std::uint64_t where, std::size_t bytes);
  void post(Outbound& out, const Inbound& in, Note::Kind kind, std::uint64_t where,
            const Note::Exposure& window, std::size_t bytes);
  void wake(std::uint32_t place) {
    Bell& bell = commons_.bell(place);
    if (const std::uint32_t asleep = bell.asleep.load(std::memory_order_relaxed)) {
      wake_from(asleep, place);
    }
  }
  void wake_from(std::uint32_t asleep, std::uint32_t place);
  void ring_futex(Bell& bell);

  MemoryTransport& transport_;
  MemoryTransport::Remains remains_;
  Commons commons_;
  std::uint32_t self_ = 0;                   // This rank's place in the commons.
  std::vector<std::uint32_t> local_places_;  // Place in the commons → place among the local ranks.
  std::uint32_t sent_call_ = 0;
  std::uint32_t received_call_ = 0;
  SharedView* view_;
  Patience patience_;
  std::size_t least_direct_;
  bool allows_single_copy_ = false;
  std::span<const std::byte> fetchable_{};  // Data that can_be_fetched(), and was sent
  std::uint32_t fetchable_call_ = 0;        // in this call.
  Spread spread_;
  std::uint32_t begun_ = 0;           // Number of begin() calls.
  std::vector<Inbound> in_;           // By rank of the communicator.
  std::vector<Outbound> out_;         // By rank of the communicator.
  std::uint32_t free_mailboxes_ = 0;  // Mailboxes left in the last block.
  Outbox::Slot* reserved_ = nullptr;
  bool crowded_ = false;  // Another rank was last seen on the same core.
  std::uint32_t rung_before_ = 0;
  std::atomic<bool> is_interrupted_{false};
};

}  // namespace tutti
