#include "lifeline/agreement.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <queue>
#include <set>

#include <gtest/gtest.h>

#include "core/json_value.hpp"
#include "support/random.hpp"

/// All members that survive decide the same. Checked in thousands of seeded simulations with
/// message delays, deaths at any moment, and members that are only slow.
namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using Clock = Agreement::Clock;

/// The faults of a simulation.
struct Faults {
  std::uint32_t deaths = 0;      ///< At most.
  std::uint32_t sleepers = 0;    ///< At most: members that are stopped for some seconds.
  std::uint32_t suspicions = 0;  ///< At most: a member wrongly takes another for lost.
  std::uint32_t laggards = 0;    ///< At most: suspected by all; their input is seconds late.
  std::uint32_t frozen = 0;      ///< At most, and not all: stopped from the start.
  bool all_have_inputs = true;   ///< Else only one member has an input.
  bool all_leave = false;        ///< A member that knows the decision leaves.
};

/// Members of one agreement and the messages between them, in simulated time.
class Simulation {
 public:
  Simulation(std::uint64_t seed, std::uint32_t members, const Faults& faults)
      : random_(seed), size_(members), faults_(faults), members_(members) {
    for (std::uint32_t self = 0; self < members; ++self) {
      members_[self].agreement = std::make_unique<Agreement>(
          self, members, environment(self),
          Agreement::Patience{.for_answers = 2s, .for_inputs = faults.all_have_inputs ? 1s : 0s});
    }
    plan_laggards();
    plan_frozen();
    plan_inputs();
    plan_completions();
    plan_faults();
    for (std::uint32_t self = 0; self < members; ++self) plan_tick(self, 0ms);
    go_on();
  }

  /// What is wrong with the outcome; empty if nothing is.
  [[nodiscard]] std::string fault() const {
    if (!is_any_involved()) return "";
    if (const std::string broken = broken_promise(); !broken.empty()) return broken;
    std::optional<std::string> common;
    const std::set<std::uint32_t> trusted = faults_.all_leave ? alive() : this->trusted();
    for (const std::uint32_t self : trusted) {
      const std::optional<std::string>& decision = members_[self].agreement->decision();
      if (!decision) return "member " + std::to_string(self) + " has no decision";
      if (common && *common != *decision) return "both " + *common + " and " + *decision;
      common = decision;
    }
    return common ? fault_of(*common, trusted) : "";
  }

  [[nodiscard]] std::size_t trusted_count() const { return trusted().size(); }
  /// True if some members, but not all, have come out of the barrier.
  [[nodiscard]] bool is_split() const {
    const auto has_passed = [](const Member& member) { return member.has_passed; };
    return std::any_of(members_.begin(), members_.end(), has_passed) &&
           !std::all_of(members_.begin(), members_.end(), has_passed);
  }
  /// Until all live members had decided.
  [[nodiscard]] Clock::duration duration() const { return now_; }

 private:
  struct Member {
    std::unique_ptr<Agreement> agreement{};
    bool is_dead = false;
    bool has_left = false;
    bool is_frozen = false;
    bool is_sealed = false;
    bool has_passed = false;  // It came out of the barrier: all have done their call.
    std::uint64_t done = begun;
    Clock::duration asleep_until{};
    std::optional<std::string> input{};
  };
  struct Event {
    Clock::duration at{};
    std::uint64_t number = 0;  // Breaks ties: events at one time happen in planned order.
    std::uint32_t member = 0;
    std::function<void(Agreement&, Clock::time_point)> happen{};

    friend bool operator>(const Event& a, const Event& b) {
      return a.at != b.at ? a.at > b.at : a.number > b.number;
    }
  };

  static constexpr auto longest = 120s;
  /// Calls with retry that a member has done before the one that all are in, and after it.
  static constexpr std::uint64_t begun = 6;
  static constexpr std::uint64_t ended = 7;

  /// The only member with an input may have died before any other heard of it.
  [[nodiscard]] bool is_any_involved() const {
    return std::any_of(members_.begin(), members_.end(), [](const Member& member) {
      return !member.is_dead && (member.input || member.agreement->decision());
    });
  }

