#include "messages/messenger.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "support/eventually.hpp"
#include "transport/lone_port.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// An owner that takes its time to say whether to wait on for a message.
class SlowOwner final : public MessageOwner {
 public:
  [[nodiscard]] bool is_alarmed() const override { return true; }
  void check(const Message&, Clock::duration) override {
    if (!is_asked_.exchange(true)) asked_.set_value();
    answer_.get_future().wait();
    throw Error(ErrorCode::peer_lost, "it is gone");
  }
  [[nodiscard]] bool has_ended(std::uint32_t) const override { return false; }
  [[nodiscard]] bool has_revoked(std::uint32_t) const override { return false; }
  void note_failure(std::shared_ptr<Message>, std::exception_ptr) override { ++failures_; }

  void wait_until_asked() { asked_.get_future().wait(); }
  void answer() { answer_.set_value(); }
  [[nodiscard]] int failures() const { return failures_; }

 private:
  std::atomic<bool> is_asked_{false};
  std::promise<void> asked_;
  std::promise<void> answer_;
  std::atomic<int> failures_{0};
};

/// A connection fails when the port looks whether it can go on.
class FailingPort final : public LonePort {
 public:
  [[nodiscard]] Outlook progress(std::uint32_t, Clock::time_point) override {
    ++looks_;
    throw Error(ErrorCode::peer_lost, "rank 1 has closed the connection");
  }
  [[nodiscard]] int looks() const { return looks_; }

 private:
  std::atomic<int> looks_{0};
};

/// An owner that is never asked.
class QuietOwner final : public MessageOwner {
 public:
  [[nodiscard]] bool is_alarmed() const override { return false; }
  void check(const Message&, Clock::duration) override {}
  [[nodiscard]] bool has_ended(std::uint32_t) const override { return false; }
  [[nodiscard]] bool has_revoked(std::uint32_t) const override { return false; }
  void note_failure(std::shared_ptr<Message>, std::exception_ptr) override {}
};

/// Other messages may not need the connection: who does is found out by the next pass.
TEST(Messenger, OutlivesFailuresOfThePort) {
  auto own = std::make_unique<FailingPort>();
  const FailingPort& port = *own;
  Messenger messenger(std::move(own), {.self = 0, .members = 1});
  QuietOwner owner;
  const std::shared_ptr<Inbox> inbox = messenger.open({1, Rank{0}, {0}}, owner);
  int data = 0;
  const std::shared_ptr<Message> receive =
      Message::receiving({.data = &data, .bytes = sizeof(data), .from = 0});
  messenger.start(inbox, {&receive, 1}, false);
  EXPECT_TRUE(eventually([&] { return port.looks() > 2; })) << "in the background";
  const int before = port.looks();
  EXPECT_FALSE(messenger.wait_until(*inbox, *receive, Clock::now() + 20ms));
  EXPECT_GT(port.looks(), before) << "in a thread that waits";
  const int sent = 7;
  const std::shared_ptr<Message> send =
      Message::sending({.data = &sent, .bytes = sizeof(sent), .to = 0});
  messenger.start(inbox, {&send, 1}, false);
  EXPECT_TRUE(messenger.wait_until(*inbox, *receive, Clock::now() + 10s));
  EXPECT_EQ(data, sent);
  EXPECT_TRUE(messenger.close(*inbox, 0ms).empty());
}

/// A peer has announced a message without data, and takes no answer yet.
class BusyPort final : public LonePort {
 public:
  BusyPort() { request_.resize(1, {.kind = Packet::Kind::request, .context = 1, .id = 1}); }
  [[nodiscard]] std::size_t poll(std::span<const Rank>, std::span<std::byte>, const void** data,
                                 std::span<const Rank>) override {
    *data = request_.data();
    return request_.size() * sizeof(Packet);
  }
  void consume(std::span<const Rank>, std::size_t) override { request_.clear(); }
  [[nodiscard]] Posted post(std::span<const Send> sends) override {
    if (is_busy) return {};
    for (const Send& send : sends) sent_ += send.data.size();
    return {.sends = sends.size()};
  }
  [[nodiscard]] std::size_t sent() const { return sent_; }

  std::atomic<bool> is_busy{true};

 private:
  std::vector<Packet> request_;
  std::atomic<std::size_t> sent_{0};
};

/// Else its rank might do something else, and the sender would wait until its deadline.
TEST(Messenger, AReceiveWithoutDataIsDoneWhenItsSenderHasBeenAnswered) {
  auto own = std::make_unique<BusyPort>();
  BusyPort& port = *own;
  Messenger messenger(std::move(own), {.self = 0, .members = 2});
  QuietOwner owner;
  const std::shared_ptr<Inbox> inbox = messenger.open({1, Rank{0}, {0, 1}}, owner);
  const std::shared_ptr<Message> receive = Message::receiving({.from = 1});
  messenger.start(inbox, {&receive, 1}, false);
  EXPECT_FALSE(messenger.wait_until(*inbox, *receive, Clock::now() + 50ms));
  EXPECT_EQ(messenger.arrived(*inbox, 1), 1U);
  port.is_busy = false;
  EXPECT_TRUE(messenger.wait_until(*inbox, *receive, Clock::now() + 10s));
  EXPECT_EQ(port.sent(), sizeof(Packet));
  EXPECT_TRUE(messenger.close(*inbox, 0ms).empty());
}

