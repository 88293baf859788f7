#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <tutti/rank.hpp>

#include "core/clock.hpp"

namespace tutti {

/// One communicator's endpoint on a transport: an ordered byte stream to and from each peer. It
/// knows nothing of messages, collectives or algorithms. Both ends know from their plans how many
/// bytes each operation has.
///
/// Every piece of data carries the tag of its call. Bytes of a call that this rank is not in are
/// never returned.
///
/// For one thread at a time. Ports of different communicators may share connections and staging
/// memory, but data that one port does not receive never delays another port.
class Port {
 public:
  virtual ~Port() = default;

  /// Sets the call tags of all data sent and received from now on. They differ only where a rank
  /// sends to one peer and receives from another.
  virtual void begin(std::uint32_t sent, std::uint32_t received) = 0;

  /// Data of at least `bytes` that the receivers can see is read in place, without staging.
  virtual void read_in_place_from(std::size_t /*bytes*/) {}
  /// Whether data that is sent from now on and that the receivers cannot see is copied once, by the
  /// kernel, where the system permits that; but not if it is too short to be read in place.
  virtual void allow_single_copy(bool /*is_allowed*/) {}

  /// The next contiguous bytes that have arrived from `peer`; empty if there are none. Their number
  /// is a multiple of 64, unless they complete what one send() took. Valid until consume(). Throws
  /// mismatch if they belong to another call, and peer_lost if the peer is gone.
  [[nodiscard]] virtual std::span<const std::byte> arrived(Rank peer) = 0;

  /// Releases the first `bytes` that arrived() returned.
  virtual void consume(Rank peer, std::size_t bytes) = 0;

  /// arrived() for several peers: where the data of each is, and how many bytes have arrived from
  /// all of them. 0 if nothing has from one of them; then the addresses are not valid.
  [[nodiscard]] virtual std::size_t arrived_from_each(std::span<const Rank> peers,
                                                      std::span<const void*> data);
  /// consume() for several peers.
  virtual void consume_from_each(std::span<const Rank> peers, std::size_t bytes);

  /// Moves bytes from `peer` into `to`, as many as have arrived and fit, and returns the number.
  /// The default calls arrived(), copies and calls consume(); a transport may do better.
  [[nodiscard]] virtual std::size_t receive(Rank peer, std::span<std::byte> to);

  /// Posts a receive buffer: a later receive() will read the next bytes from `peer` into `to`,
  /// which must stay valid until then. The transport may write bytes there as they arrive, from any
  /// thread that reads a shared connection or from the network. A later call replaces the buffer if
  /// no byte has arrived in it; an empty span withdraws it.
  virtual void expect(Rank /*peer*/, std::span<std::byte> /*to*/) {}

  /// A receive buffer into which the sender may write by itself, where the ranks share memory. The
  /// receiver exposes it; the sender puts data there instead of sending it.
  struct Window {
    std::span<std::byte> memory{};
    /// Where its bytes are in the stream from the peer, counted from the opening of the port.
    std::uint64_t at = 0;
    /// Byte x may be written once the peer has consumed byte `after` + x of the stream to it; none
    /// if it may be written at once.
    std::optional<std::uint64_t> after{};
  };
  /// Exposes a window to a peer. The next send() to the peer says so. Valid until receive() has
  /// received its bytes, whether the peer has put them there or not.
  virtual void expose(Rank /*peer*/, const Window& /*window*/) {}
  /// How many bytes of the stream from `peer` have been consumed since the port was opened.
  [[nodiscard]] virtual std::uint64_t consumed(Rank /*peer*/) const { return 0; }
  /// Where to write the next `bytes` of the streams to `peers`, an address for each, so that put()
  /// can be called instead of send(). False if one of them has exposed no window for them, or not
  /// yet. `reading`: the caller reads so many bytes of each peer before it overwrites them, and
  /// consumes them afterwards. If true, put() must follow soon, without a
  /// wait in between: a peer that gives up waits for it.
  [[nodiscard]] virtual bool find_windows(std::span<const Rank> /*peers*/, std::size_t /*bytes*/,
                                          std::size_t /*reading*/,
                                          std::vector<std::byte*>& /*windows*/) {
    return false;
  }
  /// Tells the peers that the bytes are in their windows.
  virtual void put(std::span<const Rank> /*peers*/, std::size_t /*bytes*/) {}

  /// Sends the first bytes of `data` to all of `peers` and returns their number; zero if there is
  /// no room now. The number is a multiple of 64, or all of `data`, so that no element is split.
  /// The memory must not change until released() covers it. Requires: `data` is not empty, and all
  /// peers are in one lane.
  [[nodiscard]] virtual std::size_t send(std::span<const Rank> peers,
                                         std::span<const std::byte> data) = 0;

  /// Short data to or from one of several peers, each of which has its own part of one buffer.
  struct Parcel {
    Rank peer{0};
    std::uint32_t bytes = 0;
    std::size_t offset = 0;  ///< In the buffer.
    /// A send: the window that it exposes, as in Window. No window if `window_bytes` is 0.
    std::uint32_t window_bytes = 0;
    std::size_t window_offset = 0;  ///< In the buffer of all windows.
    std::size_t before = 0;         ///< Bytes that are received from the peer before the window's.
    std::optional<std::int64_t> shift{};  ///< Window::after, counted from the begin of this send.
    std::uint32_t index = 0;              ///< Where send_each() stores the position of the send.
  };
  /// The sends that are made together.
  struct Shipment {
    std::span<const Parcel> parcels{};
    std::span<const std::byte> data{};  ///< The part of the buffer that has all parcels.
    std::span<std::byte> windows{};     ///< The same for windows; empty if there are none.
    std::size_t shortest = 0;           ///< Bytes of a parcel.
    std::size_t longest = 0;
  };
  /// Sends all parcels in full and stores the position in the stream to each peer before that.
  /// False if the port cannot do so now; then nothing was sent: use expose() and send().
  [[nodiscard]] virtual bool send_each(const Shipment& /*shipment*/,
                                       std::span<std::uint64_t> /*positions*/) {
    return false;
  }
  /// Receives parcels in their order, as long as all bytes of the next one have arrived, and
  /// returns their number; fewer if the port cannot do so. Offsets are from `to`. With
  /// `if_put`, only data that the peers have put into windows.
  [[nodiscard]] virtual std::size_t receive_each(std::span<const Parcel> /*parcels*/,
                                                 std::byte* /*to*/, bool /*if_put*/) {
    return 0;
  }

