#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/call/prepared_call.hpp"

namespace tutti {

/// Calls made ready, found again by what they ask for. The one used last is found at once.
class PlanCache {
 public:
  /// Null if there is none.
  [[nodiscard]] const std::shared_ptr<const PreparedCall>* find(const Call& call,
                                                                Aliasing aliasing);
  /// Remembers it; forgets all others when there are too many.
  const std::shared_ptr<const PreparedCall>& add(const Call& call, Aliasing aliasing,
                                                 PreparedCall prepared);

 private:
  struct Key {
    Collective collective;
    Aliasing aliasing;
    DType dtype;
    Op op;
    bool is_custom;
    Reproducible reproducible;
    std::uint32_t root;
    std::size_t element_bytes;
    std::uint64_t count;
    std::string algorithm;
    std::uint64_t schedule;  // Its content hash; zero if there is none.
    Shape shape;
    std::vector<std::uint64_t> counts;
    std::vector<std::uint64_t> output_counts;
  };
  struct Entry {
    Key key;
    std::shared_ptr<const PreparedCall> prepared;
  };

  [[nodiscard]] static bool matches(const Key& key, const Call& call, Aliasing aliasing);
  [[nodiscard]] static std::size_t hash(const Call& call, Aliasing aliasing);

  static constexpr std::size_t most_entries = 1024;

  std::unordered_multimap<std::size_t, Entry> entries_;
  Entry* last_ = nullptr;
};

}  // namespace tutti
