// What every port promises, checked on every transport of the table, on a mixture, and on one that
// is as unfriendly as the contract permits.
#include <atomic>
#include <cstring>
#include <map>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "support/errors.hpp"
#include "support/port_group.hpp"
#include "support/port_streams.hpp"
#include "support/random.hpp"
#include "support/sanitizer.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

class EveryPort : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Transports, EveryPort, ::testing::ValuesIn(port_group_kinds()),
                         [](const auto& each) { return each.param; });

constexpr std::uint32_t call = 42;

void begin_all(PortGroup& group) {
  for (std::uint32_t r = 0; r < group.size(); ++r) {
    group.port(r).begin(call, {});
  }
}

std::vector<std::byte> noise(std::uint64_t seed, std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  Random random(seed);
  for (std::byte& each : data) each = static_cast<std::byte>(random.below(256U));
  return data;
}

/// What every rank sends, which every rank knows.
class Traffic {
 public:
  struct Message {
    std::vector<Rank> to{};
    std::vector<std::byte> data{};
  };

  Traffic(PortGroup& group, std::size_t messages) : sent_(group.size()) {
    const std::uint32_t ranks = group.size();
    for (std::uint32_t from = 0; from < ranks; ++from) {
      Random random(from + 1);
      for (std::size_t i = 0; i < messages; ++i) {
        Message& message = sent_[from].emplace_back();
        std::vector<std::uint32_t> others;
        for (std::uint32_t r = 0; r < ranks; ++r) {
          if (r != from) others.push_back(r);
        }
        random.shuffle(others);
        message.to.emplace_back(others[0]);
        // All peers of a send are in one lane.
        const std::vector<std::uint32_t>& lanes = group.port(from).lanes();
        const bool joins = ranks > 2 && (lanes.empty() || lanes[others[0]] == lanes[others[1]]);
        if (joins && random.one_in(4)) message.to.emplace_back(others[1]);
        message.data = noise(random.bits(), random.pick(lengths));
      }
    }
  }

  [[nodiscard]] const std::vector<Message>& from(std::uint32_t rank) const { return sent_[rank]; }
  /// The messages from one rank to another.
  [[nodiscard]] std::vector<const std::vector<std::byte>*> between(std::uint32_t from,
                                                                   std::uint32_t to) const {
    std::vector<const std::vector<std::byte>*> found;
    for (const Message& message : sent_[from]) {
      for (const Rank rank : message.to) {
        if (rank == to) found.push_back(&message.data);
      }
    }
    return found;
  }

 private:
  /// Around what fits a descriptor, a line, a slot of a ring and of the outbox, and a frame.
  const std::vector<std::size_t> lengths{1,    4,    47,   48,   49,   64,   100,   600,   1023,
                                         1024, 1025, 2047, 2048, 4096, 8200, 65536, 70000, 200001};
  std::vector<std::vector<Message>> sent_;
};

/// Sends a rank's messages, as far as the port takes them.
class Sender {
 public:
  Sender(Port& port, const std::vector<Traffic::Message>& messages)
      : port_(port), messages_(messages) {}

  [[nodiscard]] bool is_done() const { return next_ == messages_.size(); }

  /// True if something was taken. Posts up to four messages at once, if they have different peers.
  bool go_on(Random& random) {
    std::vector<Port::Send> batch;
    std::vector<Rank> named;
    const std::size_t most = 1 + random.below(4U);
    for (std::size_t i = next_; i < messages_.size() && batch.size() < most; ++i) {
      const Traffic::Message& message = messages_[i];
      if (!may_join(message, named)) break;
      named.insert(named.end(), message.to.begin(), message.to.end());
      const std::size_t done = batch.empty() ? done_ : 0;
      batch.push_back({.peers = message.to,
                       .data = std::span(message.data).subspan(done),
                       .message = message.data.size()});
    }
    if (batch.empty()) return false;
    const Port::Posted posted = port_.post(batch);
    EXPECT_LE(posted.sends, batch.size());
    if (posted.bytes > 0) {
      EXPECT_LT(posted.sends, batch.size());
      EXPECT_EQ(posted.bytes % 64, 0U);
    }
    if (posted.sends > 0) done_ = 0;
    next_ += posted.sends;
    done_ += posted.bytes;
    return posted.sends > 0 || posted.bytes > 0;
  }

