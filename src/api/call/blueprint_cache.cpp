#include "api/call/blueprint_cache.hpp"

#include <algorithm>

namespace tutti {

std::shared_ptr<const Blueprint> BlueprintCache::get(const Method& method, const Problem& problem,
                                                     Rank self, Aliasing aliasing) {
  const std::uint64_t identity = method.identity();
  const auto found = std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& each) {
    return each.method == identity && each.aliasing == aliasing && each.self == self &&
           each.problem == problem;
  });
  if (found != entries_.rend()) {
    std::rotate(std::prev(found.base()), found.base(), entries_.end());
    return entries_.back().blueprint;
  }
  auto made = std::make_shared<const Blueprint>(method.contract(problem),
                                                method.program(problem, self), self, aliasing);
  if (entries_.size() >= most_entries) entries_.erase(entries_.begin());
  entries_.push_back({.method = identity,
                      .problem = problem,
                      .self = self,
                      .aliasing = aliasing,
                      .blueprint = made});
  return made;
}

}  // namespace tutti
