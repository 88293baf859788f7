// What a program can do by hand if its ranks know each other's buffers: all data is in memory that
// all ranks map at the same address, every byte is read and written once, and there is one flag
// before and one after. In an allreduce rank r sums slice r of all inputs and stores it into all
// outputs in the same pass. No library of collectives can know as much, so this is the time to
// reach: direct [--ranks P] and the arguments of program.hpp.
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "peers/forked_ranks.hpp"
#include "peers/pause.hpp"
#include "peers/peer.hpp"
#include "peers/program.hpp"

namespace {

using namespace peers;

constexpr int most_ranks = 64;
constexpr std::size_t page = 4096;
/// Address space for the buffers of one rank.
constexpr std::size_t stripe = std::size_t{2} << 30;

/// What the ranks share beside their buffers.
struct Board {
  struct alignas(64) Line {
    std::atomic<std::uint32_t> flag;
    const float* input;
    float* output;
  };
  std::array<Line, most_ranks> lines;
  alignas(64) std::array<std::array<double, 4096>, most_ranks> numbers;
  std::array<char, 4096> bytes;
};

/// Mapped before the ranks are started, so that an address is the same in all of them.
struct SharedSpace {
  explicit SharedSpace(int ranks) {
    const std::size_t board_bytes = (sizeof(Board) + page - 1) / page * page;
    void* const memory =
        mmap(nullptr, board_bytes + stripe * static_cast<std::size_t>(ranks),
             PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("cannot map shared memory");
    board = static_cast<Board*>(memory);
    buffers = static_cast<std::byte*>(memory) + board_bytes;
  }

  Board* board;
  std::byte* buffers;
};

/// Adds the elements [begin, end) of all inputs and stores the sums into all outputs.
void sum(const std::vector<const float*>& inputs, const std::vector<float*>& outputs,
         std::size_t begin, std::size_t end) {
  // Small enough for the first-level cache, large enough for full vectors.
  constexpr std::size_t block = 512;
  std::array<float, block> sums;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  for (std::size_t at = begin; at < end; at += block) {
    const std::size_t count = std::min(block, end - at);
    const float* const first = inputs[0] + at;
    const float* const second = inputs[1] + at;
    for (std::size_t i = 0; i < count; ++i) sums[i] = first[i] + second[i];
    for (std::size_t k = 2; k < inputs.size(); ++k) {
      const float* const next = inputs[k] + at;
      for (std::size_t i = 0; i < count; ++i) sums[i] += next[i];
    }
    for (float* const output : outputs)
      std::memcpy(output + at, sums.data(), count * sizeof(float));
  }
}

class Direct final : public Peer {
 public:
  Direct(SharedSpace space, int rank, int ranks)
      : board_(*space.board),
        free_(space.buffers + stripe * static_cast<std::size_t>(rank)),
        rank_(rank),
        ranks_(ranks),
        crowded_(static_cast<unsigned>(ranks) > std::thread::hardware_concurrency()) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return ranks_; }
  [[nodiscard]] std::string library() const override { return "direct"; }
  [[nodiscard]] std::string version() const override { return "1"; }

  [[nodiscard]] bool supports(const Case& c, bool in_place) const override {
    if (ranks_ < 2) return false;
    switch (c.collective) {
      case Collective::broadcast:
      case Collective::barrier:
        return true;
      case Collective::allreduce:
      case Collective::reduce:
        return c.dtype == DType::f32 && c.op == Op::sum;
      case Collective::reduce_scatter:
        return c.dtype == DType::f32 && c.op == Op::sum && !in_place;
      case Collective::allgather:
      case Collective::alltoall:
      case Collective::gather:
      case Collective::scatter:
        return c.dtype == DType::f32 && !in_place;
      default:
        return false;
    }
  }

  [[nodiscard]] std::function<void()> prepare(const Call& call) override {
    // No rank uses the addresses of the last call any more.
    meet();
    board_.lines[own()].input = reinterpret_cast<const float*>(call.input);
    board_.lines[own()].output = reinterpret_cast<float*>(call.output);
    meet();
    inputs_.clear();
    outputs_.clear();
    for (std::size_t r = 0; r < size(); ++r) {
      inputs_.push_back(board_.lines[r].input);
      outputs_.push_back(board_.lines[r].output);
    }
    const std::size_t count = call.what.count * size_of(call.what.dtype) / sizeof(float);
    const auto root = static_cast<std::size_t>(std::max(call.what.root, 0));
    const std::function<void()> work = work_of(call.what.collective, count, root);
    if (!work) return [this] { meet(); };
    return [this, work] {
      meet();
      work();
      meet();
    };
  }

  [[nodiscard]] std::shared_ptr<std::byte> allocate(std::size_t bytes) override {
    std::byte* const memory = free_;
    const std::size_t rounded = (bytes / page + 1) * page;
    free_ += rounded;
    // Buffers are freed in the opposite order.
    return {memory, [this](std::byte* each) { free_ = each; }};
  }