 private:
  [[nodiscard]] bool may_join(const Traffic::Message& message,
                              const std::vector<Rank>& named) const {
    return std::none_of(message.to.begin(), message.to.end(), [&](Rank rank) {
      return std::find(named.begin(), named.end(), rank) != named.end();
    });
  }

  Port& port_;
  const std::vector<Traffic::Message>& messages_;
  std::size_t next_ = 0;
  std::size_t done_ = 0;  // Of the next one.
};

/// Receives the messages from one rank, and compares them.
class Receiver {
 public:
  Receiver(Port& port, Rank peer, std::vector<const std::vector<std::byte>*> messages)
      : port_(port), peer_(peer), messages_(std::move(messages)) {}

  [[nodiscard]] bool is_done() const { return next_ == messages_.size(); }

  /// True if something came. Takes it where it is, or has it moved; all of it, or some.
  bool go_on(Random& random) {
    if (is_done()) return false;
    const std::vector<std::byte>& wanted = *messages_[next_];
    std::vector<std::byte> buffer(wanted.size() - done_);
    const void* data = nullptr;
    const bool moves = random.one_in(2);
    const std::size_t found =
        port_.poll({&peer_, 1}, moves ? std::span(buffer) : std::span<std::byte>{}, &data, {});
    if (found == 0) return false;
    std::size_t taken = std::min(found, buffer.size());
    // What arrives ends with an element, or with what was posted.
    EXPECT_TRUE((done_ + taken) % 64 == 0 || done_ + taken == wanted.size());
    if (!(moves && data == buffer.data()) && taken > 64 && random.one_in(3)) taken = 64;
    EXPECT_EQ(std::memcmp(data, wanted.data() + done_, taken), 0)
        << "message " << next_ << " from rank " << peer_ << ", from byte " << done_;
    port_.consume({&peer_, 1}, taken);
    done_ += taken;
    if (done_ == wanted.size()) {
      ++next_;
      done_ = 0;
    }
    return true;
  }

 private:
  Port& port_;
  Rank peer_;
  std::vector<const std::vector<std::byte>*> messages_;
  std::size_t next_ = 0;
  std::size_t done_ = 0;
};

void exchange(PortGroup& group, const Traffic& traffic, std::uint32_t self) {
  Port& port = group.port(self);
  Random random(self + 100);
  Sender sender(port, traffic.from(self));
  std::vector<Receiver> receivers;
  for (std::uint32_t peer = 0; peer < group.size(); ++peer) {
    if (peer != self) receivers.emplace_back(port, peer, traffic.between(peer, self));
  }
  const Clock::time_point deadline = Clock::now() + 60s;
  const auto is_over = [&] {
    if (!sender.is_done()) return false;
    for (std::uint32_t peer = 0; peer < group.size(); ++peer) {
      if (peer != self && port.unreleased(peer) > 0) return false;
    }
    return std::all_of(receivers.begin(), receivers.end(),
                       [](const Receiver& each) { return each.is_done(); });
  };
  std::uint32_t idle = 0;
  while (!is_over()) {
    ASSERT_LT(Clock::now(), deadline);
    bool moved = sender.go_on(random);
    for (Receiver& each : receivers) moved = each.go_on(random) || moved;
    idle = moved ? 0 : idle + 1;
    if (!moved) port.wait(idle, deadline);
  }
}

/// Batches, sends to several peers, messages of all lengths, received in any order and in parts.
TEST_P(EveryPort, CarriesAllStreamsInOrder) {
  for (const std::uint32_t ranks : {2U, 4U}) {
    PortGroup group(GetParam(), ranks);
    begin_all(group);
    const Traffic traffic(group, is_sanitized ? 40 : 120);
    group.all([&](std::uint32_t self) { exchange(group, traffic, self); });
  }
}

