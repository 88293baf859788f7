#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "lifeline/lifeline.hpp"

namespace tutti {

/// Control messages between ranks that are threads of one process. A thread carries them. It starts
/// with the first member, because ranks also send when they are destroyed, where starting a thread
/// must not fail.
class ThreadHub : public std::enable_shared_from_this<ThreadHub> {
 public:
  explicit ThreadHub(std::uint32_t members) : members_(members) {}
  ~ThreadHub();
  ThreadHub(const ThreadHub&) = delete;
  ThreadHub& operator=(const ThreadHub&) = delete;

  /// The transport of this member. Events go to `lifeline` until the transport is destroyed.
  [[nodiscard]] std::unique_ptr<ControlTransport> connect(std::uint32_t member, Lifeline& lifeline);

 private:
  class MemberTransport;
  struct Envelope {
    std::uint32_t from;
    std::uint32_t to;
    std::string message;
  };

  void send(Envelope envelope);
  void request_ticks();
  void run();
  void leave(std::uint32_t member);

  std::mutex delivery_;  // Held while a lifeline is called. Taken before the lifeline's lock.
  std::vector<Lifeline*> members_;

  std::mutex mutex_;  // For what follows. No other lock is taken while it is held.
  std::condition_variable news_;
  std::deque<Envelope> queue_;
  bool ticks_ = false;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace tutti
