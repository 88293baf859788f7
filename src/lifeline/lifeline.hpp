#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lifeline/control_message.hpp"
#include "lifeline/control_transport.hpp"
#include "lifeline/group_state.hpp"
#include "lifeline/participant.hpp"

namespace tutti {

/// The control plane of one member: its connections, apart from the data, to all members that were
/// started together with it. Over them members notice failures and agree on them.
///
/// All communicators of a fabric share one lifeline. It owns the GroupState of each of them, the
/// one lock for all of this, and the clock: the transport's thread delivers events, and
/// communicators reach their state through lock().
class Lifeline {
 public:
  using Clock = GroupState::Clock;

  /// One communicator's state. Holds the lifeline's lock as long as it lives.
  class Locked {
   public:
    Locked(std::unique_lock<std::mutex> lock, std::condition_variable& changed, GroupState& state)
        : lock_(std::move(lock)), changed_(changed), state_(state) {}

    [[nodiscard]] GroupState* operator->() { return &state_; }
    /// Waits, unlocked, until `is_so` holds or `time` has passed; returns is_so(). Events of the
    /// transport wake it.
    template <class Predicate>
    bool wait_for(Clock::duration time, Predicate&& is_so) {
      return changed_.wait_for(lock_, time, is_so);
    }

   private:
    std::unique_lock<std::mutex> lock_;
    std::condition_variable& changed_;
    GroupState& state_;
  };

  /// `whereabouts` says for people where each member runs.
  Lifeline(std::uint32_t self, std::vector<std::string> whereabouts);
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  /// Sets how messages are carried. Called before open().
  void attach(std::unique_ptr<ControlTransport> transport);

  // Events, from the transport's thread:
  void receive(std::uint32_t from, const std::string& bytes);
  void lose(std::uint32_t member, const std::string& why);
  /// A member has ended in order, and this is the farewell() of its lifeline.
  void receive_farewell(std::uint32_t from, const std::string& text);
  /// True if it wants to be called again soon.
  bool tick();

  /// Adds a communicator, and delivers what has already arrived for it. Throws internal if there is
  /// one with the same number.
  void open(const GroupState::Config& config, std::atomic<bool>& alarm, Participant& participant);
  /// Tells the others that this rank has left, if it has not said so before, and forgets the
  /// communicator.
  void close(std::uint64_t communicator);
  /// This member will not make a communicator that these members may have made.
  void decline(std::uint64_t communicator, std::span<const std::uint32_t> members);
  /// Requires: the communicator is open.
  [[nodiscard]] Locked lock(std::uint64_t communicator);

  /// What this member has told about the communicators that it has closed. A member that ends tells
  /// it to all: those that were not told before could not ask any more.
  [[nodiscard]] std::string farewell();

  /// True if a member is gone for good.
  [[nodiscard]] bool is_lost(std::uint32_t member);
  /// True if a communicator has this member and does not know that it has left or is gone.
  [[nodiscard]] bool expects(std::uint32_t member);

 private:
  /// Messages may arrive before the communicator that they are for is made here. At most so many
  /// are kept.
  static constexpr std::size_t most_early = 1024;
  /// The last communicators that were closed, so that a rank that asks learns that this one left.
  static constexpr std::size_t most_closed = 4096;
  struct Early {
    std::uint32_t from;
    ControlMessage message;
  };

  void note_closed(std::uint64_t communicator, LeaveOfAll told);
  void apply(GroupState& group, std::uint64_t communicator, std::uint32_t from,
             const Farewell& farewell) const;

  std::uint32_t self_;
  std::vector<std::string> whereabouts_;
  std::mutex mutex_;  // For all that follows.
  std::condition_variable changed_;
  std::map<std::uint64_t, GroupState> groups_;   // By communicator.
  std::map<std::uint32_t, std::string> lost_;    // Members, and how that was noticed.
  std::map<std::uint32_t, Farewell> farewells_;  // Of members that have ended in order.
  std::deque<Early> early_;
  Farewell closed_;
  std::deque<std::uint64_t> closed_in_order_;
  std::unique_ptr<ControlTransport> transport_;  // Destroyed first: its thread calls this.
};

}  // namespace tutti
