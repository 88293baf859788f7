// Forked children of a process whose memory was adopted.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/forked_child.hpp"
#include "transport/adoption.hpp"

namespace tutti::test {
namespace {

class AdoptionAndForks : public Adoption {};

/// Lets a forked child go on.
class Signal {
 public:
  Signal() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~Signal() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  void give() const { EXPECT_EQ(write(ends_[1], "x", 1), 1); }
  [[nodiscard]] bool await() const {
    char byte = 0;
    return read(ends_[0], &byte, 1) == 1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

TEST_F(AdoptionAndForks, AForkedChildHasACopy) {
  alone([] {
    const Memory memory = made(usual, 1);
    Memory freed = made(usual, 1);
    const std::span<std::byte> buffer(memory.get(), usual);
    ASSERT_NE(use(buffer).buffer(), nullptr);
    ASSERT_NE(use({freed.get(), usual}).buffer(), nullptr);
    freed.reset();
    const Signal go;
    ForkedChild child([&]() -> std::string {
      if (!go.await()) return "no sign of the parent";
      if (!all_are(buffer, 1)) return "the child sees what its parent has written";
      std::memset(buffer.data(), 3, usual);
      const pid_t grandchild = fork();
      if (grandchild == 0) _exit(all_are(buffer, 3) ? 0 : 1);
      int status = 1;
      waitpid(grandchild, &status, 0);
      return status == 0 ? "" : "the grandchild has other data";
    });
    std::memset(buffer.data(), 2, usual);
    go.give();
    EXPECT_EQ(child.wait(), "");
    EXPECT_TRUE(all_are(buffer, 2)) << "the child has written to its copy only";
  });
}

TEST_F(AdoptionAndForks, AForkedChildNeverSeesTheWritesOfItsParentEvenToLongBuffers) {
  alone([] {
    const std::size_t longest = (std::size_t{256} << 20) + usual;  // More than is copied at a fork.
    Memory memory = made(longest, 1);
    const Memory small = made(usual, 1);
    const std::span<std::byte> buffer(memory.get(), longest);
    const std::span<std::byte> other(small.get(), usual);
    ASSERT_NE(use(buffer).buffer(), nullptr);
    ASSERT_NE(use(other).buffer(), nullptr);
    const Signal go;
    ForkedChild child([&]() -> std::string {
      if (!go.await()) return "no sign of the parent";
      if (!all_are(buffer, 1) || !all_are(other, 1)) return "the child sees what its parent writes";
      std::memset(buffer.data(), 3, longest / 2);
      return "";
    });
    std::memset(buffer.data(), 2, longest);
    std::memset(other.data(), 2, usual);
    go.give();
    EXPECT_EQ(child.wait(), "");
    EXPECT_TRUE(all_are(buffer, 2));
    EXPECT_NE(adopted().hold(other).buffer(), nullptr) << "was copied";
    EXPECT_EQ(use(buffer, 100).buffer(), nullptr) << "a child may still need its pages of the file";
    ForkedChild second([&] { return all_are(buffer, 2) ? "" : "the second child has other data"; });
    EXPECT_EQ(second.wait(), "");
  });
}

TEST_F(AdoptionAndForks, ForksWhileThreadsUseTheHeapThatWasAdopted) {
  alone([] {
    use_heap();
    Memory memory = made(16 * usual, 1);
    ASSERT_NE(use({memory.get(), 16 * usual}).buffer(), nullptr);
    memory.reset();  // Into this place come what follows.
    std::atomic<bool> has_ended{false};
    std::atomic<int> wrong{0};
    // Blocks of all sizes, each filled with a value that is checked before it is freed.
    const auto churn = [&](unsigned seed, const auto& goes_on) {
      std::vector<std::vector<unsigned>> blocks(64);
      for (unsigned i = seed; goes_on(i - seed); ++i) {
        std::vector<unsigned>& block = blocks[i * 2654435761U % blocks.size()];
        for (const unsigned each : block) wrong += each != block.size() ? 1 : 0;
        const unsigned count = i * 40503U % 5000;
        block.assign(count, count);
      }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 2; ++i) {
      threads.emplace_back(
          [&, i] { churn(i * 1000, [&](unsigned) { return !has_ended.load(); }); });
    }
    for (int round = 0; round < 8; ++round) {
      ForkedChild child([&]() -> std::string {
        churn(7, [](unsigned done) { return done < 1000; });
        return wrong == 0 ? "" : "the child's memory was changed";
      });
      churn(9, [](unsigned done) { return done < 1000; });
      EXPECT_EQ(child.wait(), "");
    }
    has_ended = true;
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(wrong, 0);
  });
}

}  // namespace
}  // namespace tutti::test
