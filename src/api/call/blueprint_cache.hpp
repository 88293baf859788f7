#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tutti/schedule/problem.hpp>

#include "exec/blueprint.hpp"
#include "select/method.hpp"

namespace tutti {

/// The last blueprints that were used. A program that calls with ever new sizes needs new plans,
/// but few blueprints.
class BlueprintCache {
 public:
  /// Finds the blueprint or makes it.
  [[nodiscard]] std::shared_ptr<const Blueprint> get(const Method& method, const Problem& problem,
                                                     Rank self, Aliasing aliasing);

  static constexpr std::size_t most_entries = 16;

 private:
  struct Entry {
    std::uint64_t method;  // Its identity.
    Problem problem;
    Rank self;
    Aliasing aliasing;
    std::shared_ptr<const Blueprint> blueprint;
  };

  std::vector<Entry> entries_;  // Most recently used last.
};

}  // namespace tutti
