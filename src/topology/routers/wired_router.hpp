#pragma once

#include <cstdint>
#include <vector>

#include <tutti/network/network.hpp>

#include "topology/routers/fork.hpp"

/// Routers for networks whose generators fix the order of the links, so that the index of each link
/// of a route is computed by arithmetic. All constructors throw invalid_argument if the network
/// does not have the number of links that its wiring requires.
namespace tutti {

/// Up to the lowest common level, then down.
class FatTreeRouter {
 public:
  FatTreeRouter(const Network& network, const wiring::FatTree& tree);
  void append(Rank from, Rank to, Fork& fork, std::vector<LinkId>& links) const;

 private:
  [[nodiscard]] std::uint32_t edge_to_spine(std::uint32_t edge, std::uint32_t spine) const;
  [[nodiscard]] std::uint32_t spine_to_core(std::uint32_t pod, std::uint32_t spine,
                                            std::uint32_t core) const;

  wiring::FatTree tree_;
  std::uint32_t first_spine_link_;
  std::uint32_t first_core_link_;
};

/// Within a group at most one link. Between groups: to the router that has the link, over that
/// link, and on to the router of the destination.
class DragonflyRouter {
 public:
  DragonflyRouter(const Network& network, const wiring::Dragonfly& dragonfly);
  void append(Rank from, Rank to, Fork& fork, std::vector<LinkId>& links) const;

 private:
  void append_local(std::uint32_t group, std::uint32_t from, std::uint32_t to,
                    std::vector<LinkId>& links) const;

  wiring::Dragonfly dragonfly_;
  std::uint32_t first_local_link_;
  std::uint32_t first_global_link_;
};

/// The link between the two ranks.
class FullMeshRouter {
 public:
  explicit FullMeshRouter(const Network& network);
  void append(Rank from, Rank to, Fork& fork, std::vector<LinkId>& links) const;

 private:
  std::uint32_t ranks_;
};

/// Routes to another host over one rail: the rail of the destination, as in NCCL, unless the policy
/// spreads routes over all rails.
class RailsRouter {
 public:
  RailsRouter(const Network& network, const wiring::Rails& rails);
  void append(Rank from, Rank to, Fork& fork, std::vector<LinkId>& links) const;

 private:
  wiring::Rails rails_;
};

}  // namespace tutti