/// A port whose thread sleeps until it is interrupted. What it sends is released when the test says
/// so.
class SleepyPort final : public LonePort {
 public:
  [[nodiscard]] Posted post(std::span<const Send> sends) override {
    for (const Send& send : sends) sent_ += send.data.size();
    return {.sends = sends.size()};
  }
  [[nodiscard]] std::size_t sent() const { return sent_; }
  [[nodiscard]] std::size_t unreleased(Rank) override { return is_released ? 0 : sent_.load(); }
  [[nodiscard]] Outlook progress(std::uint32_t, Clock::time_point) override {
    return Outlook::later;
  }
  void interrupt() override { is_awake_ = true; }
  void sleep(Clock::time_point deadline) override {
    ++sleeps;
    while (!is_awake_.exchange(false) && Clock::now() < deadline) {
      std::this_thread::sleep_for(1ms);
    }
  }

  std::atomic<bool> is_released{false};
  std::atomic<int> sleeps{0};

 private:
  std::atomic<bool> is_awake_{false};
  std::atomic<std::size_t> sent_{0};
};

/// An owner whose sends fail as soon as it is asked, once their receiver has left.
class LeftOwner final : public MessageOwner {
 public:
  [[nodiscard]] bool is_alarmed() const override { return is_left; }
  void check(const Message& message, Clock::duration) override {
    if (is_left && message.kind == Message::Kind::send)
      throw Error(ErrorCode::peer_lost, "it has left");
  }
  [[nodiscard]] bool has_ended(std::uint32_t) const override { return false; }
  [[nodiscard]] bool has_revoked(std::uint32_t) const override { return false; }
  void note_failure(std::shared_ptr<Message>, std::exception_ptr) override { ++failures; }

  std::atomic<bool> is_left{false};
  std::atomic<int> failures{0};
};

/// The receiver has taken it and left, and the thread that would notice sleeps.
TEST(Messenger, ASendThatWasTakenOutlivesItsReceiver) {
  auto own = std::make_unique<SleepyPort>();
  SleepyPort& port = *own;
  Messenger messenger(std::move(own), {.self = 0, .members = 2});
  LeftOwner owner;
  const std::shared_ptr<Inbox> inbox = messenger.open({1, Rank{0}, {0, 1}}, owner);
  const std::shared_ptr<Message> receive = Message::receiving({.from = 1});
  messenger.start(inbox, {&receive, 1}, true);
  auto waiting = std::async(std::launch::async, [&] {
    return messenger.wait_until(*inbox, *receive, Clock::now() + 1s);
  });
  const int data = 7;
  const std::shared_ptr<Message> send =
      Message::sending({.data = &data, .bytes = sizeof(data), .to = 1});
  EXPECT_TRUE(eventually([&] { return port.sleeps > 0; }));
  const int before = port.sleeps;
  messenger.start(inbox, {&send, 1}, false);
  EXPECT_TRUE(eventually([&] { return port.sent() > 0 && port.sleeps > before; }));
  port.is_released = true;
  owner.is_left = true;
  EXPECT_TRUE(eventually([&] { return send->is_done() || owner.failures > 0; }));
  EXPECT_EQ(owner.failures, 0);
  EXPECT_TRUE(send->is_done());
  messenger.interrupt();
  EXPECT_FALSE(waiting.get());
  (void)messenger.close(*inbox, 0ms);
}

/// A communicator is destroyed when its inbox is closed, and the background task may be asking it.
TEST(Messenger, ClosesAnInboxOnlyWhenItsOwnerIsNotBeingAsked) {
  Messenger messenger(std::make_unique<LonePort>(), {.self = 0, .members = 1});
  SlowOwner owner;
  const std::shared_ptr<Inbox> inbox = messenger.open({1, Rank{0}, {0}}, owner);
  int data = 0;
  const std::shared_ptr<Message> receive =
      Message::receiving({.data = &data, .bytes = sizeof(data), .from = 0});
  messenger.start(inbox, {&receive, 1}, false);
  owner.wait_until_asked();
  auto closed = std::async(std::launch::async, [&] { return messenger.close(*inbox, 0ms); });
  EXPECT_EQ(closed.wait_for(50ms), std::future_status::timeout) << "the owner is still being asked";
  owner.answer();
  const std::vector<std::shared_ptr<Message>> unfinished = closed.get();
  ASSERT_EQ(unfinished.size(), 1U);
  EXPECT_EQ(unfinished.front(), receive);
  EXPECT_EQ(owner.failures(), 0) << "the one who closes the inbox completes its messages";
  messenger.fail(*receive, std::make_exception_ptr(Error(ErrorCode::aborted, "closed")));
}

}  // namespace
}  // namespace tutti::test
