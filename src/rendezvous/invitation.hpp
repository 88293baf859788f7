#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/clock.hpp"
#include "net/secret.hpp"
#include "net/socket.hpp"
#include "rendezvous/framed_channel.hpp"

namespace tutti {

/// What a newcomer gets when a group admits it: see AdmissionListener. Until it is destroyed, it
/// tells the group that this process runs. A group gives up a newcomer that falls silent before it
/// has joined.
class Invitation {
 public:
  Invitation(std::string ticket, FramedChannel connection);
  ~Invitation();
  Invitation(const Invitation&) = delete;
  Invitation& operator=(const Invitation&) = delete;

  [[nodiscard]] const std::string& ticket() const { return ticket_; }

 private:
  void give_signs();

  std::string ticket_;
  FramedChannel connection_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool has_ended_ = false;
  std::thread thread_;
};

/// Connects to the group at `at` and waits for a ticket. Throws timed_out; and mismatch if the
/// secrets differ.
[[nodiscard]] std::unique_ptr<Invitation> request_admission(const Endpoint& at,
                                                            const Secret& secret,
                                                            Clock::time_point deadline);

}  // namespace tutti
