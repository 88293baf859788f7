#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include <tutti/rank.hpp>

#include "core/clock.hpp"

namespace tutti {

/// One communicator's endpoint on a transport: for each of its ranks an ordered stream of bytes
/// each way. It knows nothing of messages, collectives or algorithms; both ends know from their
/// plans how many bytes belong to what.
///
/// Every piece carries the tag of the call that it belongs to. Bytes of another call than this rank
/// is in are never handed out.
///
/// For one thread at a time. Ports of different communicators are independent: data that one of
/// them does not take delays no other, though they may share connections and staging memory.
class Port {
 public:
  virtual ~Port() = default;

  /// What is sent from now on belongs to one call, and what is received to another: the same, but
  /// where a rank sends to one peer and receives from another.
  virtual void begin(std::uint32_t sent, std::uint32_t received) = 0;

  /// From so many bytes on, data that its receivers can see is read where it stands.
  virtual void read_in_place_from(std::size_t /*bytes*/) {}

  /// The next bytes from `peer` that have arrived, to be read where they are: some of them, in one
  /// piece, a multiple of 64 bytes or all that was sent at once; empty if none have. Stays valid
  /// until consume(). Throws mismatch if they belong to another call, peer_lost if the peer is
  /// gone.
  [[nodiscard]] virtual std::span<const std::byte> arrived(Rank peer) = 0;

  /// Done with the first `bytes` of what arrived() showed.
  virtual void consume(Rank peer, std::size_t bytes) = 0;

  /// Moves the next bytes from `peer` to `to`, as many as have arrived and fit, and returns how
  /// many. The same as arrived(), copying and consume(), unless a transport can do better.
  [[nodiscard]] virtual std::size_t receive(Rank peer, std::span<std::byte> to);

  /// Posts a receive ahead: the next bytes from `peer` will be asked for by receive() into `to`,
  /// which stays valid until then. A transport may put them there as they arrive, whoever reads
  /// them off a shared connection, or let the network do so. A later call replaces an earlier one
  /// whose bytes have not begun to arrive; an empty span withdraws it.
  virtual void expect(Rank /*peer*/, std::span<std::byte> /*to*/) {}

  /// Sends the first bytes of `data` to all of `peers` and returns how many: none if there is no
  /// room just now. What is taken is a multiple of 64 bytes, or all of it, so that no element is
  /// torn between two pieces. The memory must stay as it is until released() says so. Requires:
  /// data is not empty, and all peers are in one lane.
  [[nodiscard]] virtual std::size_t send(std::span<const Rank> peers,
                                         std::span<const std::byte> data) = 0;

  /// Room for a copy of `data` on its way to all of `peers`, which the caller makes while it makes
  /// the data itself, and then calls commit(). Null if send() is as good or there is no room now.
  [[nodiscard]] virtual std::byte* reserve(std::span<const Rank> /*peers*/,
                                           std::span<const std::byte> /*data*/) {
    return nullptr;
  }
  /// Sends what was written into the room that reserve() gave last.
  virtual void commit(std::span<const Rank> /*peers*/, std::size_t /*bytes*/) {}

  /// Whether something can have come from a peer: if not, asking for it would first make a
  /// connection.
  [[nodiscard]] virtual bool is_reached(Rank peer) = 0;

  /// Peers in one lane can be sent to at once.
  [[nodiscard]] virtual std::uint32_t lane(Rank peer) const = 0;

  /// How many of the bytes ever sent to `peer` are no longer needed where they were.
  [[nodiscard]] virtual std::uint64_t released(Rank peer) = 0;
  /// How many bytes were ever sent to `peer`.
  [[nodiscard]] virtual std::uint64_t sent(Rank peer) const = 0;

  /// What was sent to a peer and not released goes on from a copy, as far as it can; what a peer
  /// reads where it stands cannot.
  virtual void copy_unreleased(Rank /*peer*/) {}

  /// After a call that failed: what was still to be sent no longer refers to the caller's memory,
  /// which may be gone, and nothing more can be sent or received.
  virtual void abandon() {}

  /// Tells those who share memory with this rank that it reads theirs no more, and that what they
  /// may still read of its own is no longer what it was. May be called by any thread.
  virtual void stand_down() {}
  /// Whether a peer has said so: then what was read in its memory may have been something else.
  [[nodiscard]] virtual bool has_stood_down(Rank /*peer*/) const { return false; }
  /// Whether somebody may still read this rank's memory where it stands: somebody who has neither
  /// stood down nor is gone.
  [[nodiscard]] virtual bool is_lending(const std::function<bool(Rank)>& /*is_gone*/) {
    return false;
  }

  /// Lets time pass until something may have changed, or until the deadline: spins, yields or
  /// sleeps. `idle` counts the calls since something last changed. Says whether it slept.
  bool wait(std::uint32_t idle, Clock::time_point deadline);
  /// Ends a wait() of another thread that sleeps, or makes its next sleep short.
  virtual void interrupt() = 0;

  // The stages of wait(), for a port that is made of several:

  /// What can be done without waiting. Whether anything was.
  [[nodiscard]] virtual bool goes_on(Clock::time_point /*deadline*/) { return false; }
  /// Spins or yields; false if it is time to sleep.
  [[nodiscard]] virtual bool stay_awake(std::uint32_t idle) = 0;
  /// By what a sleeping port is woken.
  enum class WokenBy : std::uint8_t {
    itself,       ///< It sleeps by sleep(), alone.
    descriptors,  ///< Another port sleeps on descriptors for it, a doorbell among them.
  };
  /// Says that it is going to sleep: what comes from now on wakes it, and what came before is
  /// found by looking once more.
  virtual void lie_down(WokenBy by) = 0;
  virtual void get_up() {}
  /// Sleeps until something is new, or until the deadline. Requires: it lies down.
  virtual void sleep(Clock::time_point deadline) = 0;

 private:
  bool is_lying_ = false;
};

}  // namespace tutti