/// Several peers at once: the port says how many bytes have come from all of them.
TEST_P(EveryPort, PollsSeveralPeersAtOnce) {
  PortGroup group(GetParam(), 3);
  begin_all(group);
  const std::vector<std::byte> one = noise(1, 5000);
  const std::vector<std::byte> two = noise(2, 5000);
  const Clock::time_point deadline = Clock::now() + 60s;
  group.all([&](std::uint32_t self) {
    Port& port = group.port(self);
    if (self > 0) {
      const std::vector<std::byte>& data = self == 1 ? one : two;
      std::size_t sent = 0;
      std::uint32_t idle = 0;
      while (sent < data.size() || port.unreleased(Rank{0}) > 0) {
        const std::size_t some =
            sent < data.size() ? send(port, Rank{0}, std::span(data).subspan(sent)) : 0;
        sent += some;
        if (some == 0) port.wait(++idle, deadline);
      }
      return;
    }
    const std::vector<Rank> peers{Rank{1}, Rank{2}};
    std::size_t done = 0;
    std::uint32_t idle = 0;
    while (done < one.size()) {
      std::vector<const void*> data(2);
      const std::size_t found = port.poll(peers, {}, data.data(), {});
      if (found == 0) {
        port.wait(++idle, deadline);
        continue;
      }
      idle = 0;
      ASSERT_LE(done + found, one.size());
      ASSERT_EQ(std::memcmp(data[0], one.data() + done, found), 0);
      ASSERT_EQ(std::memcmp(data[1], two.data() + done, found), 0);
      port.consume(peers, found);
      done += found;
    }
  });
}

TEST_P(EveryPort, RefusesDataOfAnotherCall) {
  PortGroup group(GetParam(), 2);
  group.port(0).begin(1, {});
  group.port(1).begin(2, {});
  const std::vector<std::byte> data = noise(1, 100);
  const Clock::time_point deadline = Clock::now() + 30s;
  std::atomic<bool> is_over = false;
  group.all([&](std::uint32_t self) {
    Port& port = group.port(self);
    std::uint32_t idle = 0;
    if (self == 0) {
      while (send(port, Rank{1}, data) == 0) port.wait(++idle, deadline);
      while (!is_over && Clock::now() < deadline)
        port.wait_until(++idle, Clock::now() + 1ms, deadline);
      return;
    }
    try {
      while (arrived(port, Rank{0}).empty()) {
        ASSERT_LT(Clock::now(), deadline);
        port.wait(++idle, deadline);
      }
      ADD_FAILURE() << "data of another call was returned";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::mismatch) << error.what();
    }
    is_over = true;
  });
}

/// MPI's progress needs it: a thread that waits for one thing goes on with others meanwhile.
TEST_P(EveryPort, RunsAHookWhileItWaits) {
  PortGroup group(GetParam(), 2);
  begin_all(group);
  Port& port = group.port(0);
  int calls = 0;
  std::thread::id ran_in;
  port.set_hook([&] {
    ++calls;
    ran_in = std::this_thread::get_id();
    return Clock::duration(2ms);
  });
  // Nothing comes. No sleep is longer than the hook allows, though the deadline is far away.
  std::uint32_t idle = 0;
  int sleeps = 0;
  const Clock::time_point end = Clock::now() + 20s;
  while (sleeps < 20 && Clock::now() < end) {
    EXPECT_TRUE(arrived(port, Rank{1}).empty());
    if (port.wait(++idle, Clock::now() + 60s)) ++sleeps;
  }
  EXPECT_EQ(sleeps, 20);
  EXPECT_GE(calls, sleeps);
  EXPECT_EQ(ran_in, std::this_thread::get_id());
  port.set_hook({});
  const int before = calls;
  for (int i = 0; i < 40; ++i) port.wait_until(++idle, Clock::now(), Clock::now() + 60s);
  EXPECT_EQ(calls, before);
}

TEST_P(EveryPort, IsInterruptedByAnotherThread) {
  PortGroup group(GetParam(), 2);
  begin_all(group);
  Port& port = group.port(0);
  std::atomic<bool> is_over = false;
  const Clock::time_point begun = Clock::now();
  std::thread waiting([&] {
    std::uint32_t idle = 0;
    while (!is_over) {
      EXPECT_TRUE(arrived(port, Rank{1}).empty());
      port.wait(++idle, Clock::now() + 30s);
    }
  });
  std::this_thread::sleep_for(20ms);
  is_over = true;
  port.interrupt();
  waiting.join();
  EXPECT_LT(Clock::now() - begun, 20s);
}

