#include "topology/ring_search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tutti {
namespace {

constexpr std::uint32_t most_neighbours = 10;
constexpr std::size_t longest_segment = 3;

}  // namespace

RingSearch::RingSearch(std::uint32_t ranks, std::span<const double> times,
                       std::span<const double> weights)
    : ranks_(ranks),
      times_(times),
      weights_(weights),
      limit_(std::numeric_limits<double>::infinity()),
      nearest_(std::min(most_neighbours, ranks - 1)),
      places_(ranks),
      forwards_(ranks),
      backwards_(ranks),
      is_awake_(ranks) {
  find_neighbours();
  std::vector<std::uint32_t> ring(ranks);
  std::iota(ring.begin(), ring.end(), 0);
  set_ring(std::move(ring));
}

void RingSearch::find_neighbours() {
  std::vector<std::uint32_t> others(ranks_ - 1);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    // Ties are broken by the next higher rank, cyclically.
    for (std::uint32_t i = 0; i < others.size(); ++i) others[i] = (rank + 1 + i) % ranks_;
    const double* const row = &weights_[std::size_t{rank} * ranks_];
    const auto nearer = [&](std::uint32_t a, std::uint32_t b) {
      if (row[a] != row[b]) return row[a] < row[b];
      return (a + ranks_ - rank) % ranks_ < (b + ranks_ - rank) % ranks_;
    };
    std::partial_sort(others.begin(), others.begin() + nearest_, others.end(), nearer);
    neighbours_.insert(neighbours_.end(), others.begin(), others.begin() + nearest_);
  }
}

void RingSearch::set_ring(std::vector<std::uint32_t> ring) {
  ring_ = std::move(ring);
  update_sums();
}

void RingSearch::set_limit(double limit) {
  limit_ = limit;
  update_sums();
}

void RingSearch::set_greedy_ring() {
  std::vector<bool> taken(ranks_);
  std::vector<std::uint32_t> ring{0};
  taken[0] = true;
  while (ring.size() < ranks_) {
    const std::uint32_t last = ring.back();
    const double* const row = &weights_[std::size_t{last} * ranks_];
    std::uint32_t best = ranks_;
    for (std::uint32_t i = 1; i < ranks_; ++i) {
      const std::uint32_t rank = (last + i) % ranks_;
      if (!taken[rank] && (best == ranks_ || row[rank] < row[best])) best = rank;
    }
    taken[best] = true;
    ring.push_back(best);
  }
  set_ring(std::move(ring));
}

void RingSearch::update_sums() {
  forwards_.assign(ranks_, {});
  backwards_.assign(ranks_, {});
  update_sums(0, ranks_ - 1);
  // Smaller gains are rounding errors.
  tolerance_ = 1e-10 * total_.sum;
}

/// Edges are looked up only between `first` and `last`; the prefix sums after that are shifted.
void RingSearch::update_sums(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i <= last; ++i) places_[ring_[i]] = static_cast<std::uint32_t>(i);
  const std::size_t end = std::min<std::size_t>(last + 2, ranks_);
  const Measure forwards_before = forwards_[end - 1];
  const Measure backwards_before = backwards_[end - 1];
  for (std::size_t i = std::max<std::size_t>(first, 1); i < end; ++i) {
    forwards_[i] = forwards_[i - 1] + edge(ring_[i - 1], ring_[i]);
    backwards_[i] = backwards_[i - 1] + edge(ring_[i], ring_[i - 1]);
  }
  const Measure forwards_shift = forwards_[end - 1] - forwards_before;
  const Measure backwards_shift = backwards_[end - 1] - backwards_before;
  for (std::size_t i = end; i < ranks_; ++i) {
    forwards_[i] += forwards_shift;
    backwards_[i] += backwards_shift;
  }
  total_ = forwards_.back() + edge(ring_.back(), ring_.front());
  changed_first_ = std::min(changed_first_, first);
  changed_last_ = std::max(changed_last_, last);
}

void RingSearch::wake(std::size_t place) {
  const std::uint32_t rank = at(place);
  if (is_awake_[rank]) return;
  is_awake_[rank] = true;
  awake_.push_back(rank);
}

/// Reverses the segment between two positions, the first excluded.
bool RingSearch::try_two_opt(std::size_t i, std::size_t j) {
  if (i > j) std::swap(i, j);
  if (j - i < 2) return false;
  const Measure change = edge(at(i), at(j)) + edge(at(i + 1), at(j + 1)) - edge(at(i), at(i + 1)) -
                         edge(at(j), at(j + 1)) + turned(i + 1, j);
  if (!is_gain(change)) return false;
  using Offset = std::vector<std::uint32_t>::difference_type;
  std::reverse(ring_.begin() + static_cast<Offset>(i + 1),
               ring_.begin() + static_cast<Offset>(j + 1));
  update_sums(i + 1, j);
  for (const std::size_t place : {i, i + 1, j, j + 1}) wake(place);
  return true;
}

