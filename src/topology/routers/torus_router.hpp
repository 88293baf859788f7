#pragma once

#include <cstdint>
#include <vector>

#include <tutti/network/network.hpp>

#include "topology/routers/fork.hpp"

namespace tutti {

/// Routes along the first dimension of a torus or a grid, then the second, and so on, each in the
/// shorter direction.
class TorusRouter {
 public:
  /// Throws invalid_argument if a rank has no link to one of its neighbours.
  TorusRouter(const Network& network, const wiring::Torus& torus);

  void append(Rank from, Rank to, Fork& fork, std::vector<LinkId>& links) const;

 private:
  [[nodiscard]] LinkId& step(std::uint32_t rank, std::size_t dimension, bool up) {
    return steps_[2 * (rank * dimensions_.size() + dimension) + (up ? 1 : 0)];
  }

  std::vector<std::uint32_t> dimensions_;
  bool wraps_;
  std::vector<LinkId> steps_;  // For each rank and dimension: the links down and up.
};

}  // namespace tutti
