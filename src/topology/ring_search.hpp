#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace tutti {

/// Local search for a short ring among edges that are not too slow.
///
/// Rings are compared by the number of edges slower than a limit, then by the sum of the weights of
/// their edges. Moves are 2-opt and Or-opt between near neighbours (Croes 1958; Or 1976). At a
/// local optimum the ring is perturbed at a few edges near each other and repaired (iterated local
/// search: Lourenço, Martin and Stützle, 2003). Weights may be asymmetric: prefix sums of both
/// directions are kept, so that the gain of reversing a segment takes constant time.
class RingSearch {
 public:
  /// `times` and `weights`: row-major, `ranks` × `ranks`; both must outlive the search.
  /// Requires: at least 5 ranks.
  RingSearch(std::uint32_t ranks, std::span<const double> times, std::span<const double> weights);

  void set_ring(std::vector<std::uint32_t> ring);
  [[nodiscard]] const std::vector<std::uint32_t>& ring() const { return ring_; }

  /// Starts with the greedy ring: from each rank to the nearest remaining one.
  void set_greedy_ring();

  /// Sets the limit above which an edge counts as too slow.
  void set_limit(double limit);

  /// Repairs the whole ring, then perturbs and repairs it `perturbations` times. Ends early if
  /// `until_good` and no edge is over the limit.
  void improve(std::uint32_t perturbations, bool until_good);

  [[nodiscard]] std::int32_t over_limit() const { return total_.over; }

 private:
  /// The measure of one edge or the sum over several.
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
  /// The change of the measure if the edges between two positions are reversed.
  [[nodiscard]] Measure turned(std::size_t first, std::size_t last) const {
    return (backwards_[last] - backwards_[first]) - (forwards_[last] - forwards_[first]);
  }

  void find_neighbours();
  void update_sums();
  void update_sums(std::size_t first, std::size_t last);
  void mend();
  bool mend_at(std::uint32_t rank);
  bool try_two_opt(std::size_t i, std::size_t j);
  bool try_or_opt(std::size_t i, std::size_t j, std::size_t length, bool turn);
  void wake(std::size_t place);
  void perturb();
  [[nodiscard]] std::size_t place_to_perturb();

  std::uint32_t ranks_;
  std::span<const double> times_;
  std::span<const double> weights_;
  double limit_;
  double tolerance_ = 0;
  std::uint32_t nearest_;                  // Number of neighbours tried for each rank.
  std::vector<std::uint32_t> neighbours_;  // The neighbours tried for each rank.
  std::vector<std::uint32_t> ring_;
  std::vector<std::uint32_t> places_;  // The inverse of ring_.
  std::vector<Measure> forwards_;      // Prefix sums over the edges of the ring.
  std::vector<Measure> backwards_;     // Prefix sums over the reversed edges.
  Measure total_;
  std::size_t changed_first_ = 0;  // Range of positions changed since the last perturbation.
  std::size_t changed_last_ = 0;
  std::vector<std::uint32_t> awake_;  // Ranks whose neighbourhood has changed.
  std::vector<bool> is_awake_;
  std::mt19937_64 random_{1};
};

}  // namespace tutti
