#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/call/compiled_call.hpp"

namespace tutti {

/// A cache of compiled calls, by their arguments. The two last used are found without a hash.
///
/// The key holds every argument that a check looks at. So a call that is found was checked before,
/// except for its buffers.
class PlanCache {
 public:
  /// Calls with the same arguments except for the buffers.
  class Entry {
   public:
    [[nodiscard]] const CallExtent& extent() const { return extent_; }
    /// How the buffers overlap, if they are those of the last call.
    [[nodiscard]] std::optional<Aliasing> aliasing(const Call& call) const {
      if (call.input != input_ || call.output != output_) return std::nullopt;
      return aliasing_;
    }
    void set_aliasing(const Call& call, Aliasing aliasing) {
      input_ = call.input;
      output_ = call.output;
      aliasing_ = aliasing;
    }
    /// Null until the call was compiled.
    [[nodiscard]] std::shared_ptr<const CompiledCall>& compiled(Aliasing aliasing) {
      return compiled_[static_cast<std::size_t>(aliasing)];
    }

   private:
    friend class PlanCache;

    /// What every call has.
    struct Basis {
      std::uint64_t count;
      std::size_t element_bytes;
      std::uint32_t root;
      Collective collective;
      DType dtype;
      Op op;
      Reproducible reproducible;
      bool is_custom;
      bool has_more;  // Something of the rest of the key.

      friend bool operator==(const Basis&, const Basis&) = default;
    };
    struct Key {
      Basis basis;
      std::string algorithm;
      std::uint64_t schedule;  // Its content hash; zero if there is none.
      Shape shape;
      std::vector<std::uint64_t> counts;
      std::vector<std::uint64_t> output_counts;
    };

    Key key_;
    std::size_t hash_ = 0;
    CallExtent extent_;
    std::array<std::shared_ptr<const CompiledCall>, 2> compiled_{};
    const void* input_ = nullptr;  // Of the last call,
    const void* output_ = nullptr;
    std::optional<Aliasing> aliasing_{};  // if they were checked.
  };

  /// Returns null if there is no entry for the call.
  [[nodiscard]] Entry* find(const Call& call);
  /// Adds an entry. If the cache is full, removes the least recently used one.
  Entry& add(const Call& call, const CallExtent& extent);

  /// For plans of calls that differ only in size.
  [[nodiscard]] BlueprintCache& blueprints() { return blueprints_; }

  static constexpr std::size_t most_entries = 1024;

 private:
  void evict();
  [[nodiscard]] static Entry::Basis basis_of(const Call& call);
  [[nodiscard]] static bool matches(const Entry::Key& key, const Call& call);
  [[nodiscard]] static std::size_t hash(const Call& call);

  BlueprintCache blueprints_;
  std::list<Entry> entries_;  // Most recently used first.
  std::unordered_multimap<std::size_t, std::list<Entry>::iterator> by_hash_;
};

}  // namespace tutti