  /// Staging memory for a copy of `data` to all of `peers`. The caller writes the copy while it
  /// computes the data, and then calls commit(). Null if send() is as good, or if there is no room.
  [[nodiscard]] virtual std::byte* reserve(std::span<const Rank> /*peers*/,
                                           std::span<const std::byte> /*data*/) {
    return nullptr;
  }
  /// Sends the first `bytes` of the memory that the last reserve() returned.
  virtual void commit(std::span<const Rank> /*peers*/, std::size_t /*bytes*/) {}

  /// True if data may have arrived from `peer`. If false, arrived() would first open a connection.
  [[nodiscard]] virtual bool is_reached(Rank peer) = 0;

  /// True if data that a peer sent before its process ended may still arrive. If false, a poll
  /// finds all there is.
  [[nodiscard]] virtual bool may_deliver(Rank /*peer*/) { return false; }

  /// The lane of a peer. One send() can go to several peers of the same lane.
  [[nodiscard]] virtual std::uint32_t lane(Rank peer) const = 0;

  /// Data of at most so many bytes arrives as a whole, or is not sent; and it is released as soon
  /// as it is sent.
  [[nodiscard]] virtual std::size_t most_enclosed() const { return 0; }
  /// Data shorter than this is released as soon as it is sent.
  [[nodiscard]] virtual std::size_t least_lent() const { return 0; }
  /// True if peers can read this data in place, and at once, since all ranks have cores of their
  /// own.
  [[nodiscard]] virtual bool shares(std::span<const std::byte> /*data*/) { return false; }
  /// How many of the bytes sent to `peer` are no longer read from the caller's memory.
  [[nodiscard]] virtual std::uint64_t released(Rank peer) = 0;
  /// True if everything that was sent to these peers is released.
  [[nodiscard]] virtual bool all_released(std::span<const Rank> peers);
  /// Total bytes sent to `peer`.
  [[nodiscard]] virtual std::uint64_t sent(Rank peer) const = 0;

  /// Copies data that was sent to `peer` but not released, and sends the rest from the copy. Not
  /// possible for data that the peer reads in place.
  virtual void copy_unreleased(Rank /*peer*/) {}

  /// Called after a failed call: pending sends no longer refer to the caller's memory, which may be
  /// freed. Nothing more can be sent or received.
  virtual void abandon() {}

  /// Tells the ranks that share memory with this one that it no longer accesses their memory, and
  /// that its own memory may change. Callable from any thread.
  virtual void stand_down() {}
  /// True if a peer has stood down: data read in place from its memory may be invalid.
  [[nodiscard]] virtual bool has_stood_down(Rank /*peer*/) const { return false; }
  /// True if a peer that is neither gone nor stood down may still read this rank's memory in place,
  /// or if a peer may still write to a window of this rank. Requires: this rank has stood down.
  [[nodiscard]] virtual bool is_lending(const std::function<bool(Rank)>& /*is_gone*/) {
    return false;
  }
  /// Revokes the windows to which a peer may still write: its writes have no effect from now on.
  /// Requires: this rank has stood down.
  virtual void revoke_windows() {}

  /// Waits until something may have changed, or until the deadline: spins, then yields, then
  /// sleeps. `idle` is the number of calls since the last progress. Returns whether it slept.
  bool wait(std::uint32_t idle, Clock::time_point deadline) {
    return wait_until(idle, deadline, deadline);
  }
  /// The same, for callers whose patience is shorter than their deadline: waits until `until` at
  /// most, and gives up peers that cannot be reached by the deadline.
  bool wait_until(std::uint32_t idle, Clock::time_point until, Clock::time_point deadline);
  /// Notices data and connections that have come, for callers that poll instead of calling wait().
  virtual void look() {}
  /// Wakes another thread that sleeps in wait(), or shortens its next sleep.
  virtual void interrupt() = 0;

  // The stages of wait(), for a port that combines several ports:

  /// Makes progress without waiting. Returns whether there was any. Peers that are needed and not
  /// reached by the deadline fail.
  [[nodiscard]] virtual bool goes_on(Clock::time_point /*deadline*/) { return false; }
  /// Spins or yields; false if it is time to sleep.
  [[nodiscard]] virtual bool stay_awake(std::uint32_t idle) = 0;
  /// How a sleeping port is woken.
  enum class WokenBy : std::uint8_t {
    itself,       ///< By its own sleep().
    descriptors,  ///< By another port, which polls descriptors, including this port's doorbell.
  };
  /// Announces that the port is about to sleep: later arrivals wake it. Poll once more after this
  /// call, to find earlier arrivals.
  virtual void lie_down(WokenBy by) = 0;
  virtual void get_up() {}
  /// Sleeps until there is news or until the deadline. Requires: lie_down() was called.
  virtual void sleep(Clock::time_point deadline) = 0;

 private:
  bool is_lying_ = false;
};

}  // namespace tutti
