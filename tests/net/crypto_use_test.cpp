#include "net/crypto_use.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "net/secret.hpp"
#include "support/forked_child.hpp"
#include "support/sanitizer.hpp"

namespace tutti::test {
namespace {

// Without CryptoUse one of these children waits forever for a lock of libcrypto.
TEST(CryptoUse, ForkedChildrenCanUseLibcrypto) {
  if (!can_fork_beside_threads) GTEST_SKIP() << "this sanitizer does not support these forks";
  std::atomic<bool> is_over{false};
  std::thread user([&] {
    while (!is_over) (void)Secret::random();
  });
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    ForkedChild child([] { return Secret::random().bytes.size() == 64 ? "" : "no secret"; });
    EXPECT_EQ(child.wait(), "") << "child " << i;
  }
  is_over = true;
  user.join();
}

}  // namespace
}  // namespace tutti::test
