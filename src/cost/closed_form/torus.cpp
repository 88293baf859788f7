#include "cost/closed_form/torus.hpp"

#include <algorithm>
#include <vector>

namespace tutti::formula {
namespace {

/// A ring along one dimension: its rounds in the reduce-scatter half (the other half has as many),
/// and the chunks per message.
struct Phase {
  std::uint64_t rounds;
  std::uint64_t chunks;
};

/// The rings that one part of the data passes through, from dimension `start` on. A part has p
/// chunks. Each ring leaves a rank with a fraction of the chunks from the previous ring.
std::vector<Phase> phases(const Shape& shape, std::size_t start) {
  const std::vector<std::uint32_t>& sizes = shape.dimensions;
  std::vector<Phase> phases;
  std::uint64_t chunks = shape.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::uint32_t size = sizes[(start + i) % sizes.size()];
    chunks /= size;
    if (size > 1) phases.push_back({.rounds = size - 1, .chunks = chunks});
  }
  return phases;
}

/// The chunks per message in each round of the reduce-scatter half.
std::vector<std::uint64_t> chunks_by_round(const Shape& shape, std::size_t start) {
  std::vector<std::uint64_t> chunks;
  for (const Phase& phase : phases(shape, start)) {
    chunks.insert(chunks.end(), phase.rounds, phase.chunks);
  }
  return chunks;
}

std::uint64_t rounds_one_way(const Shape& shape) {
  std::uint64_t rounds = 0;
  for (const std::uint32_t size : shape.dimensions) rounds += size - 1;
  return rounds;
}

/// With unlimited ports the parts do not delay each other.
double slowest_part(const Shape& shape, double chunk, const Model& model) {
  double slowest = 0;
  for (std::size_t start = 0; start < shape.dimensions.size(); ++start) {
    double seconds = 0;
    for (const Phase& phase : phases(shape, start)) {
      const double bytes = static_cast<double>(phase.chunks) * chunk;
      seconds += static_cast<double>(phase.rounds) * (2 * model.message(bytes) + model.sum(bytes));
    }
    slowest = std::max(slowest, seconds);
  }
  return slowest;
}

/// With one port the parts take turns at the port and at adding, always in the same order. All
/// ranks do the same at the same time, so one rank represents all. It is simulated round by round,
/// because the waiting depends on the message lengths: O(d·Σsᵢ) steps, the number of its messages.
class Turns {
 public:
  Turns(const Shape& shape, double chunk, const Model& model)
      : chunk_(chunk), model_(model), ready_(shape.dimensions.size()) {
    for (std::size_t part = 0; part < ready_.size(); ++part) {
      chunks_.push_back(chunks_by_round(shape, part));
    }
  }

  double run() {
    const std::size_t rounds = chunks_.front().size();
    for (std::size_t round = 0; round < rounds; ++round) pass(round, true);
    for (std::size_t round = rounds; round-- > 0;) pass(round, false);
    return ready_.back();
  }

 private:
  void pass(std::size_t round, bool adds) {
    for (std::size_t part = 0; part < ready_.size(); ++part) {
      const double bytes = static_cast<double>(chunks_[part][round]) * chunk_;
      port_free_ = std::max(ready_[part], port_free_) + model_.message(bytes);
      if (adds) adder_free_ = std::max(port_free_, adder_free_) + model_.sum(bytes);
      ready_[part] = adds ? adder_free_ : port_free_;
    }
  }

  double chunk_;
  Model model_;
  std::vector<std::vector<std::uint64_t>> chunks_;  // By part and round.
  std::vector<double> ready_;                       // The time at which each part can continue.
  double port_free_ = 0;
  double adder_free_ = 0;
};

}  // namespace

Figures torus_figures(const Shape& shape, std::uint64_t n) {
  const std::uint64_t p = shape.size();
  const std::uint64_t parts = shape.dimensions.size();
  const std::uint64_t chunk = n / (p * parts);
  const std::uint64_t one_way = parts * (p - 1) * chunk;  // Sent by each rank.
  // Messages only get shorter in the first half, and the second half has the same lengths.
  std::uint64_t in_first_round = 0;
  for (std::size_t start = 0; start < parts; ++start) {
    in_first_round += phases(shape, start).front().chunks;
  }
  return {.rounds = static_cast<std::uint32_t>(2 * rounds_one_way(shape)),
          .messages = p * parts * 2 * rounds_one_way(shape),
          .bytes = 2 * p * one_way,
          .reduced = p * one_way,
          .most_sent = 2 * one_way,
          .most_received = 2 * one_way,
          .most_reduced = one_way,
          .most_in_a_round = in_first_round * chunk};
}

double torus(const Shape& shape, double n, const Model& model) {
  const auto parts = static_cast<double>(shape.dimensions.size());
  const auto p = static_cast<double>(shape.size());
  const double chunk = n / (p * parts);
  if (!model.one_port) return slowest_part(shape, chunk, model);
  if (model.gamma > 0) return Turns(shape, chunk, model).run();
  return 2 * parts * static_cast<double>(rounds_one_way(shape)) * model.link.alpha +
         2 * (p - 1) / p * n * model.link.beta;
}

}  // namespace tutti::formula
