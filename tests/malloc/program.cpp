// A program that allocates in every way, in threads and forked children, and checks what it has
// written. It knows nothing of the malloc that it runs with.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

std::atomic<int> faults{0};

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  ++faults;
}

/// Numbers that look random, the same for the same seed.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::size_t below(std::size_t limit) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 33) % limit;
  }

 private:
  std::uint64_t state_;
};

struct Block {
  unsigned char* memory = nullptr;
  std::size_t bytes = 0;
  unsigned char value = 0;

  void fill(unsigned char with) {
    value = with;
    std::memset(memory, with, bytes);
  }
  [[nodiscard]] bool is_intact(std::size_t length) const {
    for (std::size_t i = 0; i < length; ++i) {
      if (memory[i] != value) return false;
    }
    return true;
  }
};

std::size_t any_size(Numbers& numbers) {
  constexpr std::size_t limits[] = {100, 5000, 20000, 200000, 3000000};
  return 1 + numbers.below(limits[numbers.below(5)]);
}

void* allocate(Numbers& numbers, std::size_t bytes) {
  switch (numbers.below(5)) {
    case 0: {
      auto* const zeros = static_cast<unsigned char*>(std::calloc(bytes, 1));
      Block block{zeros, bytes, 0};
      expect(block.is_intact(bytes), "calloc gave something else than zeros");
      return zeros;
    }
    case 1: {
      const std::size_t alignment = std::size_t{16} << numbers.below(10);
      void* memory = nullptr;
      expect(posix_memalign(&memory, alignment, bytes) == 0, "posix_memalign failed");
      expect(reinterpret_cast<std::uintptr_t>(memory) % alignment == 0, "not aligned");
      return memory;
    }
    case 2:
      return ::operator new(bytes);
    default:
      return std::malloc(bytes);
  }
}

void churn(std::uint64_t seed, int rounds) {
  Numbers numbers(seed);
  std::vector<Block> blocks(40);
  for (int i = 0; i < rounds; ++i) {
    Block& block = blocks[numbers.below(blocks.size())];
    expect(block.is_intact(block.bytes), "a block was changed");
    const std::size_t bytes = any_size(numbers);
    if (block.memory != nullptr && numbers.below(3) == 0) {
      const std::size_t kept = bytes < block.bytes ? bytes : block.bytes;
      block.memory = static_cast<unsigned char*>(std::realloc(block.memory, bytes));
      expect(block.is_intact(kept), "realloc lost what was there");
    } else {
      std::free(block.memory);
      block.memory = static_cast<unsigned char*>(allocate(numbers, bytes));
    }
    block.bytes = bytes;
    expect(malloc_usable_size(block.memory) >= bytes, "fewer bytes than were asked for");
    block.fill(static_cast<unsigned char>(1 + numbers.below(255)));
  }
  for (const Block& block : blocks) {
    expect(block.is_intact(block.bytes), "a block was changed");
    std::free(block.memory);
  }
}

/// A child has what its parent had at the fork, and both go on.
void fork_child(std::uint64_t seed) {
  std::vector<Block> blocks;
  for (const std::size_t bytes : {100, 5000, 70000, 2000000, 300000000}) {
    blocks.push_back({static_cast<unsigned char*>(std::malloc(bytes)), bytes, 0});
    blocks.back().fill(7);
  }
  int go[2];
  expect(pipe(go) == 0, "no pipe");
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    expect(read(go[0], &byte, 1) == 1, "no sign of the parent");
    for (Block& block : blocks) {
      expect(block.is_intact(block.bytes), "the child sees what its parent writes");
      block.fill(9);
      std::free(block.memory);
    }
    churn(seed + 1, 200);
    _exit(faults == 0 ? 0 : 1);
  }
  for (Block& block : blocks) block.fill(8);
  expect(write(go[1], "x", 1) == 1, "cannot write");
  churn(seed + 2, 200);
  int status = 1;
  waitpid(child, &status, 0);
  expect(status == 0, "a child failed");
  for (const Block& block : blocks) {
    expect(block.is_intact(block.bytes), "the parent sees what its child writes");
    std::free(block.memory);
  }
  close(go[0]);
  close(go[1]);
}

/// The loader only warns if it cannot load the library.
bool has_shared_malloc() {
  Dl_info found{};
  void* const function = dlsym(RTLD_DEFAULT, "malloc");
  return dladdr(function, &found) != 0 &&
         std::strstr(found.dli_fname, "libtutti_malloc.so") != nullptr;
}

}  // namespace

int main() {
  expect(has_shared_malloc(), "this is not the malloc of tutti");
  churn(1, 1000);
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 3; ++i) threads.emplace_back([i] { churn(10 + i, 1000); });
  for (std::uint64_t i = 0; i < 3; ++i) fork_child(100 * i);
  for (std::thread& each : threads) each.join();
  volatile std::size_t too_many = SIZE_MAX / 2;  // Or else the compiler warns.
  expect(std::calloc(too_many, 3) == nullptr, "calloc did not notice that this is too much");
  return faults == 0 ? 0 : 1;
}
