#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tutti/exchange.hpp>
#include <tutti/rank.hpp>

#include "core/clock.hpp"

namespace tutti {

/// The table around which ranks meet that are threads of one process.
class ThreadGather {
 public:
  /// Requires: ranks > 0.
  explicit ThreadGather(std::uint32_t ranks);

  /// Puts the card of `rank` down and takes all cards of this round. Throws timed_out that names
  /// who is missing; the round is then lost for all.
  [[nodiscard]] std::vector<std::string> all(Rank rank, const std::string& card,
                                             Clock::time_point deadline);

  /// Not all will come: who waits, or comes later, throws timed_out with this reason.
  void give_up(const std::string& why);

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(cards_.size()); }

 private:
  std::mutex mutex_;
  std::condition_variable turned_;
  std::vector<std::optional<std::string>> cards_;
  std::size_t laid_ = 0;
  std::uint64_t round_ = 0;
  std::vector<std::string> last_;  // The cards of the round before. None is overtaken by two.
  std::string broken_;
};

/// One rank at a table.
class ThreadExchange : public Exchange {
 public:
  /// The first all_gather() may take until `deadline`, each later one as long as that was. The
  /// table must outlive this. Throws invalid_argument if it has no such seat.
  ThreadExchange(ThreadGather& table, Rank rank, Clock::time_point deadline);

  [[nodiscard]] std::vector<std::string> all_gather(const std::string& card) override;

 private:
  ThreadGather& table_;
  Rank rank_;
  Clock::duration patience_;
  Clock::time_point deadline_;
  bool first_ = true;
};

}  // namespace tutti
