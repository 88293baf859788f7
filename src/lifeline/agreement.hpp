#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lifeline/control_message.hpp"

namespace tutti {

/// One question that the members of a group answer together, so that all who go on have the same
/// answer, whoever falls silent meanwhile.
///
/// The lowest member that is still there takes the chair. It asks the others what they know and,
/// once all have spoken, decides. If it falls silent, the next takes the chair; whoever has heard a
/// decision tells it when asked, and whoever was asked by a later chair no longer believes an
/// earlier one. So a decision that anybody has acted on is the only one that can follow.
///
/// A member that has an input and gets no reply from the chair asks the other members whether they
/// are there. A member that is asked does the same, so that all of them know at the same time which
/// members are silent. Time in which a member itself did not run does not count as others' silence.
///
/// Knows neither threads nor connections: it is told what comes and when time passes, and says what
/// is to be sent.
class Agreement {
 public:
  using Clock = std::chrono::steady_clock;

  /// What a member has said; texts that only the users of this understand.
  struct Voice {
    std::optional<std::string> input{};  ///< What it has to say to the question, if it has.
    std::string status{};                ///< What it was doing when it was asked.
  };
  /// What the chair has to decide by.
  struct Hearing {
    const std::vector<Voice>& voices;
    const std::set<std::uint32_t>& silent;  ///< Members that are no longer listened to.
    const std::set<std::uint32_t>& late;    ///< Whose inputs are no longer waited for.
  };
  /// What an agreement needs of its surroundings.
  struct Desk {
    std::function<void(std::uint32_t to, ControlMessage::Kind, std::uint32_t ballot,
                       std::string body)>
        send;
    /// The decision, if it can be made. The chair is asked again whenever something is new.
    std::function<std::optional<std::string>(const Hearing&)> judge;
    /// What this member is doing now, as far as it matters to the question's subject.
    std::function<std::string(const std::string& subject)> stand;
  };
  struct Patience {
    /// For an answer that takes no work.
    Clock::duration for_answers = std::chrono::seconds(2);
    /// The same where some member has already waited in vain for as long as it may.
    Clock::duration when_urgent = std::chrono::milliseconds(500);
    /// For an answer and an input of a suspect.
    Clock::duration for_suspects = std::chrono::milliseconds(400);
    /// For inputs of all who are there.
    Clock::duration for_inputs = std::chrono::seconds(2);
    /// For all others to confirm that they know the decision.
    Clock::duration for_confirmations = std::chrono::milliseconds(500);
  };
  /// Whether members may be taken for silent sooner.
  enum class Urgency { usual, urgent };

  Agreement(std::uint32_t self, std::uint32_t members, Desk desk, Patience patience);

  /// This member has something to say, and wants a decision. The subject goes with it.
  void put(std::string input, std::string subject, Clock::time_point now,
           Urgency urgency = Urgency::usual);
  void hear(std::uint32_t from, ControlMessage::Kind kind, std::uint32_t ballot,
            const std::string& body, Clock::time_point now);
  /// Tells all others the decision, if there is one, before this member leaves: it may be the only
  /// one besides a chair that is gone who has heard it.
  void hand_on() const;
  /// That member did not answer an earlier question, or has kept the others waiting for long: it is
  /// not waited for as long as others.
  void suspect(std::uint32_t member) { suspects_.insert(member); }
  /// That member will not speak again.
  void lose(std::uint32_t member, Clock::time_point now);
  void tick(Clock::time_point now);

  [[nodiscard]] const std::optional<std::string>& decision() const { return decision_; }
  /// Whether the decision survives this member's process: another member has made it, or all others
  /// have confirmed it or had the time to.
  [[nodiscard]] bool is_confirmed(Clock::time_point now) const;
  /// Who did not answer, or is gone.
  [[nodiscard]] const std::set<std::uint32_t>& silent() const { return silent_; }

 private:
  /// How often a chair that replies is asked whether it is still there; and how soon, how often
  /// and how many of the lowest members are asked if it does not.
  static constexpr auto between_looks = std::chrono::milliseconds(500);
  static constexpr auto between_asks = std::chrono::milliseconds(50);
  static constexpr std::uint32_t candidates = 32;

  void look_at_clock(Clock::time_point now);
  void ask(std::uint32_t member, Clock::time_point now);
  void ask_around(Clock::time_point now);
  void hear_input(std::uint32_t from, const std::string& body, Clock::time_point now);
  void hear_query(std::uint32_t from, std::uint32_t ballot, const std::string& body,
                  Clock::time_point now);
  void hear_decision(std::uint32_t from, std::uint32_t ballot, const std::string& body,
                     Clock::time_point now);
  [[nodiscard]] std::uint32_t chair() const;
  [[nodiscard]] std::uint32_t awaited() const;
  [[nodiscard]] bool another_presides() const;
  [[nodiscard]] std::set<std::uint32_t> late(Clock::time_point now) const;
  [[nodiscard]] bool is_overdue(std::uint32_t member, Clock::time_point now) const;
  [[nodiscard]] std::string knowledge() const;
  void turn_to_chair(Clock::time_point now);
  void preside(Clock::time_point now);
  void answer(std::uint32_t ballot, const std::string& subject);
  void take(std::uint32_t from, const std::string& body);
  void note_heard(const std::string& decision, std::uint32_t ballot);
  void step_down(std::uint32_t ballot, Clock::time_point now);
  void wait_for_chair(Clock::time_point now);
  void conclude(Clock::time_point now);
  void announce(Clock::time_point now);

  std::uint32_t self_;
  std::uint32_t members_;
  Desk desk_;
  Patience patience_;
  std::optional<std::string> decision_;
  std::uint32_t decided_in_ = 0;  // By which ballot.
  std::set<std::uint32_t> silent_;
  std::set<std::uint32_t> suspects_;
  std::uint32_t promised_ = 0;  // No ballot below this one is believed; the chair's rank is what
                                // remains when it is divided by the number of members.
  std::string subject_;
  Urgency urgency_ = Urgency::usual;
  std::optional<Clock::time_point> involved_since_;  // By an input of its own, or by others.
  std::optional<Clock::time_point> last_look_;       // At the clock.
  std::optional<Clock::time_point> patient_until_;   // Of one who waits for the chair.
  Clock::time_point next_look_{};
  Clock::time_point next_ask_{};
  std::vector<std::optional<Clock::time_point>>
      asked_at_;  // By member: what it has not replied to.

  // Of the chair:
  bool presides_ = false;  // With the ballot that is promised.
  Clock::time_point presides_since_{};
  std::set<std::uint32_t> unconfirmed_;  // Members that may not know the decision.
  Clock::time_point confirmations_due_{};
  std::vector<Voice> voices_;
  std::set<std::uint32_t> answered_;
  std::optional<std::string> heard_;  // A decision that somebody knew, of the latest ballot.
  std::uint32_t heard_of_ = 0;        // By which that was.
};

}  // namespace tutti
