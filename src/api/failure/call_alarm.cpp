#include "api/failure/call_alarm.hpp"

#include <algorithm>
#include <string>

#include <tutti/error.hpp>

#include "core/quantity.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// How long a running call goes on after it has found a verdict, if it waits for a rank that is
/// gone and whose connection has not ended, and if it waits for others. These complete the call or
/// say that they do not, unless they hang.
constexpr auto for_lost_ranks = 200ms;
constexpr auto for_other_ranks = 2s;

}  // namespace

/// A rank that is lost may have sent all its part of the running call, and even have completed it.
/// So the call goes on after the verdict until a rank that it waits for cannot give more.
std::optional<Error> CallAlarm::ring(std::span<const std::uint32_t> awaited) {
  const Error failed(ErrorCode::aborted, "the communicator has failed on another rank");
  if (!consensus_) return gate_.is_closed() ? std::optional(failed) : std::nullopt;
  const GroupState::Prospects prospects = consensus_->prospects(calls_, awaited);
  if (prospects.leaver) {
    leaver_ = prospects.leaver;
    return Error(ErrorCode::peer_lost, "rank " + std::to_string(*leaver_) +
                                           " has left the communicator after " +
                                           in_plural(consensus_->left().at(*leaver_), "call"));
  }
  if (!gate_.is_closed()) return std::nullopt;
  const Clock::time_point now = Clock::now();
  if (!verdict_found_at_) verdict_found_at_ = now;
  const bool is_over =
      prospects.is_hopeless || now > *verdict_found_at_ + for_other_ranks ||
      std::any_of(prospects.ended.begin(), prospects.ended.end(), [&](std::uint32_t rank) {
        return now > *verdict_found_at_ + for_lost_ranks || !port_.may_arrive(rank, true);
      });
  return is_over ? std::optional(failed) : std::nullopt;
}

void CallAlarm::note_wait(std::span<const std::uint32_t> ranks) {
  if (consensus_) consensus_->inquire(ranks);
}

/// If ranks are in different calls with the same number, each waiting for the other, no message
/// will ever show it. So they compare their calls.
void CallAlarm::note_stall() {
  if (consensus_) consensus_->compare(calls_);
}

}  // namespace tutti
