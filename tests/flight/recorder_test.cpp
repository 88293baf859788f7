#include "flight/recorder.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "flight/black_box.hpp"
#include "support/sanitizer.hpp"

namespace tutti::test {
namespace {

using State = FlightRecord::State;

FlightCall allreduce(std::uint64_t count) {
  return {.kind = FlightKind::allreduce,
          .dtype = DType::f32,
          .signature = static_cast<std::uint32_t>(count),
          .count = count,
          .bytes = 4 * count,
          .algorithm = "allreduce/ring"};
}

TEST(FlightKind, HasTheNumbersOfCollective) {
  for (const Collective collective : collectives()) {
    EXPECT_EQ(name(flight_kind(collective)), name(collective));
    EXPECT_EQ(collective_of(flight_kind(collective)), collective);
    EXPECT_EQ(find_flight_kind(name(collective)), flight_kind(collective));
  }
  EXPECT_EQ(find_flight_kind("send_receive"), FlightKind::send_receive);
  EXPECT_EQ(collective_of(FlightKind::send), std::nullopt);
  EXPECT_EQ(find_flight_kind("allreduces"), std::nullopt);
}

TEST(FlightRecord, HasReadableText) {
  FlightRecord record{.number = 17, .call = allreduce(1048576), .site = FlightSite("step 12")};
  EXPECT_EQ(words(record),
            "call 17, allreduce of 1048576 f32 by sum (allreduce/ring), at 'step 12'");
  record.site = {};
  record.call.is_custom = true;
  record.call.kind = FlightKind::reduce;
  record.call.root = 3;
  record.call.count = FlightCall::with_counts;
  record.call.algorithm = "";
  EXPECT_EQ(words(record), "call 17, reduce with counts, of f32 by a custom function, root 3");
  record.call = {.kind = FlightKind::barrier, .algorithm = "barrier/dissemination"};
  EXPECT_EQ(words(record), "call 17, barrier (barrier/dissemination)");
  record.call = {.kind = FlightKind::send_receive, .root = 1, .from = 2, .count = 16, .bytes = 1};
  EXPECT_EQ(words(record),
            "message 17, send of 1 byte to rank 1 and receive of 16 bytes from rank 2");
  record.call.kind = FlightKind::receive;
  EXPECT_EQ(words(record), "message 17, receive of 16 bytes from rank 2");
}

TEST(FlightRecorder, RecordsTheStateOfACall) {
  FlightRecorder recorder({.communicator = 7, .name = "world", .self = Rank{2}, .ranks = 4});
  EXPECT_EQ(recorder.latest(), std::nullopt);
  EXPECT_TRUE(recorder.all().empty());
  recorder.begin(1, allreduce(10), "step 12");
  recorder.note_wait({.rank = 3, .round = 5, .bytes_done = 24});
  std::optional<FlightRecord> record = recorder.latest();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->number, 1U);
  EXPECT_EQ(record->state, State::running);
  EXPECT_EQ(record->ended_ns, 0U);
  EXPECT_EQ(record->site.text(), "step 12");
  EXPECT_EQ(record->call.count, 10U);
  EXPECT_EQ(std::string(record->call.algorithm), "allreduce/ring");
  ASSERT_TRUE(record->wait);
  EXPECT_EQ(*record->wait, (FlightRecord::Wait{.rank = 3, .round = 5, .bytes_done = 24}));
  recorder.end();
  EXPECT_EQ(recorder.latest()->state, State::done);

