#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lifeline/agreement.hpp"
#include "lifeline/control_message.hpp"
#include "lifeline/control_transport.hpp"
#include "lifeline/failure_inquiry.hpp"
#include "lifeline/leave.hpp"
#include "lifeline/participant.hpp"

namespace tutti {

/// What one rank knows about the other ranks of one communicator, and what it agrees on with them:
/// which ranks are gone, why the communicator failed (the verdict, the same for all ranks), and
/// which ranks go on.
///
/// A state machine without lock, thread or clock: every function returns at once. The Lifeline owns
/// it and calls it with its lock held; Consensus is the communicator's handle to it. Ranks are the
/// communicator's, members are the lifeline's.
class GroupState {
 public:
  using Clock = Agreement::Clock;

  struct Config {
    std::uint64_t communicator = 0;        ///< Its number: the same on all its ranks.
    std::uint32_t self = 0;                ///< This rank.
    std::vector<std::uint32_t> members{};  ///< By rank: its member of the lifeline.
    Clock::duration patience{};            ///< How long agree() and exchange() wait for a rank.
  };
  /// What this state machine calls.
  struct Environment {
    std::function<void(std::uint32_t member, const ControlMessage&, Delivery)> send;
    std::function<void()> request_ticks;
    std::span<const std::string> whereabouts{};  ///< By member: "host, process 17". Outlives this.
  };

  /// Sets `alarm` when a call that waits should look: there is a verdict, or a rank has left. Alarm
  /// and participant must outlive this.
  GroupState(Config config, Environment environment, std::atomic<bool>& alarm,
             Participant& participant);
  GroupState(const GroupState&) = delete;
  GroupState& operator=(const GroupState&) = delete;

  // Events from the transport:
  void receive(std::uint32_t member, const ControlMessage& message, Clock::time_point now);
  void lose(std::uint32_t member, const std::string& why, Clock::time_point now);
  /// True if it wants to be called again soon.
  [[nodiscard]] bool tick(Clock::time_point now);

  // The verdict:
  void report(Report report, Clock::time_point now);
  [[nodiscard]] const std::optional<AgreedVerdict>& verdict() const { return verdict_; }
  /// True if a rank has reported a failure and the verdict is not here yet.
  [[nodiscard]] bool expects_verdict() const {
    return !verdict_ && agreements_.contains(verdict_question);
  }
  /// True if there is a verdict that survives the end of this process.
  [[nodiscard]] bool is_verdict_confirmed(Clock::time_point now) const;
  /// The verdict; without one, this rank's own report becomes the verdict here.
  [[nodiscard]] const AgreedVerdict& settle();
  /// Sends the status of this rank in call `call` to all ranks to which it is connected.
  void compare(std::uint64_t call);

  // Ranks that leave:
  /// This rank has made so many calls, and sent so many messages to each rank; to those that are
  /// not in the map, none.
  void leave(std::uint64_t calls, const std::map<std::uint32_t, std::uint64_t>& messages = {});
  /// What leave() has told. Requires: it has left.
  [[nodiscard]] LeaveOfAll told_at_leaving() const;
  /// Connects to a few of these ranks, unless it is connected: their end will be noticed, and they
  /// reply if they have left.
  void inquire(std::span<const std::uint32_t> ranks);
  [[nodiscard]] const std::map<std::uint32_t, std::uint64_t>& left() const { return left_; }
  /// How many messages a rank that has left has sent to this one; none if it has not left.
  [[nodiscard]] std::optional<std::uint64_t> messages_of_leaver(std::uint32_t rank) const;
  /// True if the rank is gone, has left, or did not reply when the verdict was agreed on.
  [[nodiscard]] bool is_gone(std::uint32_t rank) const;
  /// True if this member has a rank here, which is neither gone nor has left.
  [[nodiscard]] bool expects(std::uint32_t member) const;

  // Calls that are running while there is a verdict:
  /// This rank takes part in no call after this one: tells all ranks to which it is connected. Only
  /// the first time counts.
  void stop_after(std::uint64_t call);
  /// What a running call can expect of the ranks that it waits for.
  struct Prospects {
    std::optional<std::uint32_t> leaver{};  ///< A rank that left before this call.
    bool is_hopeless = false;               ///< One of them takes no part in this call.
    /// Those whose process has ended, as far as is known. What they have sent may still arrive.
    std::vector<std::uint32_t> ended{};
  };
  [[nodiscard]] Prospects prospects(std::uint64_t call,
                                    std::span<const std::uint32_t> awaited) const;