/// Looking does not wait, and finds what has come.
TEST_P(EveryPort, LooksWithoutWaiting) {
  PortGroup group(GetParam(), 2);
  begin_all(group);
  const Clock::time_point begun = Clock::now();
  for (int i = 0; i < 20; ++i) group.port(0).notice_arrivals();
  EXPECT_LT(Clock::now() - begun, 10s);
}

/// Data that one communicator does not receive never delays another.
TEST_P(EveryPort, SharesNothingThatBlocksAnother) {
  // A port may read what was not received until it is destroyed.
  const std::vector<std::byte> data = noise(3, 10000);
  PortGroup group(GetParam(), 2);
  begin_all(group);
  const std::vector<std::unique_ptr<Port>> others = group.another();
  for (const auto& port : others) port->begin(call, {});
  const Clock::time_point deadline = Clock::now() + 60s;
  group.all([&](std::uint32_t self) {
    const Rank peer{1 - self};
    Port& busy = group.port(self);
    Port& port = *others[self];
    // As much as the first communicator takes: at most for a while, since nobody receives it.
    int refused = 0;
    for (int i = 0; i < 2000 && refused < 50; ++i) {
      if (send(busy, peer, std::span(data).first(1000)) == 0) {
        ++refused;
        busy.notice_arrivals();
      }
    }
    std::vector<std::byte> received(data.size());
    std::size_t sent = 0;
    std::size_t done = 0;
    std::uint32_t idle = 0;
    while (sent < data.size() || done < data.size() || port.unreleased(peer) > 0) {
      ASSERT_LT(Clock::now(), deadline);
      std::size_t moved = 0;
      if (sent < data.size()) moved += send(port, peer, std::span(data).subspan(sent));
      sent += moved;
      if (done < data.size()) {
        const std::size_t some = receive(port, peer, std::span(received).subspan(done));
        done += some;
        moved += some;
      }
      idle = moved > 0 ? 0 : idle + 1;
      if (moved == 0) port.wait(idle, deadline);
    }
    EXPECT_EQ(received, data);
  });
}

/// A rank gives up while others may be reading its memory. What they get is what was sent, or an
/// error; and in the end nobody reads it.
TEST_P(EveryPort, GivesUpWithoutAWrongByte) {
  for (const std::size_t length : {std::size_t{3000}, std::size_t{300'000}}) {
    PortGroup group(GetParam(), 2);
    begin_all(group);
    const std::vector<std::byte> wanted = noise(4, length);
    std::vector<std::byte> memory = wanted;
    const Clock::time_point deadline = Clock::now() + 30s;
    std::atomic<bool> has_given_up = false;
    group.all([&](std::uint32_t self) {
      Port& port = group.port(self);
      std::uint32_t idle = 0;
      if (self == 0) {
        std::size_t sent = 0;
        while (sent == 0 && Clock::now() < deadline) {
          sent = send(port, Rank{1}, memory);
          if (sent == 0) port.wait(++idle, deadline);
        }
        port.revoke();
        port.copy_unreleased(Rank{1});
        port.abandon();
        EXPECT_FALSE(port.is_exposed([](Rank) { return true; }));
        // The other rank may be reading, and then learns that it is in vain: a race that is meant.
        if (sanitizer != "thread") std::fill(memory.begin(), memory.end(), std::byte{0xEE});
        has_given_up = true;
        return;
      }
      std::size_t done = 0;
      try {
        while (done < length && !(has_given_up && idle > 400)) {
          const std::span<const std::byte> data = arrived(port, Rank{0});
          if (data.empty()) {
            port.wait_until(++idle, Clock::now() + 1ms, deadline);
            continue;
          }
          const std::vector<std::byte> copy(data.begin(), data.end());
          consume(port, Rank{0}, copy.size());
          ASSERT_LE(done + copy.size(), length);
          ASSERT_EQ(std::memcmp(copy.data(), wanted.data() + done, copy.size()), 0);
          done += copy.size();
          idle = 0;
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::peer_lost) << error.what();
      }
    });
  }
}

}  // namespace
}  // namespace tutti::test
