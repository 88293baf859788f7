#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <tutti/verdict.hpp>

#include "lifeline/agreement.hpp"
#include "lifeline/failure_inquiry.hpp"
#include "lifeline/lifeline.hpp"

namespace tutti {

/// One communicator's ranks, as they speak about it over their lifelines: what went wrong and whose
/// fault it is (the verdict, one and the same for all), and afterwards who goes on.
///
/// For any thread. Ranks are the communicator's.
class Council {
 public:
  using Clock = Lifeline::Clock;

  struct Seat {
    std::uint64_t id = 0;                  ///< Of the communicator: the same on all its ranks.
    std::uint32_t self = 0;                ///< This rank.
    std::vector<std::uint32_t> members{};  ///< By rank: which member of the lifeline it is.
    Clock::duration patience{};            ///< For others to take part in what is to be agreed.
  };

  /// `alarm` is raised when there is something to look at: a verdict, or somebody has left. Both it
  /// and the participant must outlive this.
  Council(std::shared_ptr<Lifeline> lifeline, Seat seat, std::atomic<bool>& alarm,
          Participant& participant);
  /// Tells the others that this rank has left, if it has not said so before.
  ~Council();
  Council(const Council&) = delete;
  Council& operator=(const Council&) = delete;

  [[nodiscard]] std::uint64_t id() const { return seat_.id; }
  [[nodiscard]] const std::shared_ptr<Lifeline>& lifeline() const { return lifeline_; }
  [[nodiscard]] const std::vector<std::uint32_t>& members() const { return seat_.members; }

  [[nodiscard]] std::optional<AgreedVerdict> verdict() const;
  /// Who has closed the communicator, and after how many calls.
  [[nodiscard]] std::map<std::uint32_t, std::uint64_t> left() const;
  /// Whether a rank is known to be gone, or did not answer when the verdict was sought.
  [[nodiscard]] bool is_gone(std::uint32_t rank) const;

  /// Something went wrong. There will be a verdict soon.
  void report(const Report& report);
  /// The ruling, once all others know it too, so that this rank may end at once; if they do not
  /// come to one in time, what this rank thinks itself.
  [[nodiscard]] AgreedVerdict await_verdict();

  /// Lets all see which call of this number this rank is in. If it is not the same, there will be a
  /// verdict.
  void compare(std::uint64_t call);

  /// This rank has made so many calls and will make no more.
  void leave(std::uint64_t calls);
  /// This rank failed to make a communicator with these members of the lifeline. Members that have
  /// it are told not to wait for this rank there.
  void decline(std::uint64_t id, std::span<const std::uint32_t> members);

  /// What ranks have to say to the next question, one text each: the same for all that get it. Who
  /// is gone, has left or does not speak in time is not among them, and maybe not this rank. Who
  /// has kept the others waiting until the verdict has less time than they. All ranks ask the same
  /// questions, of the same ranks. Throws timed_out.
  [[nodiscard]] std::map<std::uint32_t, std::string> agree(const std::string& input);
  [[nodiscard]] std::map<std::uint32_t, std::string> agree(const std::string& input,
                                                           std::span<const std::uint32_t> among);

  /// How many questions were asked so far.
  [[nodiscard]] std::uint32_t questions() const;

  /// Everybody's cards in this round, of some ranks in this order that exchange them. A card is any
  /// bytes. Throws peer_lost that names who is gone, timed_out after `patience`.
  [[nodiscard]] std::vector<std::string> exchange(std::span<const std::uint32_t> ranks,
                                                  std::uint32_t round, const std::string& card);

 private:
  friend class Lifeline;
  using Lock = std::unique_lock<std::mutex>;

  static constexpr std::uint32_t verdict_question = 0;  // The others are those of agree().

  template <class Predicate>
  bool wait_awake(Lock& lock, Clock::duration time, Predicate&& is_so);

  // With the lifeline's mutex held:
  void hear(std::uint32_t member, const ControlMessage& letter);
  void lose(std::uint32_t member, const std::string& why);
  [[nodiscard]] bool tick();

  [[nodiscard]] std::optional<std::uint32_t> rank_of(std::uint32_t member) const;
  [[nodiscard]] Agreement& agreement(std::uint32_t question);
  [[nodiscard]] std::optional<std::string> judge(const Agreement::Hearing& hearing) const;
  [[nodiscard]] std::optional<std::string> collect(const Agreement::Hearing& hearing) const;
  [[nodiscard]] std::set<std::uint32_t> absent() const;
  void put_report(Report report);
  void say_farewell(std::uint64_t calls);
  void note_absence(std::uint32_t rank);
  void look_for_verdict();
  [[nodiscard]] bool is_ruling_confirmed() const;
  void rule(const AgreedVerdict& ruling);
  [[nodiscard]] static std::uint64_t done_by_all(const Agreement::Hearing& hearing);
  void suspect_laggards(Agreement& agreement) const;
  void send(std::uint32_t rank, ControlMessage::Kind kind, std::uint32_t question,
            std::uint32_t ballot, std::string body);
  void compare_with(std::uint32_t rank, const RankStatus& other);
  void show_standing(Clock::time_point now);

  std::shared_ptr<Lifeline> lifeline_;
  Seat seat_;
  std::atomic<bool>& alarm_;
  Participant& participant_;
  std::optional<AgreedVerdict> ruling_;
  std::optional<Report> own_report_;
  std::map<std::uint32_t, std::string> gone_;
  std::map<std::uint32_t, std::uint64_t> left_;
  std::map<std::uint32_t, RankStatus> seen_;  // As others have shown themselves now and then.
  bool has_left_ = false;

  std::map<std::uint32_t, Agreement> agreements_;
  std::uint32_t questions_ = 0;

  /// Cards of an exchange, by round and rank; and what was handed out, by round.
  std::map<std::uint32_t, std::map<std::uint32_t, std::string>> cards_;
  std::map<std::uint32_t, std::string> handed_out_;

  Clock::time_point shown_at_{};
  std::uint64_t shown_call_ = 0;
};

}  // namespace tutti
