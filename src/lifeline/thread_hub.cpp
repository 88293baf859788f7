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

  void send(std::uint32_t to, std::string message, Delivery delivery) override {
    if (delivery == Delivery::if_not_connected) return;  // All threads are connected.
    hub_->send({.from = self_, .to = to, .message = std::move(message)});
  }
  void request_ticks() override { hub_->request_ticks(); }

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
  if (thread_.joinable()) thread_.join();
}

std::unique_ptr<ControlTransport> ThreadHub::connect(std::uint32_t member, Lifeline& lifeline) {
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = start_thread([this] { run(); });
  }
  const std::lock_guard lock(delivery_);
  members_[member] = &lifeline;
  return std::make_unique<MemberTransport>(shared_from_this(), member);
}

void ThreadHub::leave(std::uint32_t member) {
  const std::lock_guard lock(delivery_);
  members_[member] = nullptr;
}

void ThreadHub::send(Envelope envelope) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(envelope));
  }
  news_.notify_all();
}

void ThreadHub::request_ticks() {
  {
    const std::lock_guard lock(mutex_);
    ticks_ = true;
  }
  news_.notify_all();
}

void ThreadHub::run() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    const auto is_news = [&] { return ends_ || !queue_.empty(); };
    if (ticks_) {
      news_.wait_for(lock, between_ticks, is_news);
    } else {
      news_.wait(lock, [&] { return is_news() || ticks_; });
    }
    std::deque<Envelope> queue = std::exchange(queue_, {});
    ticks_ = false;
    lock.unlock();
    bool soon = false;
    {
      const std::lock_guard delivery(delivery_);
      for (const Envelope& each : queue) {
        if (Lifeline* const member = members_[each.to]) member->receive(each.from, each.message);
      }
      for (Lifeline* const member : members_) soon = (member != nullptr && member->tick()) || soon;
    }
    lock.lock();
    ticks_ = ticks_ || soon;
  }
}

}  // namespace tutti