  [[nodiscard]] std::set<std::uint32_t> alive() const {
    std::set<std::uint32_t> all;
    for (std::uint32_t self = 0; self < size_; ++self) {
      if (!members_[self].is_dead && !members_[self].is_frozen) all.insert(self);
    }
    return all;
  }

  /// Live members that no live member takes for lost.
  [[nodiscard]] std::set<std::uint32_t> trusted() const {
    std::set<std::uint32_t> all = alive();
    for (const Member& member : members_) {
      for (const std::uint32_t silent : member.agreement->silent()) all.erase(silent);
    }
    return all;
  }

  /// Once any member has come out of the barrier, even if it died since, no decision says that the
  /// call is incomplete; nor do decisions of members that others take for lost.
  [[nodiscard]] std::string broken_promise() const {
    const auto has_passed = [](const Member& member) { return member.has_passed; };
    if (std::none_of(members_.begin(), members_.end(), has_passed)) return "";
    for (const Member& member : members_) {
      const auto& decision = member.agreement->decision();
      if (!decision || Json::parse(*decision).at("completed") == ended) continue;
      return "a call was completed, but not in " + *decision;
    }
    return "";
  }

  /// A decision holds only inputs that were submitted, and those of all trusted members.
  [[nodiscard]] std::string fault_of(const std::string& decision,
                                     const std::set<std::uint32_t>& trusted) const {
    const Json json = Json::parse(decision);
    for (const auto& [rank, text] : json.items()) {
      if (rank == "completed") continue;
      const Member& member = members_[std::stoul(rank)];
      if (!member.input || Json(*member.input) != text) return "invented input in " + decision;
    }
    // A sleeper's input may be late.
    if (!faults_.all_have_inputs || faults_.sleepers > 0) return "";
    for (const std::uint32_t self : trusted) {
      if (!laggards_.contains(self) && !json.contains(std::to_string(self))) {
        return "member " + std::to_string(self) + " is not in " + decision;
      }
    }
    return "";
  }

  Agreement::Environment environment(std::uint32_t self) {
    return {.send = [this, self](std::uint32_t to, ControlMessage::Kind kind, std::uint32_t ballot,
                                 const std::string& body,
                                 Delivery /*delivery*/) { send(self, to, kind, ballot, body); },
            .decide = [](const Agreement::Evidence& evidence) { return collect(evidence); },
            .describe = [this, self](const std::string& /*subject*/) { return seal(self); }};
  }

  static std::optional<std::string> collect(const Agreement::Evidence& evidence) {
    std::uint64_t least = ended;
    for (const Agreement::Answer& answer : evidence.answers) {
      if (!answer.status.empty()) {
        least = std::min<std::uint64_t>(least, std::stoull(answer.status));
      }
    }
    Json inputs{{"completed", least}};
    for (std::uint32_t rank = 0; rank < evidence.answers.size(); ++rank) {
      if (evidence.silent.contains(rank)) continue;
      if (const auto& input = evidence.answers[rank].input) {
        inputs[std::to_string(rank)] = *input;
      } else if (!evidence.late.contains(rank)) {
        return std::nullopt;
      }
    }
    return inputs.dump();
  }

  std::string seal(std::uint32_t self) {
    members_[self].is_sealed = true;
    return std::to_string(members_[self].done);
  }

  void send(std::uint32_t from, std::uint32_t to, ControlMessage::Kind kind, std::uint32_t ballot,
            const std::string& body) {
    // A member that dies during a broadcast reaches only some members.
    if (members_[from].is_dead) return;
    if (doomed_ == from && random_.one_in(3)) kill(from);
    if (members_[from].is_dead) return;
    Clock::duration& last = last_message_[{from, to}];
    last = std::max(last + 1us, now_ + std::chrono::microseconds(random_.below(30000U)));
    plan(last, to, [from, kind, ballot, body](Agreement& agreement, Clock::time_point now) {
      agreement.receive(from, kind, ballot, body, now);
    });
  }

  void leave(std::uint32_t member) {
    if (std::exchange(members_[member].has_left, true)) return;
    members_[member].agreement->rebroadcast();
    if (!members_[member].is_dead) tell_all_of_absence(member);
  }

  void kill(std::uint32_t member) {
    if (std::exchange(members_[member].is_dead, true)) return;
    tell_all_of_absence(member);
  }