/// Moves the `length` ranks from position j to after position i, reversed if `turn`.
bool RingSearch::try_or_opt(std::size_t i, std::size_t j, std::size_t length, bool turn) {
  const std::size_t end = j + length;
  if (j == 0 || end > ranks_) return false;
  if (i + 1 >= j && i < end) return false;
  const std::uint32_t first = at(turn ? end - 1 : j);
  const std::uint32_t last = at(turn ? j : end - 1);
  Measure change = edge(at(i), first) + edge(last, at(i + 1)) + edge(at(j - 1), at(end)) -
                   edge(at(i), at(i + 1)) - edge(at(j - 1), at(j)) - edge(at(end - 1), at(end));
  if (turn) change += turned(j, end - 1);
  if (!is_gain(change)) return false;
  for (const std::size_t place : {i, i + 1, j - 1, j, end - 1, end}) wake(place);
  using Offset = std::vector<std::uint32_t>::difference_type;
  const auto place = [&](std::size_t n) { return ring_.begin() + static_cast<Offset>(n); };
  if (turn) std::reverse(place(j), place(end));
  if (i < j) {
    std::rotate(place(i + 1), place(j), place(end));
    update_sums(i + 1, end - 1);
  } else {
    std::rotate(place(j), place(end), place(i + 1));
    update_sums(j, i);
  }
  return true;
}

bool RingSearch::mend_at(std::uint32_t rank) {
  for (std::uint32_t n = 0; n < nearest_; ++n) {
    const std::uint32_t neighbour = neighbours_[std::size_t{rank} * nearest_ + n];
    const std::size_t i = places_[rank];
    // A move with a gain has a new edge that is better than the edge it replaces.
    const Measure better = edge(rank, neighbour) - edge(rank, at(i + 1));
    if (!is_gain(better)) continue;
    const std::size_t j = places_[neighbour];
    if (try_two_opt(i, j)) return true;
    for (std::size_t length = 1; length <= longest_segment; ++length) {
      if (try_or_opt(i, j, length, false)) return true;
      if (j + 1 >= length && length > 1 && try_or_opt(i, j + 1 - length, length, true)) return true;
      // The rank itself moves in front of its neighbour.
      if (i + 1 >= length && j > 0 && try_or_opt(j - 1, i + 1 - length, length, false)) return true;
    }
  }
  return false;
}

void RingSearch::mend() {
  while (!awake_.empty()) {
    const std::uint32_t rank = awake_.back();
    awake_.pop_back();
    is_awake_[rank] = false;
    if (!mend_at(rank)) continue;
    is_awake_[rank] = true;
    awake_.push_back(rank);
  }
}

/// At an edge over the limit, if there is one.
std::size_t RingSearch::place_to_perturb() {
  const std::size_t start = random_() % ranks_;
  if (total_.over == 0) return start;
  for (std::size_t i = 0; i < ranks_; ++i) {
    const std::size_t place = (start + i) % ranks_;
    if (edge(at(place), at(place + 1)).over > 0) return place;
  }
  return start;
}

/// Swaps two adjacent segments of the ring: a double bridge move.
void RingSearch::perturb() {
  constexpr std::size_t widest = 50;
  const std::size_t width = std::min<std::size_t>(widest, (ranks_ - 1) / 2);
  const std::size_t around = place_to_perturb();
  // The edge found is the one before the first segment, between both, or after the second.
  const std::size_t one = 1 + random_() % width;
  const std::size_t two = 1 + random_() % width;
  const std::size_t which = random_() % 3;
  const std::size_t back = which == 0 ? 0 : which == 1 ? one : one + two;
  std::size_t first = around + 1 >= back ? around + 1 - back : 0;
  first = std::min<std::size_t>(first, ranks_ - one - two);
  using Offset = std::vector<std::uint32_t>::difference_type;
  const auto place = [&](std::size_t n) { return ring_.begin() + static_cast<Offset>(n); };
  std::rotate(place(first), place(first + one), place(first + one + two));
  update_sums(first, first + one + two - 1);
  for (const std::size_t each : {first == 0 ? ranks_ - 1 : first - 1, first, first + two - 1,
                                 first + two, first + one + two - 1, first + one + two}) {
    wake(each);
  }
}

void RingSearch::improve(std::uint32_t perturbations, bool until_good) {
  for (std::size_t i = 0; i < ranks_; ++i) wake(i);
  mend();
  std::vector<std::uint32_t> best = ring_;
  Measure least = total_;
  using Offset = std::vector<std::uint32_t>::difference_type;
  const auto copy_changed = [&](const std::vector<std::uint32_t>& from,
                                std::vector<std::uint32_t>& to) {
    std::copy(from.begin() + static_cast<Offset>(changed_first_),
              from.begin() + static_cast<Offset>(changed_last_ + 1),
              to.begin() + static_cast<Offset>(changed_first_));
  };
  for (std::uint32_t i = 0; i < perturbations && !(until_good && least.over == 0); ++i) {
    changed_first_ = ranks_;
    changed_last_ = 0;
    perturb();
    mend();
    const Measure change = total_ - least;
    if (change.over > 0 || (change.over == 0 && change.sum > 0)) {
      copy_changed(best, ring_);
      update_sums(changed_first_, changed_last_);
    } else {
      copy_changed(ring_, best);
      least = total_;
    }
  }
}

}  // namespace tutti
