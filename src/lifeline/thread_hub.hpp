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

/// Letters between ranks that are threads of one process. As long as all goes well none are
/// written, but for farewells; the thread that carries them is started by the first.
class ThreadHub : public std::enable_shared_from_this<ThreadHub> {
 public:
  explicit ThreadHub(std::uint32_t members) : members_(members) {}
  ~ThreadHub();
  ThreadHub(const ThreadHub&) = delete;
  ThreadHub& operator=(const ThreadHub&) = delete;

  /// A post for this member. Its letters are handed to `lifeline` until the post is gone.
  [[nodiscard]] std::unique_ptr<ControlTransport> post(std::uint32_t member, Lifeline& lifeline);

 private:
  class MemberTransport;
  struct Mail {
    std::uint32_t from;
    std::uint32_t to;
    std::string letter;
  };

  void send(Mail mail);
  void hurry();
  void start();
  void carry();
  void leave(std::uint32_t member);

  std::mutex delivery_;  // Held while a letter is handed over: before any lock of its reader.
  std::vector<Lifeline*> members_;

  std::mutex mutex_;  // For what follows; nothing else is locked while it is held.
  std::condition_variable news_;
  std::deque<Mail> mail_;
  bool hurries_ = false;
  bool ends_ = false;
  std::thread carrier_;
};

}  // namespace tutti
