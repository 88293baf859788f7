#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lifeline/control_message.hpp"
#include "lifeline/control_transport.hpp"

namespace tutti {

/// One decision that all members of a group take alike, though members may die or stop meanwhile.
///
/// A single-decree agreement in the manner of Paxos (Lamport, "The Part-Time Parliament", 1998).
/// The quorum is all members that are not suspected, as in ULFM's agreement (Herault et al.,
/// "Practical scalable consensus for pseudo-synchronous distributed systems", 2015).
///
/// - The lowest member that is not silent is the proposer. It opens a ballot (`prepare`). Every
///   member replies with what it knows, and promises to ignore lower ballots (`promise`). Once all
///   have replied, the proposer decides and tells all members (`decide`).
/// - If the proposer falls silent, the next member opens a higher ballot. A promise carries the
///   decision that the member knows. So a decision that any member has acted on is repeated. A
///   decision always travels with the ballot in which it was made.
/// - The proposer of a ballot is ballot % members.
///
/// A member that has an input and gets no reply from the proposer probes the other members. A
/// probed member does the same, so that all of them find the silent members at the same time. Time
/// in which a member itself did not run does not count as silence of the others.
///
/// A state machine without threads, sockets or clock: it is told what arrives and what time it is.
class Agreement {
 public:
  using Clock = std::chrono::steady_clock;

  /// What a member has said. Only the user of this class can read the texts.
  struct Answer {
    std::optional<std::string> input{};  ///< Its input to the decision, if it has one.
    std::string status{};                ///< What it was doing when it was asked.
  };
  /// What the proposer decides by.
  struct Evidence {
    const std::vector<Answer>& answers;     ///< By member.
    const std::set<std::uint32_t>& silent;  ///< Members that did not reply, or are gone.
    const std::set<std::uint32_t>& late;    ///< Members whose input is no longer waited for.
  };
  /// What this state machine calls.
  struct Environment {
    std::function<void(std::uint32_t to, ControlMessage::Kind, std::uint32_t ballot,
                       std::string body, Delivery)>
        send;
    /// Returns the decision, if it can be made. Called again whenever the evidence has changed.
    std::function<std::optional<std::string>(const Evidence&)> decide;
    /// Returns what this member is doing, as far as it matters to the subject.
    std::function<std::string(const std::string& subject)> describe;
  };
  struct Patience {
    /// For a reply, which takes no work.
    Clock::duration for_answers = std::chrono::seconds(2);
    /// For a reply, if some member has already waited until its deadline.
    Clock::duration when_urgent = std::chrono::milliseconds(500);
    /// For a reply and an input of a suspect.
    Clock::duration for_suspects = std::chrono::milliseconds(400);
    /// For inputs of members that reply.
    Clock::duration for_inputs = std::chrono::seconds(2);
    /// For all others to acknowledge the decision.
    Clock::duration for_confirmations = std::chrono::milliseconds(500);
  };
  /// Whether members are taken for silent sooner.
  enum class Urgency { usual, urgent };

  Agreement(std::uint32_t self, std::uint32_t members, Environment environment, Patience patience);

  /// This member has an input and wants a decision. The subject travels with it.
  void submit(std::string input, std::string subject, Clock::time_point now,
              Urgency urgency = Urgency::usual);
  void receive(std::uint32_t from, ControlMessage::Kind kind, std::uint32_t ballot,
               const std::string& body, Clock::time_point now);
  /// Sends the decision, if there is one, to all connected members before this member leaves:
  /// besides a proposer that died, it may be the only member that knows it. A later proposer asks
  /// them.
  void rebroadcast() const;
  /// That member has kept the others waiting before: it gets Patience::for_suspects only.
  void suspect(std::uint32_t member) { suspects_.insert(member); }
  /// That member will not speak again.
  void lose(std::uint32_t member, Clock::time_point now);
  void tick(Clock::time_point now);

  [[nodiscard]] const std::optional<std::string>& decision() const { return decision_; }
  /// True if the decision survives the end of this process: another member has made it, or all
  /// others have acknowledged it or had Patience::for_confirmations to do so.
  [[nodiscard]] bool is_confirmed(Clock::time_point now) const;
  /// Members that did not reply, or are gone.
  [[nodiscard]] const std::set<std::uint32_t>& silent() const { return silent_; }

 private:
  /// How often a proposer that replies is probed; how often, and after what time without a reply,
  /// others are; and how many of the lowest members are.
  static constexpr auto between_checks = std::chrono::milliseconds(500);
  static constexpr auto between_probes = std::chrono::milliseconds(50);
  static constexpr std::uint32_t candidates = 32;

  void send(std::uint32_t to, ControlMessage::Kind kind, std::uint32_t ballot, std::string body,
            Delivery delivery = Delivery::connects) const;
  void discount_pause(Clock::time_point now);
  void probe(std::uint32_t member, Clock::time_point now);
  void probe_candidates(Clock::time_point now);
  void receive_input(std::uint32_t from, const std::string& body, Clock::time_point now);
  void receive_prepare(std::uint32_t from, std::uint32_t ballot, const std::string& body,
                       Clock::time_point now);
  void receive_decision(std::uint32_t from, std::uint32_t ballot, const std::string& body,
                        Clock::time_point now);
  [[nodiscard]] std::uint32_t lowest_candidate() const;
  [[nodiscard]] std::uint32_t proposer() const;
  [[nodiscard]] bool another_proposes() const;
  [[nodiscard]] std::set<std::uint32_t> late(Clock::time_point now) const;
  [[nodiscard]] bool is_overdue(std::uint32_t member, Clock::time_point now) const;
  [[nodiscard]] std::string knowledge() const;
  void turn_to_proposer(Clock::time_point now);
  void open_ballot(Clock::time_point now);
  void promise(std::uint32_t ballot, const std::string& subject);
  void note_knowledge(std::uint32_t from, const std::string& body);
  void note_decision(const std::string& decision, std::uint32_t ballot);
  void follow(std::uint32_t ballot, Clock::time_point now);
  void wait_for_proposer(Clock::time_point now);
  void try_to_decide(Clock::time_point now);
  void announce(Clock::time_point now);

  std::uint32_t self_;
  std::uint32_t members_;
  Environment environment_;
  Patience patience_;
  std::optional<std::string> decision_;
  std::uint32_t decided_in_ = 0;  // The ballot of the decision.
  std::set<std::uint32_t> silent_;
  std::set<std::uint32_t> suspects_;
  std::uint32_t promised_ = 0;  // Lower ballots are ignored.
  std::string subject_;
  Urgency urgency_ = Urgency::usual;
  std::optional<Clock::time_point> involved_since_;  // The first own input or message of others.
  std::optional<Clock::time_point> last_event_;
  std::optional<Clock::time_point> proposer_due_;  // Then the proposer counts as silent.
  Clock::time_point next_check_{};
  Clock::time_point next_probe_{};
  std::vector<std::optional<Clock::time_point>> probed_at_;  // By member; empty: it has replied.

  // As proposer:
  bool proposes_ = false;  // In the ballot promised_.
  Clock::time_point proposes_since_{};
  std::set<std::uint32_t> unconfirmed_;  // Members that have not acknowledged the decision.
  Clock::time_point confirmations_due_{};
  std::vector<Answer> answers_;
  std::set<std::uint32_t> promisers_;         // Members that have replied in this ballot.
  std::optional<std::string> past_decision_;  // Reported by a member; of the highest ballot.
  std::uint32_t past_ballot_ = 0;
};

}  // namespace tutti