  recorder.begin(2, allreduce(20));
  recorder.fail();
  recorder.note_failure("rank 3 is gone");
  recorder.fail();
  recorder.note_failure("and so am I");
  record = recorder.latest();
  EXPECT_EQ(record->state, State::failed);
  EXPECT_GE(record->ended_ns, record->begun_ns);
  EXPECT_EQ(record->site.text(), "");
  EXPECT_EQ(record->wait, std::nullopt);
  EXPECT_EQ(recorder.failure(), "rank 3 is gone");
}

TEST(FlightRecorder, RecordsFailureBeforeAnyCall) {
  FlightRecorder recorder({});
  recorder.fail();
  recorder.note_failure("no peer connected");
  EXPECT_EQ(recorder.failure(), "no peer connected");
  EXPECT_TRUE(recorder.all().empty());
}

TEST(FlightRecorder, KeepsTheLastRecords) {
  FlightRecorder recorder({}, 4);
  for (std::uint64_t number = 1; number <= 11; ++number) {
    recorder.begin(number, allreduce(number));
    recorder.end();
    // A point-to-point message with the same number as a collective.
    if (number == 10) {
      recorder.begin(number, {.kind = FlightKind::send, .bytes = 1});
      recorder.end();
    }
  }
  std::vector<std::uint64_t> numbers;
  for (const FlightRecord& record : recorder.all()) numbers.push_back(record.number);
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{9, 10, 10, 11}));
  ASSERT_TRUE(recorder.find(10));
  EXPECT_EQ(recorder.find(10)->call.kind, FlightKind::allreduce);
  EXPECT_EQ(recorder.find(8), std::nullopt);
  EXPECT_EQ(recorder.find(12), std::nullopt);
}

TEST(FlightRecorder, TruncatesLongTexts) {
  FlightRecorder recorder({});
  recorder.begin(1, allreduce(1), std::string(100, 'x'));
  EXPECT_EQ(recorder.latest()->site.text(), std::string(31, 'x'));
  recorder.fail();
  recorder.note_failure(std::string(5000, 'y'));
  EXPECT_EQ(recorder.failure(), std::string(1000, 'y'));
}

TEST(FlightRecorder, UsesTheSteadyClock) {
  const auto steady = [] { return TickMoment::now().steady_ns; };
  FlightRecorder recorder({});
  const std::uint64_t before = steady();
  recorder.begin(1, allreduce(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  recorder.end();
  const std::uint64_t after = steady();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const FlightRecord record = recorder.latest().value();
  constexpr std::uint64_t slack = 100'000;
  EXPECT_GE(record.begun_ns + slack, before);
  EXPECT_LE(record.ended_ns, after + slack);
  EXPECT_GE(record.ended_ns - record.begun_ns + slack, 20'000'000U);
}

// Every record is consistent: all its fields were written by one call of begin().
TEST(FlightRecorder, SupportsConcurrentReaders) {
  FlightRecorder recorder({}, 8);
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> seen{0};
  const auto read = [&] {
    const auto check = [&](const FlightRecord& record) {
      ++seen;
      EXPECT_EQ(record.call.count, record.number * 3);
      EXPECT_EQ(record.call.bytes, record.number * 12);
      EXPECT_EQ(record.call.signature, static_cast<std::uint32_t>(record.number * 3));
      EXPECT_EQ(record.site.text(), std::to_string(record.number));
      EXPECT_STREQ(record.call.algorithm, "allreduce/ring");
    };
    while (!is_over) {
      for (const FlightRecord& record : recorder.all()) check(record);
      if (const auto record = recorder.latest()) check(*record);
    }
  };
  std::thread one(read);
  std::thread other(read);
  const std::uint64_t calls = is_sanitized ? 10'000 : 50'000;
  // On a busy machine the readers may start late.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (std::uint64_t number = 1;
       number <= calls || (seen < 100 && std::chrono::steady_clock::now() < end); ++number) {
    recorder.begin(number, allreduce(number * 3), std::to_string(number));
    if (number % 3 == 0) recorder.note_wait({.rank = 1});
    recorder.end();
    if (number % 64 == 0) std::this_thread::yield();
  }
  is_over = true;
  one.join();
  other.join();
  EXPECT_GT(seen, 0U);
}

// A call that is refused fails in the caller's thread while a worker records another call.
TEST(FlightRecorder, NotesAFailureWhileAnotherThreadRecords) {
  BlackBox box({}, {});
  std::thread recording([&] {
    for (std::uint64_t number = 1; number <= 1000; ++number) {
      box.recorder().begin(number, allreduce(number));
      box.recorder().end();
    }
  });
  box.fail("rank 3 is gone");
  recording.join();
  EXPECT_EQ(box.recorder().failure(), "rank 3 is gone");
  for (const FlightRecord& record : box.recorder().all()) EXPECT_EQ(record.state, State::done);
}

}  // namespace
}  // namespace tutti::test
