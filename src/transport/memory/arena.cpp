#include "transport/memory/arena.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <tutti/error.hpp>

namespace tutti {
namespace {

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

/// Larger blocks, such as the rings of a thousand ranks, are not populated: most of their pages
/// are never touched.
constexpr std::size_t most_populated = std::size_t{1} << 20;

/// Allocates the pages now: an error now is better than SIGBUS later. Kernels that lack
/// MADV_POPULATE_WRITE count as success.
bool populate(std::byte* begin, std::size_t bytes) {
  return bytes > most_populated || madvise(begin, bytes, MADV_POPULATE_WRITE) == 0 ||
         errno == EINVAL || errno == EAGAIN;
}

}  // namespace

Arena::Arena(std::byte* base, std::size_t stripe_bytes, std::uint32_t own_stripe)
    : base_(base),
      begin_(page + stripe_bytes * own_stripe),
      end_(begin_ + stripe_bytes),
      touched_(begin_) {}

std::uint64_t Arena::allocate(std::size_t bytes) {
  const std::uint64_t wanted = (bytes + page - 1) / page * page;
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(free_.begin(), free_.end(),
                                  [&](const auto& each) { return each.second >= wanted; });
  if (found != free_.end()) {
    const auto [offset, size] = *found;
    free_.erase(found);
    if (size > wanted) free_.emplace(offset + wanted, size - wanted);
    std::memset(base_ + offset, 0, wanted);
    taken_.emplace(offset, wanted);
    return offset;
  }
  if (wanted > end_ - touched_) {
    throw Error(ErrorCode::unsupported,
                "no room for " + std::to_string(bytes) + " bytes in the " +
                    std::to_string((end_ - begin_) >> 20) +
                    " MiB of shared memory for this rank's communicators: destroy communicators "
                    "that are no longer needed");
  }
  if (!populate(base_ + touched_, wanted)) {
    throw Error(ErrorCode::unsupported, "no room for " + std::to_string(bytes) +
                                            " bytes of shared memory: " + std::strerror(errno));
  }
  const std::uint64_t offset = touched_;
  touched_ += wanted;
  taken_.emplace(offset, wanted);
  return offset;
}

void Arena::release(std::uint64_t offset) {
  const std::lock_guard lock(mutex_);
  const auto found = taken_.find(offset);
  if (found == taken_.end()) {
    throw Error(ErrorCode::internal, "release of a block that the arena did not allocate");
  }
  auto at = free_.emplace(offset, found->second).first;
  taken_.erase(found);
  const auto next = std::next(at);
  if (next != free_.end() && at->first + at->second == next->first) {
    at->second += next->second;
    free_.erase(next);
  }
  if (at == free_.begin()) return;
  const auto previous = std::prev(at);
  if (previous->first + previous->second != at->first) return;
  previous->second += at->second;
  free_.erase(at);
}

std::size_t Arena::usual_stripe(std::uint32_t stripes) {
  constexpr std::size_t all = std::size_t{8} << 30;
  // The table of rings of a communicator of 1,024 ranks takes 4 MiB.
  constexpr std::size_t least = std::size_t{32} << 20;
  constexpr std::size_t most = std::size_t{128} << 20;
  const std::size_t usual = std::clamp(all / stripes / page * page, least, most);
  // The heaps and stacks of this process need address space, too.
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return usual;
  const std::size_t share = limit.rlim_cur / 4 / stripes / page * page;
  return std::clamp(share, std::min(least_stripe, usual), usual);
}

}  // namespace tutti
