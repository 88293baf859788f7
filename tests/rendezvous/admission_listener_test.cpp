#include "rendezvous/admission_listener.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "rendezvous/invitation.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

const Secret door_secret{.bytes = "s"};

TEST(AdmissionListener, SendsTicketsToNewcomers) {
  AdmissionListener listener(Endpoint::parse("127.0.0.1:0"), door_secret);
  std::string ticket;
  std::thread newcomer([&] {
    ticket = request_admission(listener.endpoint(), door_secret, Clock::now() + 10s)->ticket();
  });
  EXPECT_EQ(listener.wait_for(1, Clock::now() + 10s), 1U);
  listener.admit({"ticket 1"});
  newcomer.join();
  EXPECT_EQ(ticket, "ticket 1");
}

TEST(AdmissionListener, ConfirmsThatNewcomersAreThereAndNoticesWhenTheyGo) {
  AdmissionListener listener(Endpoint::parse("127.0.0.1:0"), door_secret);
  std::unique_ptr<Invitation> invitation;
  std::thread newcomer([&] {
    invitation = request_admission(listener.endpoint(), door_secret, Clock::now() + 10s);
  });
  EXPECT_EQ(listener.wait_for(1, Clock::now() + 10s), 1U);
  EXPECT_EQ(listener.confirm(1), 1U);
  EXPECT_EQ(listener.confirm(1), 1U);
  listener.admit({"ticket 1"});
  newcomer.join();
  EXPECT_EQ(listener.trouble_of_admitted(), "");
  invitation.reset();
  EXPECT_TRUE(eventually([&] { return !listener.trouble_of_admitted().empty(); }));
}

TEST(AdmissionListener, DropsANewcomerThatDoesNotAnswer) {
  AdmissionListener listener(Endpoint::parse("127.0.0.1:0"), door_secret);
  const pid_t newcomer = fork();
  if (newcomer == 0) {
    try {
      (void)request_admission(listener.endpoint(), door_secret, Clock::now() + 20s);
    } catch (const Error&) {
    }
    _exit(0);
  }
  EXPECT_EQ(listener.wait_for(1, Clock::now() + 10s), 1U);
  kill(newcomer, SIGSTOP);
  int status = 0;
  waitpid(newcomer, &status, WUNTRACED);
  const Clock::time_point begin = Clock::now();
  EXPECT_EQ(listener.confirm(1), 0U);
  EXPECT_LT(Clock::now() - begin, 2s);
  // It asks again when it runs again.
  kill(newcomer, SIGCONT);
  EXPECT_EQ(listener.wait_for(1, Clock::now() + 10s), 1U);
  EXPECT_EQ(listener.confirm(1), 1U);
  kill(newcomer, SIGKILL);
  waitpid(newcomer, &status, 0);
}

/// They send nothing and stay, and more of them keep connecting.
TEST(AdmissionListener, IsNotDelayedByUnauthenticatedPeers) {
  AdmissionListener listener(Endpoint::parse("127.0.0.1:0"), door_secret);
  std::vector<Socket> silent_peers;
  for (int i = 0; i < 400; ++i) silent_peers.push_back(begin_connect(listener.endpoint()));
  std::atomic<bool> is_over{false};
  std::thread more([&] {
    while (!is_over) {
      silent_peers.push_back(begin_connect(listener.endpoint()));
      std::this_thread::sleep_for(20ms);
    }
  });
  const Clock::time_point begin = Clock::now();
  EXPECT_EQ(listener.wait_for(1, begin), 0U);
  EXPECT_LT(Clock::now() - begin, 3s);
  // A newcomer is still admitted.
  std::string ticket;
  std::thread newcomer([&] {
    ticket = request_admission(listener.endpoint(), door_secret, Clock::now() + 10s)->ticket();
  });
  EXPECT_EQ(listener.wait_for(1, Clock::now() + 10s), 1U);
  is_over = true;
  more.join();
  listener.admit({"ticket 1"});
  newcomer.join();
  EXPECT_EQ(ticket, "ticket 1");
}

TEST(AdmissionListener, RejectsOtherUsersOfTheHost) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  AdmissionListener listener(
      Endpoint::within_host("tutti/test/admission/" + std::to_string(getpid())), {});
  const pid_t pid = fork();
  if (pid == 0) {
    if (setuid(65534) != 0) _exit(1);
    const Socket socket = begin_connect(listener.endpoint());
    char byte = 0;
    fcntl(socket.fd(), F_SETFL, 0);
    _exit(recv(socket.fd(), &byte, 1, 0) == 0 ? 0 : 2);
  }
  EXPECT_EQ(listener.wait_for(1, Clock::now() + 300ms), 0U);
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "it was not rejected at once";
}

TEST(AdmissionListener, NeedsASecretWhereOtherHostsCanConnect) {
  expect_error([] { AdmissionListener(Endpoint::parse("0.0.0.0:0"), {}); },
               ErrorCode::invalid_argument, "TUTTI_SECRET");
}

}  // namespace
}  // namespace tutti::test
