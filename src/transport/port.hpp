#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <tutti/rank.hpp>

#include "core/clock.hpp"

namespace tutti {

class CallMemory;

/// One communicator's endpoint on a transport: an ordered byte stream to and from each peer. It
/// knows nothing of messages, collectives or algorithms. Both ends know from their plans how many
/// bytes each operation has. How bytes travel is the port's own business: inline in a descriptor,
/// through staging memory, read by the receiver where they are, or copied by the kernel.
///
/// Every piece of data carries the tag of its call. Bytes of a call that this rank is not in are
/// never returned.
///
/// For one thread at a time. Ports of different communicators may share connections and staging
/// memory, but data that one port does not receive never delays another port.
class Port {
 public:
  virtual ~Port() = default;

  /// How data may travel.
  struct Terms {
    /// Data of at least so many bytes that its receivers can see is read where it is. Copying
    /// shorter data takes less time than waiting for its readers.
    std::size_t zero_copy_from = 2048;
    /// Messages of at least so many bytes that the receivers cannot see are copied once, by the
    /// kernel, where the system permits that.
    std::size_t single_copy_from = ~std::size_t{0};
    /// The most bytes that are copied at a time before the receivers are told of them. They copy
    /// them while this rank copies the next ones.
    std::size_t staged_at_a_time = ~std::size_t{0};
    /// The buffers of the call that are ordinary memory and that peers can reach, or null.
    const CallMemory* memory = nullptr;
  };
  /// Begins a call: its tag and terms hold for all data that is posted and polled from now on.
  virtual void begin(std::uint32_t tag, const Terms& terms) = 0;

  // Sending ---------------------------------------------------------------------------------------

  /// A receive buffer into which the receiver of a send may write by itself, where the ranks share
  /// memory: it puts data there instead of sending it. Withdrawn when its bytes were consumed,
  /// whether the peer has put them there or not.
  struct Window {
    std::span<std::byte> memory{};
    /// Where its bytes are in the stream from the peer, counted from those not yet consumed.
    std::uint64_t at = 0;
    /// Byte x may be written once the peer has consumed byte x + `after` of the send that
    /// announces the window; none if it may be written at once.
    std::optional<std::int64_t> after{};
  };

  struct Send {
    /// All of one lane.
    std::span<const Rank> peers{};
    /// Not empty. Must not change until it is released.
    std::span<const std::byte> data{};
    /// The length of the whole message, of which `data` may be a slice.
    std::size_t message = 0;
    /// Null if the send announces no window. Requires: one peer.
    const Window* window = nullptr;
    /// The data is where prepare() said, and not at `data`.
    bool is_prepared = false;
  };
  struct Posted {
    std::size_t sends = 0;        ///< How many sends were taken whole,
    std::size_t bytes = 0;        ///< and how many bytes of the next one.
    bool is_outstanding = false;  ///< Some of them are still read from the caller's memory.
  };
  /// Sends in the given order, as much as there is room for. What is taken of a send is a multiple
  /// of 64 bytes, or all of it, so that no number is split. No peer is named twice.
  [[nodiscard]] virtual Posted post(std::span<const Send> sends) = 0;

  /// Where a caller that is about to compute the data of a send may write it, so that it need not
  /// be read again.
  enum class Copies : std::uint8_t {
    none,    ///< Nowhere: post the send when the data is there.
    staged,  ///< To staging memory, besides where the data belongs.
    put,     ///< To windows of the peers, one for each, besides where the data belongs.
  };
  /// Stores the addresses in `copies`. Unless there are none, a post() of the send must follow soon
  /// and without a wait in between: a peer that gives up waits for it. `reading`: the caller reads
  /// so many bytes of each peer before it overwrites them, and consumes them afterwards.
  /// `may_stage`: as it is not worth to stage a fragment.
  [[nodiscard]] virtual Copies prepare(const Send& send, std::size_t reading, bool may_stage,
                                       std::vector<std::byte*>& copies) = 0;

  /// How many of the bytes posted to `peer` are still read from the caller's memory.
  [[nodiscard]] virtual std::size_t unreleased(Rank peer) = 0;
  /// Copies data that was posted to `peer` but is not released, and sends the rest from the copy.
  /// Does nothing for data that the peer reads where it is.
  virtual void copy_unreleased(Rank peer) = 0;

  // Receiving -------------------------------------------------------------------------------------

