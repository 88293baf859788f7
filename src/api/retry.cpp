#include <algorithm>
#include <cstring>
#include <numeric>

#include <tutti/retry.hpp>

#include "api/communicator_impl.hpp"

namespace tutti {
namespace {

bool is_loss(const Error& error) {
  return error.code() == ErrorCode::peer_lost || error.code() == ErrorCode::timed_out;
}

/// A copy of memory, to be put back.
class Keepsake {
 public:
  explicit Keepsake(std::span<const std::span<std::byte>> kept) : kept_(kept) {
    for (const std::span<std::byte> each : kept) copies_.emplace_back(each.begin(), each.end());
  }

  void put_back() const {
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
  const Keepsake keepsake(kept);
  Retried retried;
  std::vector<std::uint32_t> ranks(communicator.size());  // As they were called before.
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::uint64_t number = communicator.completed() + 1;
  while (true) {
    bool has_done = false;
    retried.ranks = communicator.size();
    try {
      call(communicator);
      has_done = true;
      // Whoever comes out of this knows that all have done it, and that nobody will repeat it.
      communicator.barrier();
      communicator.set_completed(number);
      return retried;
    } catch (const Error& error) {
      if (!is_loss(error)) throw;
    }
    Shrunk shrunk = communicator.shrink(has_done ? number : number - 1);
    for (const std::uint32_t gone : shrunk.gone) retried.gone.push_back(ranks[gone]);
    std::erase_if(ranks, [&](std::uint32_t rank) {
      return std::find(retried.gone.begin(), retried.gone.end(), rank) != retried.gone.end();
    });
    std::sort(retried.gone.begin(), retried.gone.end());
    communicator = std::move(*shrunk.communicator);
    // Some may have come out of the barrier in which others lost somebody.
    communicator.set_completed(shrunk.completed);
    if (shrunk.completed >= number) return retried;
    keepsake.put_back();
    ++retried.repeats;
  }
}

}  // namespace tutti
