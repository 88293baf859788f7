#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tutti/communicator.hpp>

#include "faults/scenarios/message_memory.hpp"
#include "faults/scenarios/message_plan.hpp"

namespace tutti::test {

/// One rank's part of a MessagePlan, on one communicator. Calls throw tutti::Error if the
/// communicator fails, and std::runtime_error if a result is wrong.
class MessageStrand {
 public:
  struct Setting {
    std::chrono::milliseconds timeout{0};
    /// From this round on, the first message of this rank is longer than its receiver expects.
    std::optional<std::uint32_t> too_long_from{};
  };

  /// The communicator must outlive it.
  MessageStrand(Communicator& communicator, MessagePlan plan, Setting setting);
  /// Waits until nothing uses its memory.
  ~MessageStrand();
  MessageStrand(const MessageStrand&) = delete;
  MessageStrand& operator=(const MessageStrand&) = delete;

  [[nodiscard]] std::uint32_t rounds() const {
    return static_cast<std::uint32_t>(plan_.rounds.size());
  }
  /// Starts the asynchronous part of a round. Other strands may begin their rounds before end().
  void begin(std::uint32_t round);
  /// Does the rest of the round. Operations that are carried over are waited for later.
  void end(std::uint32_t round);
  /// Waits for all operations that were carried over, and for all ranks.
  void finish();
  /// After an error: every Work must end soon, and received data must be right.
  void collapse();

  /// When the last blocking call began.
  [[nodiscard]] std::int64_t called_at() const { return called_at_; }
  [[nodiscard]] Communicator& communicator() { return communicator_; }

 private:
  struct Slot {
    MessageMemory memory;
    const PlannedMessage* message;
    bool receives;
  };
  /// An asynchronous operation, with its memory.
  struct Begun {
    Work work{};
    std::vector<Slot> slots{};
    std::uint32_t round = 0;
    bool is_wild = false;  // A receive that may take one of several messages.
  };
  using Messages = std::vector<const PlannedMessage*>;

  [[nodiscard]] Messages sends(std::uint32_t round) const;
  [[nodiscard]] Messages receives(std::uint32_t round) const;
  [[nodiscard]] Slot sending(const PlannedMessage& message, std::uint32_t round);
  [[nodiscard]] Slot receiving(const PlannedMessage& message, std::size_t bytes) const;
  [[nodiscard]] MessageOptions options(std::uint32_t tag) const;
  [[nodiscard]] Incoming wild(Slot& slot, std::uint32_t round, Taking taking) const;

  void begin_receives(std::uint32_t round);
  void begin_sends(std::uint32_t round);
  void begin_group(std::uint32_t round, bool has_sends, bool has_receives);
  void begin_threads(const Messages& messages, std::uint32_t round, bool receives);
  void add(Begun begun);
  void run_all(std::uint32_t round);
  void probe_all(std::uint32_t round);
  void close(const PlannedRound& round);
  void join();
  void wait_for_begun();
  void wait_for_callbacks();

  void check(Begun& begun);
  void check_wild(const Envelope& envelope, const Slot& slot, std::uint32_t round);
  void check_exact(const Slot& slot) const;
  [[nodiscard]] const PlannedMessage& next_of(const Envelope& envelope, std::uint32_t round);
  void mark_call();

  Communicator& communicator_;
  MessagePlan plan_;
  Setting setting_;
  std::uint32_t self_;
  std::vector<Begun> begun_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::exception_ptr failure_;                                              // Of a thread.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> taken_;  // By rank and tag.
  bool has_failed_ = false;
  std::uint32_t made_ = 0;
  std::shared_ptr<std::atomic<std::uint32_t>> called_back_;
  std::uint32_t to_be_called_back_ = 0;
  Work closing_{};
  std::vector<std::uint32_t> sums_;
  std::int64_t called_at_ = 0;
};

}  // namespace tutti::test
