#include "rendezvous/thread_exchange.hpp"

#include <algorithm>
#include <utility>

#include <tutti/error.hpp>

#include "rendezvous/group.hpp"

namespace tutti {

ThreadGather::ThreadGather(std::uint32_t ranks) : contributions_(ranks) {}

std::vector<std::string> ThreadGather::all(Rank rank, const std::string& contribution,
                                           Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  if (!failure_.empty()) throw Error(ErrorCode::timed_out, failure_);
  std::optional<std::string>& own = contributions_[rank];
  if (own) {
    throw Error(ErrorCode::mismatch, "rank " + std::to_string(rank) +
                                         " takes part twice: give each thread its own rank");
  }
  own = contribution;
  if (++arrived_ == contributions_.size()) {
    std::vector<std::string> all;
    all.reserve(contributions_.size());
    for (auto& each : contributions_) all.push_back(*std::exchange(each, std::nullopt));
    last_ = std::make_shared<const std::vector<std::string>>(std::move(all));
    arrived_ = 0;
    ++round_;
    changed_.notify_all();
    return copy_of_last(lock);
  }
  const std::uint64_t mine = round_;
  changed_.wait_until(lock, deadline, [&] { return round_ != mine || !failure_.empty(); });
  // The next round cannot end before this rank has contributed to it.
  if (round_ != mine) return copy_of_last(lock);
  if (failure_.empty()) {
    std::vector<std::uint32_t> missing;
    for (std::uint32_t r = 0; r < contributions_.size(); ++r) {
      if (!contributions_[r]) missing.push_back(r);
    }
    failure_ = "rank " + std::to_string(rank) + " has waited until its deadline for " +
               name_ranks(missing, missing.size()) + " of " + std::to_string(contributions_.size());
    changed_.notify_all();
  }
  throw Error(ErrorCode::timed_out, failure_);
}

std::vector<std::string> ThreadGather::copy_of_last(std::unique_lock<std::mutex>& lock) const {
  const std::shared_ptr<const std::vector<std::string>> last = last_;
  lock.unlock();
  return *last;
}

void ThreadGather::give_up(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = why;
  changed_.notify_all();
}

ThreadExchange::ThreadExchange(ThreadGather& gather, Rank rank, Clock::time_point deadline)
    : gather_(gather), rank_(rank), patience_(deadline - Clock::now()), deadline_(deadline) {
  if (rank >= gather.ranks()) {
    throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank) +
                                                 " is out of range: the number of ranks is " +
                                                 std::to_string(gather.ranks()));
  }
}

std::vector<std::string> ThreadExchange::all_gather(const std::string& contribution) {
  const Clock::time_point deadline =
      std::exchange(first_, false) ? deadline_ : Clock::now() + patience_;
  return gather_.all(rank_, contribution, deadline);
}

}  // namespace tutti
