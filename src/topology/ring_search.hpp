#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace tutti {

/// Local search for a short ring among edges that are not too slow.
///
/// A ring is measured by how many of its edges are slower than a limit and, if two have equally
/// many, by the sum of a weight over its edges. Moves are those of 2-opt and Or-opt between near
/// neighbours (Croes 1958; Or 1976), and where they find nothing more, the ring is shaken at a few
/// edges near each other and mended again (iterated local search: Lourenço, Martin and Stützle,
/// 2003). Weights need not be the same both ways: sums of either direction are kept, so that the
/// gain of turning a part round is known without walking along it.
class RingSearch {
 public:
  /// `times` and `weights` row by row, of `ranks` × `ranks`; both must outlive the search.
  /// Requires: at least 5 ranks.
  RingSearch(std::uint32_t ranks, std::span<const double> times, std::span<const double> weights);

  void set_ring(std::vector<std::uint32_t> ring);
  [[nodiscard]] const std::vector<std::uint32_t>& ring() const { return ring_; }

  /// From rank to nearest rank.
  void set_greedy_ring();

  /// Edges that take longer than this are to be got rid of.
  void set_limit(double limit);

  /// Mends the ring all over, then shakes and mends it `shakes` times; ends early if `until_good`
  /// and no edge is over the limit.
  void improve(std::uint32_t shakes, bool until_good);

  [[nodiscard]] std::int32_t over_limit() const { return total_.over; }

 private:
  /// Of an edge or of many.
  struct Measure {
    std::int32_t over = 0;
    double sum = 0;

    Measure& operator+=(const Measure& other) {
      over += other.over;
      sum += other.sum;
      return *this;
    }
    friend Measure operator+(Measure a, const Measure& b) { return a += b; }
    friend Measure operator-(const Measure& a, const Measure& b) {
      return {.over = a.over - b.over, .sum = a.sum - b.sum};
    }
  };

  [[nodiscard]] Measure edge(std::uint32_t from, std::uint32_t to) const {
    const std::size_t i = std::size_t{from} * ranks_ + to;
    return {.over = times_[i] > limit_ ? 1 : 0, .sum = weights_[i]};
  }
  [[nodiscard]] bool is_gain(const Measure& change) const {
    return change.over < 0 || (change.over == 0 && change.sum < -tolerance_);
  }
  [[nodiscard]] std::uint32_t at(std::size_t place) const {
    return ring_[place < ranks_ ? place : place - ranks_];
  }
  /// Of the edges between two places, walked backwards instead of forwards.
  [[nodiscard]] Measure turned(std::size_t first, std::size_t last) const {
    return (backwards_[last] - backwards_[first]) - (forwards_[last] - forwards_[first]);
  }

  void find_neighbours();
  void take_stock();
  void take_stock(std::size_t first, std::size_t last);
  void mend();
  bool mend_at(std::uint32_t rank);
  bool try_two_opt(std::size_t i, std::size_t j);
  bool try_or_opt(std::size_t i, std::size_t j, std::size_t length, bool turn);
  void wake(std::size_t place);
  void shake();
  [[nodiscard]] std::size_t place_to_shake();

  std::uint32_t ranks_;
  std::span<const double> times_;
  std::span<const double> weights_;
  double limit_;
  double tolerance_ = 0;
  std::uint32_t nearest_;                  // How many neighbours of each rank are tried,
  std::vector<std::uint32_t> neighbours_;  // and which.
  std::vector<std::uint32_t> ring_;
  std::vector<std::uint32_t> places_;  // The inverse of ring_.
  std::vector<Measure> forwards_;      // Of the edges up to each place
  std::vector<Measure> backwards_;     // and of the same turned round.
  Measure total_;
  std::size_t changed_first_ = 0;  // Which places have changed since the last shake.
  std::size_t changed_last_ = 0;
  std::vector<std::uint32_t> awake_;  // Ranks whose surroundings have changed.
  std::vector<bool> is_awake_;
  std::mt19937_64 random_{1};
};

}  // namespace tutti
