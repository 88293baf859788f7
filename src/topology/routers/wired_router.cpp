#include "topology/routers/wired_router.hpp"

#include <tutti/error.hpp>

namespace tutti {
namespace {

void check_link_count(const Network& network, std::uint64_t wanted) {
  if (network.links.size() == wanted) return;
  throw Error(ErrorCode::invalid_argument, "the wiring of " + network.name + " requires " +
                                               std::to_string(wanted) + " links, but there are " +
                                               std::to_string(network.links.size()) +
                                               ": clear `wiring` after changing a network");
}

/// The index of `to` among all numbers except `from`.
std::uint32_t among_others(std::uint32_t from, std::uint32_t to) { return to < from ? to : to - 1; }

void add(std::uint32_t link, std::vector<LinkId>& links) { links.emplace_back(link); }

}  // namespace

// Links are added in pairs: the even one leads up, the odd one down.

FatTreeRouter::FatTreeRouter(const Network& network, const wiring::FatTree& tree)
    : tree_(tree),
      first_spine_link_(2 * network.rank_count()),
      first_core_link_(first_spine_link_ + 2 * tree.pods * tree.edges * tree.spines) {
  check_link_count(network,
                   first_core_link_ + std::uint64_t{2} * tree.pods * tree.spines * tree.cores);
}

std::uint32_t FatTreeRouter::edge_to_spine(std::uint32_t edge, std::uint32_t spine) const {
  return first_spine_link_ + 2 * (edge * tree_.spines + spine);
}

std::uint32_t FatTreeRouter::spine_to_core(std::uint32_t pod, std::uint32_t spine,
                                           std::uint32_t core) const {
  return first_core_link_ + 2 * ((pod * tree_.spines + spine) * tree_.cores + core);
}

void FatTreeRouter::append(Rank from, Rank to, Fork& fork, std::vector<LinkId>& links) const {
  const std::uint32_t edge_from = from / tree_.hosts;
  const std::uint32_t edge_to = to / tree_.hosts;
  add(2 * from, links);
  if (edge_from != edge_to) {
    const std::uint32_t pod_from = edge_from / tree_.edges;
    const std::uint32_t pod_to = edge_to / tree_.edges;
    const std::uint32_t spine = fork.pick(tree_.spines);
    add(edge_to_spine(edge_from, spine), links);
    if (pod_from != pod_to) {
      const std::uint32_t core = fork.pick(tree_.cores);
      add(spine_to_core(pod_from, spine, core), links);
      add(spine_to_core(pod_to, spine, core) + 1, links);
    }
    add(edge_to_spine(edge_to, spine) + 1, links);
  }
  add(2 * to + 1, links);
}

DragonflyRouter::DragonflyRouter(const Network& network, const wiring::Dragonfly& dragonfly)
    : dragonfly_(dragonfly),
      first_local_link_(2 * network.rank_count()),
      first_global_link_(first_local_link_ +
                         dragonfly.groups * dragonfly.routers * (dragonfly.routers - 1)) {
  check_link_count(network,
                   first_global_link_ + std::uint64_t{dragonfly.groups} * (dragonfly.groups - 1));
}

void DragonflyRouter::append_local(std::uint32_t group, std::uint32_t from, std::uint32_t to,
                                   std::vector<LinkId>& links) const {
  if (from == to) return;
  const std::uint32_t router = group * dragonfly_.routers + from;
  add(first_local_link_ + router * (dragonfly_.routers - 1) + among_others(from, to), links);
}

void DragonflyRouter::append(Rank from, Rank to, Fork& /*fork*/, std::vector<LinkId>& links) const {
  const std::uint32_t router_from = from / dragonfly_.ranks;
  const std::uint32_t router_to = to / dragonfly_.ranks;
  const std::uint32_t group_from = router_from / dragonfly_.routers;
  const std::uint32_t group_to = router_to / dragonfly_.routers;
  std::uint32_t at = router_from % dragonfly_.routers;
  add(2 * from, links);
  if (group_from != group_to) {
    append_local(group_from, at, dragonfly_.exit(group_from, group_to), links);
    add(first_global_link_ + group_from * (dragonfly_.groups - 1) +
            among_others(group_from, group_to),
        links);
    at = dragonfly_.exit(group_to, group_from);
  }
  append_local(group_to, at, router_to % dragonfly_.routers, links);
  add(2 * to + 1, links);
}

FullMeshRouter::FullMeshRouter(const Network& network) : ranks_(network.rank_count()) {
  check_link_count(network, std::uint64_t{ranks_} * (ranks_ - 1));
}

void FullMeshRouter::append(Rank from, Rank to, Fork& /*fork*/, std::vector<LinkId>& links) const {
  add(from * (ranks_ - 1) + among_others(from, to), links);
}

RailsRouter::RailsRouter(const Network& network, const wiring::Rails& rails) : rails_(rails) {
  check_link_count(network, std::uint64_t{rails.hosts} * (2 * rails.ranks + 4 * rails.rails));
}

void RailsRouter::append(Rank from, Rank to, Fork& fork, std::vector<LinkId>& links) const {
  const std::uint32_t host_from = from / rails_.ranks;
  const std::uint32_t host_to = to / rails_.ranks;
  const std::uint32_t of_a_host = 2 * rails_.ranks + 4 * rails_.rails;
  const auto first_rank = [&](std::uint32_t host) { return host * of_a_host; };
  const auto first_nic = [&](std::uint32_t host) { return first_rank(host) + 2 * rails_.ranks; };
  add(first_rank(host_from) + 2 * (from % rails_.ranks), links);
  if (host_from != host_to) {
    const std::uint32_t rail = fork.pick(rails_.rails);
    add(first_nic(host_from) + 4 * rail, links);
    add(first_nic(host_from) + 4 * rail + 2, links);
    add(first_nic(host_to) + 4 * rail + 3, links);
    add(first_nic(host_to) + 4 * rail + 1, links);
  }
  add(first_rank(host_to) + 2 * (to % rails_.ranks) + 1, links);
}

}  // namespace tutti
