#include "lifeline/thread_hub.hpp"

#include <utility>

#include "core/thread_start.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

constexpr auto between_ticks = 20ms;

}  // namespace

class ThreadHub::MemberTransport final : public ControlTransport {
 public:
  MemberTransport(std::shared_ptr<ThreadHub> hub, std::uint32_t self)
      : hub_(std::move(hub)), self_(self) {}
  ~MemberTransport() override { hub_->leave(self_); }
  MemberTransport(const MemberTransport&) = delete;
  MemberTransport& operator=(const MemberTransport&) = delete;

  void send(std::uint32_t to, std::string letter) override {
    hub_->send({.from = self_, .to = to, .letter = std::move(letter)});
  }
  void hurry() override { hub_->hurry(); }

 private:
  std::shared_ptr<ThreadHub> hub_;
  std::uint32_t self_;
};

ThreadHub::~ThreadHub() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  news_.notify_all();
  if (carrier_.joinable()) carrier_.join();
}

std::unique_ptr<ControlTransport> ThreadHub::post(std::uint32_t member, Lifeline& lifeline) {
  const std::lock_guard lock(delivery_);
  members_[member] = &lifeline;
  return std::make_unique<MemberTransport>(shared_from_this(), member);
}

void ThreadHub::leave(std::uint32_t member) {
  const std::lock_guard lock(delivery_);
  members_[member] = nullptr;
}

void ThreadHub::send(Mail mail) {
  {
    const std::lock_guard lock(mutex_);
    mail_.push_back(std::move(mail));
    start();
  }
  news_.notify_all();
}

void ThreadHub::hurry() {
  {
    const std::lock_guard lock(mutex_);
    hurries_ = true;
    start();
  }
  news_.notify_all();
}

/// Requires: the mutex is held.
void ThreadHub::start() {
  if (!carrier_.joinable()) carrier_ = start_thread([this] { carry(); });
}

void ThreadHub::carry() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    const auto is_news = [&] { return ends_ || !mail_.empty(); };
    if (hurries_) {
      news_.wait_for(lock, between_ticks, is_news);
    } else {
      news_.wait(lock, [&] { return is_news() || hurries_; });
    }
    std::deque<Mail> mail = std::exchange(mail_, {});
    hurries_ = false;
    lock.unlock();
    bool soon = false;
    {
      const std::lock_guard delivery(delivery_);
      for (const Mail& each : mail) {
        if (Lifeline* const reader = members_[each.to]) reader->hear(each.from, each.letter);
      }
      for (Lifeline* const member : members_) soon = (member != nullptr && member->tick()) || soon;
    }
    lock.lock();
    hurries_ = hurries_ || soon;
  }
}

}  // namespace tutti
