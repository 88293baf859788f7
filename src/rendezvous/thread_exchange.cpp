#include "rendezvous/thread_exchange.hpp"

#include <algorithm>
#include <utility>

#include <tutti/error.hpp>

#include "rendezvous/group.hpp"

namespace tutti {

ThreadGather::ThreadGather(std::uint32_t ranks) : cards_(ranks) {}

std::vector<std::string> ThreadGather::all(Rank rank, const std::string& card,
                                           Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  if (!broken_.empty()) throw Error(ErrorCode::timed_out, broken_);
  std::optional<std::string>& place = cards_[rank.index()];
  if (place) {
    throw Error(ErrorCode::mismatch, "rank " + std::to_string(rank.index()) +
                                         " is at the table twice: give each thread its own rank");
  }
  place = card;
  if (++laid_ == cards_.size()) {
    last_.clear();
    for (auto& each : cards_) last_.push_back(*std::exchange(each, std::nullopt));
    laid_ = 0;
    ++round_;
    turned_.notify_all();
    return last_;
  }
  const std::uint64_t mine = round_;
  turned_.wait_until(lock, deadline, [&] { return round_ != mine || !broken_.empty(); });
  // Nobody can end the next round before this rank has laid its card for it.
  if (round_ != mine) return last_;
  if (broken_.empty()) {
    std::vector<std::uint32_t> missing;
    for (std::uint32_t r = 0; r < cards_.size(); ++r) {
      if (!cards_[r]) missing.push_back(r);
    }
    broken_ = "rank " + std::to_string(rank.index()) + " has waited in vain for " +
              name_ranks(missing, missing.size()) + " of " + std::to_string(cards_.size());
    turned_.notify_all();
  }
  throw Error(ErrorCode::timed_out, broken_);
}

void ThreadGather::give_up(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (broken_.empty()) broken_ = why;
  turned_.notify_all();
}

ThreadExchange::ThreadExchange(ThreadGather& table, Rank rank, Clock::time_point deadline)
    : table_(table), rank_(rank), patience_(deadline - Clock::now()), deadline_(deadline) {
  if (rank.index() >= table.ranks()) {
    throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(rank.index()) +
                                                 " has no seat at a table for " +
                                                 std::to_string(table.ranks()));
  }
}

std::vector<std::string> ThreadExchange::all_gather(const std::string& card) {
  const Clock::time_point deadline =
      std::exchange(first_, false) ? deadline_ : Clock::now() + patience_;
  return table_.all(rank_, card, deadline);
}

}  // namespace tutti
