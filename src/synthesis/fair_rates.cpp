#include "synthesis/fair_rates.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace tutti::synthesis {

FairRates::FairRates(const RankGraph& graph) : links_of_(graph.edges.size()) {
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
    for (const LinkId link : graph.edges[e].strands.front().links) {
      const auto [found, is_new] =
          numbers.try_emplace(link.index(), static_cast<std::uint32_t>(rates_.size()));
      if (is_new) {
        rates_.push_back(graph.link_rates[link.index()]);
        edges_on_.emplace_back();
      }
      edges_on_[found->second].push_back(e);
      links_of_[e].push_back(found->second);
    }
  }
  any_shared_ = std::any_of(edges_on_.begin(), edges_on_.end(),
                            [](const auto& each) { return each.size() > 1; });
}

void FairRates::update(const std::vector<bool>& busy, std::vector<double>& rates) {
  left_ = rates_;
  users_.assign(rates_.size(), 0);
  fixed_.assign(busy.size(), true);
  std::size_t open = 0;
  for (std::uint32_t e = 0; e < busy.size(); ++e) {
    rates[e] = 0;
    if (!busy[e]) continue;
    fixed_[e] = false;
    ++open;
    for (const std::uint32_t link : links_of_[e]) ++users_[link];
  }
  // The link with the least for each user fixes the rates of its users.
  while (open > 0) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t l = 0; l < left_.size(); ++l) {
      if (users_[l] > 0) least = std::min(least, left_[l] / users_[l]);
    }
    for (std::size_t l = 0; l < left_.size(); ++l) {
      if (users_[l] == 0 || left_[l] / users_[l] > least * (1 + 1e-12)) continue;
      for (const std::uint32_t e : edges_on_[l]) {
        if (fixed_[e]) continue;
        fixed_[e] = true;
        --open;
        rates[e] = least;
        for (const std::uint32_t link : links_of_[e]) {
          left_[link] = std::max(0.0, left_[link] - least);
          --users_[link];
        }
      }
    }
  }
}

}  // namespace tutti::synthesis
