#include "rendezvous/admission_listener.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

const Secret secret{.bytes = "s"};

TEST(AdmissionListener, HandsTicketsToThoseWhoKnock) {
  AdmissionListener door(Endpoint::parse("127.0.0.1:0"), secret);
  std::string ticket;
  std::thread newcomer(
      [&] { ticket = request_admission(door.endpoint(), secret, Clock::now() + 10s); });
  EXPECT_EQ(door.wait_for(1, Clock::now() + 10s), 1U);
  door.hand_out({"come in"});
  newcomer.join();
  EXPECT_EQ(ticket, "come in");
}

/// They say nothing and stay, and others like them keep coming.
TEST(AdmissionListener, IsNotHeldOpenByStrangers) {
  AdmissionListener door(Endpoint::parse("127.0.0.1:0"), secret);
  std::vector<Socket> strangers;
  for (int i = 0; i < 400; ++i) strangers.push_back(begin_connect(door.endpoint()));
  std::atomic<bool> is_over{false};
  std::thread more([&] {
    while (!is_over) {
      strangers.push_back(begin_connect(door.endpoint()));
      std::this_thread::sleep_for(20ms);
    }
  });
  const Clock::time_point begin = Clock::now();
  EXPECT_EQ(door.wait_for(1, begin), 0U);
  EXPECT_LT(Clock::now() - begin, 3s);
  // And a newcomer gets in among them.
  std::string ticket;
  std::thread newcomer(
      [&] { ticket = request_admission(door.endpoint(), secret, Clock::now() + 10s); });
  EXPECT_EQ(door.wait_for(1, Clock::now() + 10s), 1U);
  is_over = true;
  more.join();
  door.hand_out({"come in"});
  newcomer.join();
  EXPECT_EQ(ticket, "come in");
}

TEST(AdmissionListener, IsClosedToOtherUsersOfTheHost) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  AdmissionListener door(Endpoint::within_host("tutti/test/door/" + std::to_string(getpid())), {});
  const pid_t pid = fork();
  if (pid == 0) {
    if (setuid(65534) != 0) _exit(1);
    const Socket socket = begin_connect(door.endpoint());
    char byte = 0;
    fcntl(socket.fd(), F_SETFL, 0);
    _exit(recv(socket.fd(), &byte, 1, 0) == 0 ? 0 : 2);
  }
  EXPECT_EQ(door.wait_for(1, Clock::now() + 300ms), 0U);
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "it was not turned away at once";
}

TEST(AdmissionListener, IsNotOpenedToOtherHostsWithoutASecret) {
  expect_error([] { AdmissionListener(Endpoint::parse("0.0.0.0:0"), {}); },
               ErrorCode::invalid_argument, "TUTTI_SECRET");
}

}  // namespace
}  // namespace tutti::test