  /// Where the next bytes from each peer are, and how many have arrived from all of them; 0 if
  /// nothing has arrived from one of them: then the addresses are not valid. The number is a
  /// multiple of 64, unless it completes what the peer posted. Valid until consume().
  ///
  /// With a single peer the port may also move the bytes to `into`, as many as fit; the address is
  /// then that of `into`, and consume() must follow. `next`: peers that are polled soon.
  ///
  /// Throws mismatch if the bytes belong to another call, and peer_lost if the peer is gone.
  [[nodiscard]] virtual std::size_t poll(std::span<const Rank> peers, std::span<std::byte> into,
                                         const void** data, std::span<const Rank> next) = 0;
  /// Releases the first bytes that poll() has found, of each peer.
  virtual void consume(std::span<const Rank> peers, std::size_t bytes) = 0;

  /// Whether data from a peer may arrive: if not, poll() would first open a connection. With
  /// `has_ended`, the peer's process has ended: whether what it has sent before may still come. If
  /// not, a poll finds all there is.
  [[nodiscard]] virtual bool may_arrive(Rank peer, bool has_ended) = 0;

  /// The lane of each rank. One send can go to several peers of a lane. Empty if all are in one.
  [[nodiscard]] const std::vector<std::uint32_t>& lanes() const { return lanes_; }

  // Failure ---------------------------------------------------------------------------------------

  /// Tells the ranks that share memory with this one that it no longer accesses their memory, and
  /// that its own memory may change. Callable from any thread.
  virtual void revoke() = 0;
  /// True if a peer has done so: what was read where it is may be invalid.
  [[nodiscard]] virtual bool has_revoked(Rank peer) const = 0;
  /// True if a peer that is neither gone nor has revoked may still read this rank's memory, or if
  /// any peer may still write to a window of it. Requires: this rank has revoked.
  [[nodiscard]] virtual bool is_exposed(const std::function<bool(Rank)>& is_gone) = 0;
  /// No peer accesses the caller's memory from now on: it may be freed. Nothing more can be sent or
  /// received. Requires: this rank has revoked.
  virtual void abandon() = 0;

  // Waiting ---------------------------------------------------------------------------------------

  /// Waits until something may have changed, or until the deadline: spins, then yields, then
  /// sleeps. `idle` is the number of calls since the last progress. Returns whether it slept.
  bool wait(std::uint32_t idle, Clock::time_point deadline) {
    return wait_until(idle, deadline, deadline);
  }
  /// The same, for callers whose patience is shorter than their deadline: waits until `until` at
  /// most, and gives up peers that cannot be reached by the deadline.
  bool wait_until(std::uint32_t idle, Clock::time_point until, Clock::time_point deadline);
  /// Notices data and connections that have come, for callers that poll instead of waiting.
  void notice_arrivals() { sleep(Clock::time_point::min()); }
  /// Has wait() call a function of the thread that waits, every few polls, which returns how long
  /// the thread may sleep before it is called again. Empty: none.
  void set_hook(std::function<Clock::duration()> hook) { hook_ = std::move(hook); }

  /// What to do after progress() has found nothing, or something, to do.
  enum class Outlook : std::uint8_t {
    moved,  ///< Poll again: there was something to do.
    soon,   ///< Poll again: it has spun, or yielded.
    later,  ///< It is time to sleep.
  };
  /// Makes progress without waiting. If there is none, spins or yields, unless `idle` is 0 or so
  /// many that it is time to sleep. Peers that are needed and not reached by the deadline fail.
  [[nodiscard]] virtual Outlook progress(std::uint32_t idle, Clock::time_point deadline) = 0;
  /// How a sleeping port is woken.
  enum class WokenBy : std::uint8_t {
    nobody,       ///< It does not sleep.
    itself,       ///< By its own sleep().
    descriptors,  ///< By another port, which polls descriptors, including this port's doorbell.
  };
  /// Announces that the port is about to sleep: later arrivals wake it. Poll once more after this
  /// call, to find earlier arrivals.
  virtual void arm(WokenBy by) = 0;
  /// Sleeps until there is news or until the deadline. With a deadline that has passed, only looks
  /// for news. Requires: armed, unless the deadline has passed.
  virtual void sleep(Clock::time_point deadline) = 0;
  /// Wakes another thread that sleeps in wait(), or shortens its next sleep.
  virtual void interrupt() = 0;

 protected:
  explicit Port(std::vector<std::uint32_t> lanes = {}) : lanes_(std::move(lanes)) {}

 private:
  std::vector<std::uint32_t> lanes_;
  std::function<Clock::duration()> hook_;
  bool is_armed_ = false;
};

}  // namespace tutti
