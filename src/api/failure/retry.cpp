#include <algorithm>
#include <cstring>
#include <exception>
#include <numeric>

#include <tutti/retry.hpp>

#include "api/communicator_impl.hpp"

namespace tutti {
namespace {

/// How often a call is repeated if it fails although no rank is lost: because it takes longer than
/// its timeout, or because ranks cannot reach each other. It would most likely fail again.
constexpr std::uint32_t most_vain_repeats = 2;

/// Of several calls under way, the first fails with the cause. The others fail with aborted, so the
/// cause is taken from the verdict.
bool is_loss(const Communicator& communicator, const Error& error) {
  ErrorCode code = error.code();
  if (const auto verdict = communicator.verdict(); verdict && code == ErrorCode::aborted) {
    code = verdict->code;
  }
  return code == ErrorCode::peer_lost || code == ErrorCode::timed_out;
}

/// A copy of the caller's memory, to restore it.
class SavedMemory {
 public:
  explicit SavedMemory(std::span<const std::span<std::byte>> kept) : kept_(kept) {
    for (const std::span<std::byte> each : kept) copies_.emplace_back(each.begin(), each.end());
  }

  void restore() const {
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      std::copy(copies_[i].begin(), copies_[i].end(), kept_[i].begin());
    }
  }

 private:
  std::span<const std::span<std::byte>> kept_;
  std::vector<std::vector<std::byte>> copies_;
};

}  // namespace

Retried with_retry(Communicator& communicator, const std::function<void(Communicator&)>& call,
                   std::span<const std::span<std::byte>> kept) {
  if (!call) throw Error(ErrorCode::invalid_argument, "with_retry: the function to call is empty");
  const SavedMemory saved(kept);
  Retried retried;
  std::vector<std::uint32_t> ranks(communicator.size());  // By their numbers before the call.
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::uint64_t number = communicator.completed() + 1;
  std::uint32_t vain_repeats = 0;
  while (true) {
    std::exception_ptr failure;
    bool has_done = false;
    retried.ranks = communicator.size();
    try {
      call(communicator);
      has_done = true;
      communicator.impl_->health().note_done(number);
      // After the barrier, all ranks have noted the call. Every later verdict then says that the
      // call is complete.
      communicator.barrier();
      communicator.set_completed(number);
      return retried;
    } catch (const Error& error) {
      if (has_done && communicator.impl_->health().accept_completed(number)) return retried;
      if (!is_loss(communicator, error)) throw;
      failure = std::current_exception();
      // The function may have failed by itself, or on another communicator. The others repeat the
      // call with this rank only if they learn of it.
      if (!communicator.verdict()) {
        (void)communicator.impl_->health().give_up(
            error, "rank " + std::to_string(communicator.rank()) + ": with_retry", {});
      }
    }
    Regrouped shrunk = communicator.shrink(number - 1);
    for (const std::uint32_t gone : shrunk.gone) retried.gone.push_back(ranks[gone]);
    std::erase_if(ranks, [&](std::uint32_t rank) {
      return std::find(retried.gone.begin(), retried.gone.end(), rank) != retried.gone.end();
    });
    std::sort(retried.gone.begin(), retried.gone.end());
    communicator = std::move(*shrunk.communicator);
    saved.restore();
    if (shrunk.gone.empty() && vain_repeats++ == most_vain_repeats) {
      std::rethrow_exception(failure);
    }
    ++retried.repeats;
  }
}

}  // namespace tutti