  void barrier() override { meet(); }

  void maximum(std::span<double> numbers) override {
    constexpr std::size_t most = 4096;
    for (std::size_t at = 0; at < numbers.size(); at += most) {
      const std::span<double> part = numbers.subspan(at, std::min(most, numbers.size() - at));
      std::copy(part.begin(), part.end(), board_.numbers[own()].begin());
      meet();
      for (std::size_t r = 0; r < size(); ++r) {
        for (std::size_t i = 0; i < part.size(); ++i) {
          part[i] = std::max(part[i], board_.numbers[r][i]);
        }
      }
      meet();
    }
  }

  void share(std::span<char> bytes) override {
    if (rank_ == 0) std::copy(bytes.begin(), bytes.end(), board_.bytes.begin());
    meet();
    std::copy_n(board_.bytes.begin(), bytes.size(), bytes.begin());
    meet();
  }

 private:
  [[nodiscard]] std::size_t own() const { return static_cast<std::size_t>(rank_); }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(ranks_); }

  /// Each rank sets its flag and waits for the flags of the others.
  void meet() {
    const std::uint32_t turn = ++turn_;
    board_.lines[own()].flag.store(turn, std::memory_order_release);
    for (std::size_t k = 1; k < size(); ++k) {
      const Board::Line& line = board_.lines[(own() + k) % size()];
      std::uint32_t waits = 0;
      while (static_cast<std::int32_t>(line.flag.load(std::memory_order_acquire) - turn) < 0) {
        if (crowded_ && ++waits > 64) {
          sched_yield();
        } else {
          peers::pause();
        }
      }
    }
  }

  [[nodiscard]] std::function<void()> work_of(Collective collective, std::size_t count,
                                              std::size_t root) {
    // Whole cache lines.
    const std::size_t slice = (count / size() + 15) / 16 * 16;
    const std::size_t begin = std::min(count, own() * slice);
    const std::size_t end = rank_ + 1 == ranks_ ? count : std::min(count, begin + slice);
    const auto copy = [count](float* to, const float* from) {
      if (to != from) std::memcpy(to, from, count * sizeof(float));
    };
    switch (collective) {
      case Collective::allreduce:
        return [=, this] { sum(inputs_, outputs_, begin, end); };
      case Collective::reduce:
        return [=, this, to = std::vector{outputs_[root]}] { sum(inputs_, to, begin, end); };
      case Collective::reduce_scatter: {
        std::vector<const float*> blocks;
        for (const float* each : inputs_) blocks.push_back(each + own() * count);
        return [blocks, to = std::vector{outputs_[own()]}, count] { sum(blocks, to, 0, count); };
      }
      case Collective::broadcast:
        return [=, this] { copy(outputs_[own()], outputs_[root]); };
      case Collective::allgather:
        return [=, this] {
          for (std::size_t k = 0; k < size(); ++k) {
            const std::size_t from = (own() + k) % size();
            copy(outputs_[own()] + from * count, inputs_[from]);
          }
        };
      case Collective::alltoall:
        return [=, this] {
          for (std::size_t k = 0; k < size(); ++k) {
            const std::size_t from = (own() + k) % size();
            copy(outputs_[own()] + from * count, inputs_[from] + own() * count);
          }
        };
      case Collective::gather:
        return [=, this] { copy(outputs_[root] + own() * count, inputs_[own()]); };
      case Collective::scatter:
        return [=, this] { copy(outputs_[own()], inputs_[root] + own() * count); };
      default:
        return {};
    }
  }

  Board& board_;
  std::byte* free_;
  int rank_;
  int ranks_;
  bool crowded_;
  std::uint32_t turn_ = 0;
  std::vector<const float*> inputs_;
  std::vector<float*> outputs_;
};

/// Binds the rank to a core of its own if there are enough.
void bind(int rank, int ranks) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < ranks) return;
  int skip = rank;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || skip-- > 0) continue;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(core, &own);
    sched_setaffinity(0, sizeof own, &own);
    return;
  }
}

int be(const SharedSpace& space, int rank, int ranks, const std::vector<std::string>& arguments) {
  try {
    bind(rank, ranks);
    Direct direct(space, rank, ranks);
    const int status = run_program(direct, arguments);
    direct.barrier();
    return status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  int ranks = 2;
  if (arguments.size() > 1 && arguments[0] == "--ranks") {
    ranks = std::atoi(arguments[1].c_str());
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  }
  if (ranks < 2 || ranks > most_ranks) {
    std::fprintf(stderr, "2 to %d ranks\nusage: direct [--ranks P] and one of\n%s", most_ranks,
                 usage);
    return 2;
  }
  try {
    const SharedSpace space(ranks);
    return run_forked(ranks, [&](int rank) { return be(space, rank, ranks, arguments); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "direct: %s\n", error.what());
    return 1;
  }
}