  void tell_all_of_absence(std::uint32_t member) {
    for (std::uint32_t other = 0; other < size_; ++other) {
      if (other == member) continue;
      Clock::duration& last = last_message_[{member, other}];
      last = std::max(last + 1us, now_ + std::chrono::microseconds(random_.below(100000U)));
      plan(last, other,
           [member](Agreement& agreement, Clock::time_point now) { agreement.lose(member, now); });
    }
  }

  void plan_laggards() {
    for (std::uint32_t i = 0; i < faults_.laggards; ++i) laggards_.insert(random_.below(size_));
    if (laggards_.size() == size_) laggards_.clear();
    for (Member& member : members_) {
      for (const std::uint32_t laggard : laggards_) member.agreement->suspect(laggard);
    }
  }

  void plan_frozen() {
    const std::uint32_t count =
        faults_.frozen == 0 ? 0 : random_.below(std::min(faults_.frozen + 1, size_));
    // The lowest members, which are to propose, or any.
    const bool are_lowest = random_.one_in(2);
    for (std::uint32_t i = 0; i < count; ++i) {
      members_[are_lowest ? i : random_.below(size_)].is_frozen = true;
    }
  }

  /// Members do their call unless they are sealed before, and come out of the barrier once all
  /// have.
  void plan_completions() {
    const Clock::duration early = random_time(150ms);
    for (std::uint32_t self = 0; self < size_; ++self) {
      plan(random_time(early), self, [this, self](Agreement&, auto) {
        if (!members_[self].is_sealed) members_[self].done = ended;
      });
      plan(early + random_time(200ms), self, [this, self](Agreement&, auto) {
        members_[self].has_passed =
            std::all_of(members_.begin(), members_.end(),
                        [](const Member& each) { return each.done == ended; });
      });
    }
  }

  void plan_inputs() {
    std::uint32_t only = random_.below(size_);
    while (members_[only].is_frozen) only = (only + 1) % size_;
    const auto urgency =
        faults_.frozen > 0 ? Agreement::Urgency::urgent : Agreement::Urgency::usual;
    for (std::uint32_t self = 0; self < size_; ++self) {
      if (!faults_.all_have_inputs && self != only) continue;
      const std::string input = "input of " + std::to_string(self);
      const Clock::duration late = laggards_.contains(self) ? 5s : 0s;
      const auto put = [this, self, input, urgency](Agreement& agreement, auto now) {
        members_[self].input = input;
        agreement.submit(input, "7", now, urgency);
      };
      plan(late + random_time(200ms), self, put);
    }
  }

  void plan_faults() {
    for (std::uint32_t i = 0; i < faults_.deaths; ++i) {
      const std::uint32_t victim = random_.below(size_);
      // Either at any moment, or during a broadcast.
      if (random_.one_in(2)) {
        doomed_ = victim;
      } else {
        plan(random_time(300ms), victim, [this, victim](Agreement&, auto) { kill(victim); });
      }
    }
    for (std::uint32_t i = 0; i < faults_.sleepers; ++i) {
      const std::uint32_t sleeper = random_.below(size_);
      const Clock::duration until = random_time(9s);
      plan(random_time(300ms), sleeper,
           [this, sleeper, until](Agreement&, auto) { members_[sleeper].asleep_until = until; });
    }
    for (std::uint32_t i = 0; i < faults_.suspicions; ++i) {
      const std::uint32_t doubter = random_.below(size_);
      const std::uint32_t suspected = random_.below(size_);
      if (doubter == suspected) continue;
      plan(random_time(300ms), doubter,
           [suspected](Agreement& agreement, auto now) { agreement.lose(suspected, now); });
    }
  }

  void plan_tick(std::uint32_t member, Clock::duration at) {
    plan(at, member, [this, member](Agreement& agreement, Clock::time_point now) {
      agreement.tick(now);
      if (now_ < longest) plan_tick(member, now_ + 20ms);
    });
  }

  Clock::duration random_time(Clock::duration most) {
    return std::chrono::microseconds(random_.below(static_cast<std::uint64_t>(most / 1us)));
  }

  void plan(Clock::duration at, std::uint32_t member,
            std::function<void(Agreement&, Clock::time_point)> happen) {
    events_.push({.at = at, .number = ++planned_, .member = member, .happen = std::move(happen)});
  }

