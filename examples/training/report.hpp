// How the programs of this folder start, what they print, and when they fail: if the losses differ
// from those of one process, or if tutti counted other numbers than the formulas say.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tutti/communicator.hpp>

namespace training {

/// Runs a rank of a program that returns whether all is well. Without a launcher the ranks are
/// threads of this process. Returns the exit code.
inline int launch(std::uint32_t threads, const std::function<bool(tutti::Communicator&)>& program) {
  try {
    tutti::Communicator comm = tutti::Communicator::from_environment();
    if (comm.size() > 1) return program(comm) ? 0 : 1;
    std::atomic<bool> good = true;
    tutti::run_threads(threads, [&](tutti::Communicator& each) {
      if (!program(each)) good = false;
    });
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

/// Throws unless `whole` can be divided by the number of parts.
inline void require_divides(std::size_t parts, std::size_t whole, const std::string& what) {
  if (parts > 0 && whole % parts == 0) return;
  throw tutti::Error(tutti::ErrorCode::invalid_argument,
                     "cannot divide " + std::to_string(whole) + " " + what + " over " +
                         std::to_string(parts) + " ranks: start a number of ranks that divides it");
}

/// The bytes that this rank sends in collectives from now on. (To make a communicator from another
/// takes calls too: these have been counted before.)
class Traffic {
 public:
  explicit Traffic(const tutti::Communicator& comm) : comm_(comm) {
    for (const tutti::Collective each : tutti::collectives()) before_.push_back(now(each));
  }
  [[nodiscard]] std::uint64_t sent(tutti::Collective collective) const {
    return now(collective) - before_[static_cast<std::size_t>(collective)];
  }

 private:
  [[nodiscard]] std::uint64_t now(tutti::Collective collective) const {
    return comm_.counters(collective).total().bytes_sent;
  }

  const tutti::Communicator& comm_;
  std::vector<std::uint64_t> before_;  // By collective.
};

/// Bytes that this rank (a thread or a process) holds in Held vectors.
struct Memory {
  std::uint64_t now = 0;
  std::uint64_t peak = 0;
};
inline thread_local Memory memory;

template <class T>
struct Counting {
  using value_type = T;
  Counting() = default;
  template <class U>
  Counting(const Counting<U>& /*other*/) {}
  T* allocate(std::size_t count) {
    memory.now += count * sizeof(T);
    memory.peak = std::max(memory.peak, memory.now);
    return std::allocator<T>().allocate(count);
  }
  void deallocate(T* data, std::size_t count) {
    memory.now -= count * sizeof(T);
    std::allocator<T>().deallocate(data, count);
  }
  friend bool operator==(const Counting&, const Counting&) { return true; }
};
/// Model state: parameters, gradients and optimiser.
template <class T>
using Held = std::vector<T, Counting<T>>;

/// What was counted, beside what the formulas say. Collective: all ranks call the same members in
/// the same order. Rank 0 prints.
class Report {
 public:
  Report(tutti::Communicator& comm, const std::string& title)
      // A communicator of its own, so that the traffic of the report is not counted.
      : own_(comm.duplicate()) {
    say(title + ", " + std::to_string(own_.size()) + " ranks: " + own_.description());
  }

  void say(const std::string& line) const {
    if (own_.rank() == 0) std::printf("%s\n", line.c_str());
  }

  /// The sum over all ranks.
  [[nodiscard]] std::uint64_t total(std::uint64_t mine) {
    std::vector<std::uint64_t> sum{mine};
    own_.all_reduce(sum);
    return sum[0];
  }
  /// The maximum over all ranks.
  [[nodiscard]] std::uint64_t most(std::uint64_t mine) {
    std::vector<std::uint64_t> sum{mine};
    own_.all_reduce(sum, tutti::Op::max);
    return sum[0];
  }

  /// Compares the losses of all steps, of which each rank has a part, with those of one process.
  /// The limit is relative.
  void losses(std::vector<double> parts, const std::function<std::vector<double>()>& alone,
              double limit, const char* why) {
    own_.all_reduce(parts);
    if (own_.rank() > 0) return;
    const std::vector<double> expected = alone();
    double difference = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      difference = std::max(difference, std::abs(parts[i] - expected[i]) / expected[i]);
    }
    std::printf("  loss %.6f, after %zu steps %.6f; one process: %.6f\n", parts.front(),
                parts.size(), parts.back(), expected.back());
    const bool learns = parts.back() < 0.9 * parts.front();
    judge(difference <= limit && learns);
    if (!learns) std::printf("  WRONG: the loss should fall below 0.9 of its first value\n");
    std::printf("  largest relative difference of a loss: %.1e, limit %.0e%s: %s\n", difference,
                limit, difference <= limit ? "" : "   TOO LARGE", why);
  }

  /// A number that is the same on all ranks. Must be equal to what the formula gives.
  void expect(const std::string& what, double counted, const std::string& formula, double value) {
    const bool equal = std::abs(counted - value) <= 1e-9 * std::abs(value);
    judge(equal);
    char line[256];
    std::snprintf(line, sizeof line, "  %s: %.10g; %s = %.10g%s", what.c_str(), counted,
                  formula.c_str(), value, equal ? "" : "   DIFFERENT");
    say(line);
  }

  /// Bytes, counted by all ranks together in all steps. The formula is for one rank and one step.
  void expect_sent(const std::string& what, std::uint64_t mine, int times,
                   const std::string& formula, double value) {
    const auto share = static_cast<double>(own_.size()) * times;
    expect(what + ", bytes sent per rank and step", static_cast<double>(total(mine)) / share,
           formula, value);
  }

  /// The same on all ranks.
  [[nodiscard]] bool good() {
    std::vector<int> all{good_ ? 1 : 0};
    own_.all_reduce(all, tutti::Op::min);
    say(all[0] == 1 ? "  all as expected" : "  WRONG: see above");
    return all[0] == 1;
  }

 private:
  void judge(bool is_right) { good_ = good_ && is_right; }

  tutti::Communicator own_;
  bool good_ = true;
};

}  // namespace training
