#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lifeline/control_message.hpp"
#include "lifeline/control_transport.hpp"
#include "lifeline/participant.hpp"

namespace tutti {

class Council;

/// One member's line to all the others that were started together with it, apart from the data:
/// over it they notice who is gone, and agree on what to do about it. All communicators that come
/// from one another share it; each has its own Council.
class Lifeline : public std::enable_shared_from_this<Lifeline> {
 public:
  using Clock = std::chrono::steady_clock;

  /// `whereabouts` says for people where each member is.
  Lifeline(std::uint32_t self, std::vector<std::string> whereabouts);
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  /// By what the letters go. Called once, before anything else.
  void attach(std::unique_ptr<ControlTransport> post);

  // For the post, from its own thread:
  void hear(std::uint32_t from, const std::string& letter);
  void lose(std::uint32_t member, const std::string& why);
  /// Whether it wants to be called again soon.
  bool tick();

  [[nodiscard]] const std::vector<std::string>& whereabouts() const { return whereabouts_; }
  /// Whether a member is gone for good.
  [[nodiscard]] bool is_lost(std::uint32_t member);

 private:
  friend class Council;

  /// Letters may come before the communicator that they are for is made here; not very many.
  static constexpr std::size_t most_early = 1024;
  struct Early {
    std::uint32_t from;
    ControlMessage letter;
  };

  void enter(Council& council);
  void leave(Council& council);
  void send(std::uint32_t to, const ControlMessage& letter) { post_->send(to, encode(letter)); }

  std::uint32_t self_;
  std::vector<std::string> whereabouts_;
  std::mutex mutex_;  // For all that follows, and for the inside of all councils.
  std::condition_variable changed_;
  std::map<std::uint64_t, Council*> councils_;
  std::map<std::uint32_t, std::string> lost_;  // Members, and why.
  std::deque<Early> early_;
  std::unique_ptr<ControlTransport> post_;  // Goes first: it has a thread that calls this.
};

}  // namespace tutti
