#include "rendezvous/pmi_exchange.hpp"

#include <sys/socket.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "net/socket.hpp"
#include "support/errors.hpp"
#include "support/forked_child.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// A launcher that speaks PMI-1 with some ranks, as Hydra does.
class Launcher {
 public:
  Launcher(std::uint32_t ranks, std::size_t longest_value, std::string init_answer = "")
      : longest_value_(longest_value), init_answer_(std::move(init_answer)), ends_(ranks) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      std::array<int, 2> fds{-1, -1};
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
      ends_[r] = Socket(fds[0]);
      sockets_.emplace_back(fds[1]);
    }
    for (std::uint32_t r = 0; r < ranks; ++r) {
      threads_.emplace_back([this, r] { serve(sockets_[r]); });
    }
  }
  ~Launcher() {
    // Ranks that still wait for the launcher see it go.
    for (const Socket& each : sockets_) shutdown(each.fd(), SHUT_RDWR);
    for (std::thread& each : threads_) each.join();
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  [[nodiscard]] int fd(std::uint32_t rank) const { return ends_[rank].fd(); }
  [[nodiscard]] int finalized() const { return finalized_; }
  [[nodiscard]] std::size_t keys() const { return values_.size(); }

 private:
  static std::string field(const std::string& line, const std::string& name) {
    const std::size_t begin = line.find(name + "=");
    if (begin == std::string::npos) return "";
    const std::size_t value = begin + name.size() + 1;
    return line.substr(value, line.find_first_of(" \n", value) - value);
  }

  void serve(const Socket& socket) {
    std::string text;
    std::array<char, 512> buffer{};
    for (;;) {
      const ssize_t count = recv(socket.fd(), buffer.data(), buffer.size(), 0);
      if (count <= 0) return;
      text.append(buffer.data(), static_cast<std::size_t>(count));
      for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
        answer(socket, text.substr(0, end + 1));
        text.erase(0, end + 1);
      }
    }
  }

  void answer(const Socket& socket, const std::string& line) {
    const std::string command = field(line, "cmd");
    const std::lock_guard lock(mutex_);
    if (command == "init") {
      say(socket, init_answer_.empty()
                      ? "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
                      : init_answer_);
    } else if (command == "get_maxes") {
      say(socket, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=" +
                      std::to_string(longest_value_) + "\n");
    } else if (command == "get_my_kvsname") {
      say(socket, "cmd=my_kvsname kvsname=space_1\n");
    } else if (command == "put") {
      const std::string value = field(line, "value");
      const bool fine = field(line, "kvsname") == "space_1" && value.size() < longest_value_ &&
                        field(line, "key").size() < 64 && !values_.contains(field(line, "key"));
      values_[field(line, "key")] = value;
      say(socket, fine ? "cmd=put_result rc=0 msg=success\n" : "cmd=put_result rc=-1 msg=no\n");
    } else if (command == "get") {
      const auto found = values_.find(field(line, "key"));
      say(socket, found == values_.end()
                      ? "cmd=get_result rc=-1 msg=key_not_found value=unknown\n"
                      : "cmd=get_result rc=0 msg=success value=" + found->second + "\n");
    } else if (command == "barrier_in") {
      if (++waiting_ < sockets_.size()) return;
      waiting_ = 0;
      for (const Socket& each : sockets_) say(each, "cmd=barrier_out\n");
    } else if (command == "finalize") {
      ++finalized_;
      say(socket, "cmd=finalize_ack\n");
    }
  }

  static void say(const Socket& socket, const std::string& line) {
    // In two pieces, as sockets may.
    const std::size_t half = line.size() / 2;
    (void)send(socket.fd(), line.data(), half, MSG_NOSIGNAL);
    (void)send(socket.fd(), line.data() + half, line.size() - half, MSG_NOSIGNAL);
  }

  std::size_t longest_value_;
  std::string init_answer_;
  std::vector<Socket> ends_;
  std::vector<Socket> sockets_;
  std::mutex mutex_;
  std::map<std::string, std::string> values_;
  std::size_t waiting_ = 0;
  std::atomic<int> finalized_ = 0;
  std::vector<std::thread> threads_;
};

TEST(PmiExchange, GathersContributionsInEveryRound) {
  const std::string odd("\0 =\n\xff", 5);
  for (const std::size_t longest : {std::size_t{64}, std::size_t{1024}}) {
    Launcher launcher(4, longest);
    std::vector<std::thread> threads;
    for (std::uint32_t r = 0; r < 4; ++r) {
      threads.emplace_back([&, r] {
        const auto session =
            std::make_shared<PmiSession>(launcher.fd(r), Rank(r), 4, Clock::now() + 10s);
        const auto contribution = [&](std::uint32_t rank, int round) {
          return round == 0 && rank == 0 ? ""
                                         : odd + std::string(rank * 1000, 'a') + char('0' + round);
        };
        for (int i = 0; i < 2; ++i) {
          PmiExchange exchange(session, Clock::now() + 10s);
          for (int round = 0; round < 2; ++round) {
            const auto all = exchange.all_gather(contribution(r, round));
            ASSERT_EQ(all.size(), 4U);
            for (std::uint32_t other = 0; other < 4; ++other) {
              ASSERT_EQ(all[other], contribution(other, round));
            }
          }
        }
      });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(launcher.finalized(), 4);
    EXPECT_EQ(launcher.keys() > 100, longest == 64);
  }
}

TEST(PmiExchange, TimesOut) {
  Launcher launcher(2, 1024);
  const auto session = std::make_shared<PmiSession>(launcher.fd(0), Rank(0), 2, Clock::now() + 10s);
  PmiExchange exchange(session, Clock::now() + 200ms);
  test::expect_error([&] { (void)exchange.all_gather("mine"); }, ErrorCode::timed_out,
                     "barrier_in");
}

TEST(PmiExchange, IsNotEndedByAForkedChild) {
  Launcher launcher(1, 1024);
  auto session = std::make_unique<PmiSession>(launcher.fd(0), Rank(0), 1, Clock::now() + 10s);
  test::ForkedChild child([&] {
    test::expect_error([&] { session->barrier(Clock::now() + 1s); }, ErrorCode::aborted, "forked");
    session.reset();
    return testing::Test::HasFailure() ? "the wrong error" : "";
  });
  EXPECT_EQ(child.wait(), "");
  EXPECT_EQ(launcher.finalized(), 0);
  session->barrier(Clock::now() + 10s);
  session.reset();
  EXPECT_EQ(launcher.finalized(), 1);
}

TEST(PmiExchange, RejectsAnotherProtocol) {
  Launcher launcher(1, 1024, "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=-1\n");
  test::expect_error([&] { PmiSession(launcher.fd(0), Rank(0), 1, Clock::now() + 1s); },
                     ErrorCode::unsupported, "PMI-1");
  Launcher narrow(1, 20);
  test::expect_error([&] { PmiSession(narrow.fd(0), Rank(0), 1, Clock::now() + 1s); },
                     ErrorCode::unsupported, "vallen_max");
}

TEST(PmiExchange, NoticesThatTheLauncherIsGone) {
  std::array<int, 2> fds{-1, -1};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
  const Socket ours(fds[0]);
  { const Socket theirs(fds[1]); }
  test::expect_error([&] { PmiSession(ours.fd(), Rank(3), 4, Clock::now() + 1s); },
                     ErrorCode::peer_lost, "rank 3");
}

}  // namespace
}  // namespace tutti
