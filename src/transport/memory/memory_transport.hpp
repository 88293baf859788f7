#pragma once

#include <array>
#include <vector>

#include "transport/memory/commons.hpp"
#include "transport/memory/shared_view.hpp"
#include "transport/memory/spread.hpp"
#include "transport/patience.hpp"
#include "transport/transport.hpp"

namespace tutti {

/// Bytes between ranks that share memory: threads of a process, or processes of a host.
///
/// Up to 48 bytes travel in the note itself, one cache line. Longer data is read where it stands if
/// the receiver sees it, and else copied into the sender's outbox, once for all its receivers. So
/// is what is short: then the sender need not wait until it is read.
///
/// A slot of the outbox is always left for every peer that has none. Otherwise data for peers that
/// cannot yet take it could keep back data that others wait for, and all would wait in a circle.
class MemoryTransport final : public Transport {
 public:
  /// Shorter data is copied sooner than its reader has answered.
  static constexpr std::size_t usual_least_direct = 2048;

  /// `view` may be null: then nothing is read directly. Both must outlive the transport.
  MemoryTransport(const Commons& commons, Rank self, SharedView* view, Patience patience,
                  std::size_t least_direct = usual_least_direct);

  /// What ranks are called in errors, where they have other numbers here than for the caller.
  void set_names(std::vector<Rank> names) { names_ = std::move(names); }

  void begin(std::uint32_t sent, std::uint32_t received) override {
    sent_call_ = sent;
    received_call_ = received;
    // To ask where it is takes a while; who waits asks anyway.
    if (++begun_ % 64 == 0) spread_.show();
  }
  void read_in_place_from(std::size_t bytes) override { least_direct_ = bytes; }
  [[nodiscard]] std::uint32_t lane(Rank /*peer*/) const override { return 0; }
  [[nodiscard]] std::span<const std::byte> arrived(Rank peer) override;
  void consume(Rank peer, std::size_t bytes) override;
  [[nodiscard]] std::size_t send(std::span<const Rank> peers,
                                 std::span<const std::byte> data) override;
  [[nodiscard]] std::byte* reserve(std::span<const Rank> peers,
                                   std::span<const std::byte> data) override;
  void commit(std::span<const Rank> peers, std::size_t bytes) override;
  [[nodiscard]] std::uint64_t released(Rank peer) override;
  [[nodiscard]] std::uint64_t sent(Rank peer) const override;
  void stand_down() override;
  [[nodiscard]] bool is_lending(const std::function<bool(Rank)>& is_gone) override;
  bool wait(std::uint32_t idle, Clock::time_point deadline) override;

 private:
  /// What comes from a peer.
  struct Inbound {
    Mailbox* box = nullptr;
    std::uint32_t turn = 1;           // The note that is open, or comes next.
    const std::byte* data = nullptr;  // Of the open note; null if none is.
    std::size_t left = 0;             // Bytes of it not yet consumed.
    bool is_lent = false;             // It stands in the peer's own memory.
  };
  /// What goes to a peer.
  struct Outbound {
    Mailbox* box = nullptr;
    std::uint32_t turn = 1;  // Of the next note.
    std::uint32_t done = 0;  // What the peer was last seen to be done with.
    std::uint64_t sent = 0;
    std::array<std::uint64_t, Mailbox::capacity> begins{};  // Where notes begin in the stream.
    bool lends = false;           // The peer reads in this rank's own memory,
    std::uint32_t last_lent = 0;  // up to this turn.
  };
  /// A piece of the outbox, and who has still to read it.
  struct Slot {
    struct Reader {
      std::uint32_t peer;
      std::uint32_t turn;
    };
    std::vector<Reader> readers;
    std::uint32_t customer = 0;
  };

  [[nodiscard]] std::optional<SharedView::Published> publish(std::span<const std::byte> data);
  [[nodiscard]] bool has_room(Outbound& out);
  [[nodiscard]] bool have_room(std::span<const Rank> peers);
  [[nodiscard]] Slot* take_slot(std::span<const Rank> peers);
  [[nodiscard]] std::uint64_t offset(const Slot& slot) const;
  void post_slot(Slot& slot, std::span<const Rank> peers, std::size_t bytes);
  void refresh(Outbound& out);
  [[nodiscard]] Slot* take_slot(std::uint32_t customer);
  void reclaim_slots();
  [[nodiscard]] bool is_read(Slot& slot);
  void require_unchanged(std::uint32_t peer) const;
  [[nodiscard]] std::string name(std::uint32_t peer) const;
  void enclose(std::uint32_t peer, std::span<const std::byte> data);
  void post(std::uint32_t peer, Note::Kind kind, std::uint64_t where, std::size_t bytes);
  void wake(std::uint32_t rank);
  void sleep(Clock::time_point deadline);

  Commons commons_;
  std::uint32_t self_;
  std::vector<Rank> names_;  // Empty if numbers are.
  std::uint32_t sent_call_ = 0;
  std::uint32_t received_call_ = 0;
  SharedView* view_;
  Patience patience_;
  std::size_t least_direct_;
  Spread spread_;
  std::uint32_t begun_ = 0;  // How many calls.
  std::vector<Inbound> in_;
  std::vector<Outbound> out_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> busy_slots_;
  // How many slots each customer has: data for one peer, or (in the own place) for several at once.
  std::vector<std::uint32_t> held_slots_;
  std::uint32_t without_slot_;  // Customers that have none.
  Slot* reserved_ = nullptr;
  bool crowded_ = false;  // Another rank was last seen on the same core.
  bool about_to_sleep_ = false;
  std::uint32_t rung_before_ = 0;
};

}  // namespace tutti