  void go_on() {
    while (!events_.empty() && !is_over()) {
      Event event = events_.top();
      events_.pop();
      now_ = event.at;
      Member& member = members_[event.member];
      if (member.is_dead || member.has_left || member.is_frozen) continue;
      if (member.asleep_until > now_) {
        // Its events wait, in order.
        event.at = member.asleep_until;
        events_.push(std::move(event));
        continue;
      }
      event.happen(*member.agreement, Clock::time_point(now_));
      if (member.agreement->decision()) (void)seal(event.member);
      if (faults_.all_leave && !member.is_dead && member.agreement->decision()) {
        leave(event.member);
      }
    }
  }

  /// Nothing more can change once all live members have decided.
  [[nodiscard]] bool is_over() const {
    return std::all_of(members_.begin(), members_.end(), [](const Member& member) {
      return member.is_dead || member.is_frozen || member.agreement->decision();
    });
  }

  Random random_;
  std::uint32_t size_;
  Faults faults_;
  std::vector<Member> members_;
  std::set<std::uint32_t> laggards_;
  std::optional<std::uint32_t> doomed_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Clock::duration> last_message_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t planned_ = 0;
  Clock::duration now_{};
};

/// Adds to `split`, if given, the number of runs in which some members came out of the barrier and
/// others did not.
void run_many(std::uint64_t runs, const Faults& faults, Clock::duration longest = 120s,
              std::uint32_t least_members = 2, std::size_t* split = nullptr) {
  std::size_t trusted = 0;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    const std::uint32_t members = least_members + static_cast<std::uint32_t>(seed % 6);
    const Simulation run(seed, members, faults);
    trusted += run.trusted_count();
    if (split != nullptr && run.is_split()) ++*split;
    ASSERT_EQ(run.fault(), "") << "seed " << seed << ", " << members << " members";
    ASSERT_LE(run.duration(), longest) << "seed " << seed << ", " << members << " members";
  }
  // Otherwise nothing was compared.
  EXPECT_GT(trusted, runs);
}

TEST(Agreement, HoldsTheInputsOfAll) { run_many(500, {}); }

TEST(Agreement, SurvivesDeaths) { run_many(3000, {.deaths = 3}); }

TEST(Agreement, NeedsOnlyOneInput) { run_many(1000, {.deaths = 2, .all_have_inputs = false}); }

TEST(Agreement, DoesNotWaitForSleepers) { run_many(1000, {.deaths = 1, .sleepers = 2}); }

TEST(Agreement, NeverDeniesACallThatSomeMemberHasCompleted) {
  std::size_t split = 0;
  run_many(5000, {.deaths = 3, .sleepers = 1, .suspicions = 2}, 120s, 2, &split);
  EXPECT_GT(split, 250U);
}

TEST(Agreement, SurvivesFalseSuspicions) {
  run_many(1000, {.deaths = 1, .sleepers = 1, .suspicions = 2});
}

TEST(Agreement, SurvivesMembersThatLeaveWithTheDecision) {
  run_many(3000, {.deaths = 2, .all_leave = true});
}

TEST(Agreement, SurvivesLaggards) { run_many(1000, {.deaths = 2, .laggards = 2}); }

TEST(Agreement, DoesNotWaitLongForLaggards) { run_many(300, {.laggards = 2}, 900ms); }

/// However many they are, proposers or not. Inputs are submitted within 200 ms, messages take up to
/// 30 ms.
TEST(Agreement, FindsAllStoppedMembersAtTheSameTime) { run_many(3000, {.frozen = 5}, 950ms); }

/// Most members probe only some of the lowest, one of which will propose.
TEST(Agreement, FindsStoppedMembersOfALargeGroup) { run_many(12, {.frozen = 30}, 950ms, 36); }

TEST(Agreement, FindsStoppedMembersWithOneInput) {
  run_many(2000, {.frozen = 5, .all_have_inputs = false}, 930ms);
}

TEST(Agreement, SurvivesDeathsAndStoppedMembers) { run_many(1000, {.deaths = 2, .frozen = 3}, 3s); }

}  // namespace
}  // namespace tutti::test
