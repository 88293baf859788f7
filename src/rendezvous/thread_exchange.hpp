#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tutti/exchange.hpp>
#include <tutti/rank.hpp>

#include "core/clock.hpp"

namespace tutti {

/// The shared side of an allgather among ranks that are threads of one process.
class ThreadGather {
 public:
  /// Requires: ranks > 0.
  explicit ThreadGather(std::uint32_t ranks);

  /// Adds the contribution of `rank` and returns those of all ranks in this round. Throws timed_out
  /// that names the missing ranks; the round then fails on all ranks.
  [[nodiscard]] std::vector<std::string> all(Rank rank, const std::string& contribution,
                                             Clock::time_point deadline);

  /// Not all ranks will come: all() throws timed_out with this reason, now and later.
  void give_up(const std::string& why);

  [[nodiscard]] std::uint32_t ranks() const {
    return static_cast<std::uint32_t>(contributions_.size());
  }

 private:
  /// Releases the lock.
  [[nodiscard]] std::vector<std::string> copy_of_last(std::unique_lock<std::mutex>& lock) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<std::string>> contributions_;
  std::size_t arrived_ = 0;
  std::uint64_t round_ = 0;
  /// The result of the last round. No rank is two rounds behind. Ranks copy it without the lock:
  /// the copies of a thousand ranks take seconds.
  std::shared_ptr<const std::vector<std::string>> last_;
  std::string failure_;
};

/// One rank's side of a ThreadGather.
class ThreadExchange : public Exchange {
 public:
  /// The first all_gather() may take until `deadline`, each later one as long as that was. `gather`
  /// must outlive this. Throws invalid_argument if the rank is out of range.
  ThreadExchange(ThreadGather& gather, Rank rank, Clock::time_point deadline);

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& contribution) override;

 private:
  ThreadGather& gather_;
  Rank rank_;
  Clock::duration patience_;
  Clock::time_point deadline_;
  bool first_ = true;
};

}  // namespace tutti