  // Questions to be agreed on:
  /// Submits this rank's input to the next question and returns the number of the question.
  [[nodiscard]] std::uint32_t ask(const std::string& input, std::span<const std::uint32_t> among,
                                  Clock::time_point now);
  /// The decision is a JSON object: the input of each rank that took part, by rank.
  [[nodiscard]] const std::optional<std::string>& decision(std::uint32_t question) const {
    return agreements_.at(question).decision();
  }
  [[nodiscard]] std::uint32_t questions() const { return questions_; }
  /// True if another rank has already asked the question that this one will ask next.
  [[nodiscard]] bool is_next_asked() const { return agreements_.contains(questions_ + 1); }

  // Exchanges: the first of `ranks` collects the contributions and sends all of them to all.
  /// Rounds are numbered upwards: an earlier one that is not complete is given up.
  void contribute(std::span<const std::uint32_t> ranks, std::uint32_t round,
                  const std::string& contribution);
  /// All contributions, packed in the order of `ranks`, once they are here. Returned once.
  [[nodiscard]] std::optional<std::string> exchanged(std::span<const std::uint32_t> ranks,
                                                     std::uint32_t round);
  /// True if one of these ranks is gone or has left.
  [[nodiscard]] bool lacks_any(std::span<const std::uint32_t> ranks) const;

 private:
  static constexpr std::uint32_t verdict_question = 0;  // The others are numbered by ask().

  struct Round {
    std::map<std::uint32_t, std::string> contributions{};  // By rank; at the first rank only.
    std::optional<std::string> result{};
  };

  [[nodiscard]] std::uint32_t size() const {
    return static_cast<std::uint32_t>(config_.members.size());
  }
  [[nodiscard]] std::optional<std::uint32_t> rank_of(std::uint32_t member) const;
  [[nodiscard]] Agreement& agreement(std::uint32_t question, Clock::time_point now);
  [[nodiscard]] std::optional<std::string> decide_verdict(const Agreement::Evidence&) const;
  [[nodiscard]] static std::optional<std::string> collect_inputs(const Agreement::Evidence&);
  [[nodiscard]] std::string describe_for_verdict(const std::string& subject);
  [[nodiscard]] static std::uint64_t done_by_all(const Agreement::Evidence&);
  [[nodiscard]] std::map<std::uint32_t, std::uint64_t> left_by_all(
      const Agreement::Evidence&) const;
  void suspect_late_ranks(Agreement& agreement) const;
  void note_absence(std::uint32_t rank, Clock::time_point now);
  void look_for_verdict();
  void adopt(const AgreedVerdict& verdict);
  /// Requires nothing of message.communicator.
  void send(std::uint32_t rank, ControlMessage message, Delivery delivery);
  void send_leave(std::uint32_t rank, Delivery delivery = Delivery::if_connected);
  void send_stopped(std::uint32_t rank);
  void compare_with(std::uint32_t rank, const RankStatus& other, Clock::time_point now);
  void share_status(Clock::time_point now);
  void end_rounds_before(std::uint32_t round);

  Config config_;
  Environment environment_;
  std::atomic<bool>& alarm_;
  Participant& participant_;
  std::optional<AgreedVerdict> verdict_;
  std::optional<Report> own_report_;
  std::map<std::uint32_t, std::string> gone_;    // Lost ranks, and how that was noticed.
  std::map<std::uint32_t, std::uint64_t> left_;  // Ranks that left, and after how many calls.
  std::map<std::uint32_t, std::uint64_t> messages_of_left_;  // What they have sent to this rank.
  std::map<std::uint32_t, RankStatus> seen_;        // The last status message of each rank.
  std::map<std::uint32_t, std::uint64_t> stopped_;  // Ranks that make no more calls: the last one.
  std::optional<std::uint64_t> calls_at_leaving_;
  std::map<std::uint32_t, std::uint64_t> messages_at_leaving_;  // Sent to other ranks.
  std::optional<std::uint64_t> stopped_after_;
  std::set<std::uint32_t> inquired_;               // Ranks that inquire() has connected to.
  std::map<std::uint32_t, Agreement> agreements_;  // By question.
  std::uint32_t questions_ = 0;
  std::map<std::uint32_t, Round> rounds_;
  std::uint32_t first_round_ = 0;  // Earlier ones have ended.
  Clock::time_point status_sent_at_{};
  std::uint64_t status_sent_call_ = 0;
};

}  // namespace tutti
