#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lifeline/lifeline.hpp"

namespace tutti {

/// A communicator's handle to its state in the lifeline. Its ranks use it to agree on why the
/// communicator failed (the verdict, the same for all ranks) and then on which ranks go on. The
/// protocol is Paxos-style; see Agreement.
///
/// Any thread may call it. Ranks are the communicator's.
class Consensus {
 public:
  using Clock = Lifeline::Clock;
  using Config = GroupState::Config;

  /// Sets `alarm` when a call that waits should look: there is a verdict, or a rank has left. Alarm
  /// and participant must outlive this.
  Consensus(std::shared_ptr<Lifeline> lifeline, const Config& config, std::atomic<bool>& alarm,
            Participant& participant);
  /// Tells the others that this rank has left, if it has not said so before.
  ~Consensus();
  Consensus(const Consensus&) = delete;
  Consensus& operator=(const Consensus&) = delete;

  [[nodiscard]] std::optional<AgreedVerdict> verdict() const;
  /// Ranks that have closed the communicator, and after how many calls.
  [[nodiscard]] std::map<std::uint32_t, std::uint64_t> left() const;
  /// As in GroupState.
  [[nodiscard]] std::optional<std::uint64_t> messages_of_leaver(std::uint32_t rank) const;
  /// True if a rank is gone, has left, or did not reply when the verdict was agreed on.
  [[nodiscard]] bool is_gone(std::uint32_t rank) const;

  /// Reports a failure. A verdict follows soon.
  void report(const Report& report);
  /// True if there is a verdict, or soon was: waits for it if the ranks are agreeing on one.
  [[nodiscard]] bool has_failed();
  /// Waits for the verdict until all others know it too, so that this process may end at once. If
  /// the ranks reach none in time, returns this rank's own report as the verdict.
  [[nodiscard]] AgreedVerdict await_verdict();

  /// This rank waits for these ranks: makes sure that it learns if one of them leaves or is lost.
  void inquire(std::span<const std::uint32_t> ranks);
  /// Tells the others which call of this number this rank is in: those that it has inquired about,
  /// and those that it watches. If theirs differs, a verdict follows.
  void compare(std::uint64_t call);

  /// As in GroupState.
  void stop_after(std::uint64_t call);
  /// The same; and once there is a verdict, makes sure that this rank learns if one of the ranks
  /// stops.
  [[nodiscard]] GroupState::Prospects prospects(std::uint64_t call,
                                                std::span<const std::uint32_t> awaited);

  /// This rank has made so many calls, and sent so many messages to each rank. It will make no
  /// more.
  void leave(std::uint64_t calls, const std::map<std::uint32_t, std::uint64_t>& messages = {});
  /// This rank failed to make a communicator with these members of the lifeline. Members that have
  /// it are told not to wait for this rank there.
  void decline(std::uint64_t communicator, std::span<const std::uint32_t> members);

  /// Returns the inputs of ranks to the next question: the same for all ranks that get it. Ranks
  /// that are gone, have left or do not answer in time are not among them; this rank may be one of
  /// these. Ranks that were late for the verdict get less time. All ranks ask the same questions,
  /// of the same ranks, in the same order. Throws timed_out.
  [[nodiscard]] std::map<std::uint32_t, std::string> agree(const std::string& input);
  [[nodiscard]] std::map<std::uint32_t, std::string> agree(const std::string& input,
                                                           std::span<const std::uint32_t> among);

  /// The number of questions so far.
  [[nodiscard]] std::uint32_t questions() const;
  /// True if another rank has already asked the question that this one will ask next.
  [[nodiscard]] bool is_next_asked() const;

  /// An allgather among `ranks`: returns their contributions, which may hold any bytes, in the
  /// order of `ranks`. Throws peer_lost if one of them is gone, timed_out after Config::patience.
  [[nodiscard]] std::vector<std::string> exchange(std::span<const std::uint32_t> ranks,
                                                  std::uint32_t round,
                                                  const std::string& contribution);

 private:
  [[nodiscard]] Lifeline::Locked state() const { return lifeline_->lock(communicator_); }

  std::shared_ptr<Lifeline> lifeline_;
  std::uint64_t communicator_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  Clock::duration patience_;
};

}  // namespace tutti
