#include "cli/measure/result_check.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti::measure {
namespace {

constexpr std::byte poison{0xA5};

/// Calls visit(offset, bytes) for consecutive parts of `total` bytes, each as long as the pattern.
template <class Visit>
void for_each_repetition(std::size_t total, std::size_t pattern, const Visit& visit) {
  for (std::size_t at = 0; at < total; at += pattern) visit(at, std::min(pattern, total - at));
}

}  // namespace

ResultCheck::ResultCheck(CheckedCall what, std::uint32_t self, std::uint32_t ranks,
                         std::uint64_t seed)
    : what_(std::move(what)),
      self_(self),
      ranks_(ranks),
      contributions_(what_.dtype,
                     is_reduction(what_.collective) ? std::optional(what_.op) : std::nullopt, ranks,
                     seed) {}

std::uint64_t ResultCheck::before(std::uint32_t from, std::uint32_t to) const {
  std::uint64_t sum = 0;
  for (std::uint32_t rank = 0; rank < to; ++rank) sum += what_.block(from, rank);
  return sum;
}

std::uint64_t ResultCheck::input_elements() const {
  switch (what_.collective) {
    case Collective::broadcast:
      return self_ == what_.root ? what_.block(self_, self_) : 0;
    case Collective::scatter:
      return self_ == what_.root ? before(self_, ranks_) : 0;
    case Collective::gather:
    case Collective::allgather:
    case Collective::reduce:
    case Collective::allreduce:
      return what_.block(self_, self_);
    case Collective::reduce_scatter:
    case Collective::alltoall:
      return before(self_, ranks_);
    case Collective::barrier:
      break;
  }
  return 0;
}

std::vector<ResultCheck::Piece> ResultCheck::pieces() const {
  const std::uint32_t root = what_.root;
  std::vector<Piece> all;
  switch (what_.collective) {
    case Collective::broadcast:
      return {{root, 0, what_.block(root, self_)}};
    case Collective::scatter:
      return {{root, before(root, self_), what_.block(root, self_)}};
    case Collective::reduce:
      if (self_ != root) return {};
      [[fallthrough]];
    case Collective::allreduce:
      return {{std::nullopt, 0, what_.block(self_, self_)}};
    case Collective::reduce_scatter:
      return {{std::nullopt, before(self_, self_), what_.block(self_, self_)}};
    case Collective::gather:
      if (self_ != root) return {};
      [[fallthrough]];
    case Collective::allgather:
      for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        all.push_back({rank, 0, what_.block(rank, self_)});
      }
      return all;
    case Collective::alltoall:
      for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        all.push_back({rank, before(rank, self_), what_.block(rank, self_)});
      }
      return all;
    case Collective::barrier:
      break;
  }
  return {};
}

std::uint64_t ResultCheck::output_elements() const {
  std::uint64_t sum = 0;
  for (const Piece& piece : pieces()) sum += piece.count;
  return sum;
}

void ResultCheck::prepare(std::byte* input, std::byte* output) const {
  const std::size_t element = size_of(what_.dtype);
  std::fill_n(output, output_elements() * element, poison);
  // Last, since in place the input lies within the output.
  const std::uint64_t count = input_elements();
  const std::vector<std::byte> pattern =
      contributions_.of(self_, 0, std::min(count, Contributions::period));
  for_each_repetition(count * element, pattern.size(), [&](std::size_t at, std::size_t bytes) {
    std::memcpy(input + at, pattern.data(), bytes);
  });
}

std::uint64_t ResultCheck::count_wrong(const Piece& piece, const std::byte* found) const {
  const std::size_t element = size_of(what_.dtype);
  const std::uint64_t count = std::min(piece.count, Contributions::period);
  const std::vector<std::byte> pattern = piece.rank
                                             ? contributions_.of(*piece.rank, piece.begin, count)
                                             : contributions_.combined(piece.begin, count);
  std::uint64_t wrong = 0;
  for_each_repetition(piece.count * element, pattern.size(),
                      [&](std::size_t at, std::size_t bytes) {
                        if (std::memcmp(found + at, pattern.data(), bytes) == 0) return;
                        for (std::size_t i = 0; i < bytes; i += element) {
                          wrong += std::memcmp(found + at + i, pattern.data() + i, element) != 0;
                        }
                      });
  return wrong;
}

std::uint64_t ResultCheck::count_wrong(const std::byte* output) const {
  std::uint64_t wrong = 0;
  for (const Piece& piece : pieces()) {
    wrong += count_wrong(piece, output);
    output += piece.count * size_of(what_.dtype);
  }
  return wrong;
}

}  // namespace tutti::measure
