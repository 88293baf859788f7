#include "api/call/point_to_point.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "api/failure/running_messages.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/tcp_ranks.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

/// A communicator whose other rank leaves when the test says so.
class FakeHost final : public MessageHost {
 public:
  void require_usable() override {}
  [[nodiscard]] bool is_alarmed() const override { return messages_of_leaver(0).has_value(); }
  [[nodiscard]] bool is_closed() const override { return false; }
  void inquire(std::uint32_t /*rank*/) override {}
  [[nodiscard]] std::optional<std::uint64_t> messages_of_leaver(
      std::uint32_t /*rank*/) const override {
    const std::int64_t sent = sent_by_leaver;
    return sent < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(sent));
  }
  [[nodiscard]] bool has_ended(std::uint32_t /*rank*/) const override { return false; }
  [[nodiscard]] bool has_revoked(std::uint32_t /*rank*/) const override { return false; }
  [[nodiscard]] Error settle_message(const Error& error, const std::string& /*what*/,
                                     std::vector<std::uint32_t> /*suspects*/) override {
    if (has_no_memory) throw std::bad_alloc();
    return error;
  }
  [[nodiscard]] Clock::duration usual_timeout() const override { return 20s; }

  std::atomic<std::int64_t> sent_by_leaver{-1};
  std::atomic<bool> has_no_memory{false};
};

/// Two ranks of one communicator, whose messages go over TCP.
class PointToPointOfTwo : public testing::Test {
 protected:
  struct One {
    One(TcpEnd& end, std::uint32_t rank)
        : messenger(end.another_port(2), {.self = rank, .members = 2}),
          membership{.context = 3, .self = rank, .members = {0, 1}} {
      messages.emplace(messenger, membership, host, running, recorder);
    }

    Messenger messenger;
    Membership membership;
    FakeHost host;
    RunningMessages running;
    FlightRecorder recorder{FlightOwner{}, 16};
    std::optional<PointToPoint> messages;
  };

  std::vector<std::unique_ptr<TcpEnd>> ends_ = tcp_transports(2, {.spins = 10, .yields = 20});
  One sender_{*ends_[1], 1};
  One receiver_{*ends_[0], 0};
  std::vector<int> data_ = std::vector<int>(100, 7);

  void send(std::uint32_t tag) {
    const Outgoing out{
        .data = data_.data(), .bytes = data_.size() * sizeof(int), .to = 0, .tag = tag};
    sender_.messages->run({&out, 1}, {}, {});
  }
  void receive(std::uint32_t tag) {
    std::vector<int> to(data_.size());
    const Incoming in{.data = to.data(), .bytes = to.size() * sizeof(int), .from = 1, .tag = tag};
    receiver_.messages->run({}, {&in, 1}, {});
    EXPECT_EQ(to, data_);
  }
};

TEST_F(PointToPointOfTwo, AMessageOfALeaverMayArriveAfterTheWordThatItHasLeft) {
  receiver_.host.sent_by_leaver = 1;
  const auto sent = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(1300ms);
    send(5);
  });
  receive(5);
}

TEST_F(PointToPointOfTwo, AReceiveFailsOnceAllMessagesOfALeaverHaveArrived) {
  auto sent = std::async(std::launch::async, [&] { send(5); });
  receiver_.host.sent_by_leaver = 1;
  expect_error([&] { receive(6); }, ErrorCode::peer_lost, "rank 1 has left the communicator");
  sent.get();
}

TEST_F(PointToPointOfTwo, AMessageMayBeTakenAfterTheWordThatItsReceiverHasLeft) {
  data_.resize(10000);  // It waits for its receive.
  auto sent = std::async(std::launch::async, [&] { send(5); });
  std::this_thread::sleep_for(1100ms);
  sender_.host.sent_by_leaver = 0;
  std::this_thread::sleep_for(100ms);
  receive(5);
  sent.get();
}

TEST_F(PointToPointOfTwo, ASendFailsIfALeaverDoesNotTakeIt) {
  data_.resize(10000);
  sender_.host.sent_by_leaver = 0;
  expect_error([&] { send(5); }, ErrorCode::peer_lost, "rank 0 has left the communicator");
}

TEST_F(PointToPointOfTwo, CountsTheMessagesThatItHasSent) {
  auto sent = std::async(std::launch::async, [&] {
    send(5);
    send(6);
  });
  receive(6);
  receive(5);
  sent.get();
  EXPECT_EQ(sender_.messages->finish(), (std::map<std::uint32_t, std::uint64_t>{{0, 2}}));
  EXPECT_EQ(receiver_.messages->finish(), (std::map<std::uint32_t, std::uint64_t>{}));
}

TEST_F(PointToPointOfTwo, AMessageBlocksItsRankOnlyWhileAThreadWaitsForIt) {
  const auto waits = [&] {
    RankStatus status;
    receiver_.running.describe(status);
    return status.waits;
  };
  std::vector<std::vector<int>> to(2 * RankStatus::most_waits, std::vector<int>(data_.size()));
  std::vector<Work> works;
  for (std::uint32_t tag = 0; tag < to.size(); ++tag) {
    const Incoming in{
        .data = to[tag].data(), .bytes = data_.size() * sizeof(int), .from = 1, .tag = tag};
    works.push_back(receiver_.messages->start({}, {&in, 1}, {}));
  }
  EXPECT_EQ(waits().size(), RankStatus::most_waits);
  EXPECT_FALSE(waits().front().blocks);
  {
    const auto waited = std::async(std::launch::async, [&] { works.back().wait(); });
    EXPECT_TRUE(eventually([&] { return waits().front().blocks; }));
    EXPECT_EQ(waits().front().tag, to.size() - 1) << "listed before all others";
    EXPECT_FALSE(waits().at(1).blocks);
    send(static_cast<std::uint32_t>(to.size()) - 1);
  }
  EXPECT_FALSE(waits().front().blocks);
  for (std::uint32_t tag = 0; tag + 1 < to.size(); ++tag) send(tag);
  for (const Work& work : works) work.wait();
  EXPECT_EQ(waits().size(), 0U);
}

TEST_F(PointToPointOfTwo, AnyExceptionEndsTheRecord) {
  receiver_.host.has_no_memory = true;
  std::vector<int> to(1);
  const Incoming in{.data = to.data(), .bytes = sizeof(int), .from = 1};
  EXPECT_THROW(receiver_.messages->run({}, {&in, 1}, {.timeout = 1ms}), std::bad_alloc);
  RankStatus status;
  receiver_.running.describe(status);
  EXPECT_EQ(status.waits.size(), 0U);
  ASSERT_TRUE(receiver_.recorder.latest().has_value());
  EXPECT_EQ(receiver_.recorder.latest()->state, FlightRecord::State::failed);
}

}  // namespace
}  // namespace tutti::test
