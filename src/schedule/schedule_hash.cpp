#include <array>
#include <cstdio>

#include <tutti/schedule/schedule_hash.hpp>

#include "core/hash.hpp"

namespace tutti {
namespace {

class ContentHash {
 public:
  void add(std::uint64_t word) { value_ = mixed(value_, word); }

  void add(const Contract& contract) {
    add(static_cast<std::uint64_t>(contract.collective));
    add(contract.ranks);
    add(has_root(contract.collective) ? contract.root : 0);
    add(contract.chunks);
  }

  void add(const Step& step) {
    add(static_cast<std::uint64_t>(step.kind));
    add(step.round);
    add(step.peers.size());
    for (const Rank peer : step.peers) add(peer);
    add(step.own ? std::uint64_t{*step.own} + 1 : 0);
    add(step.variant.index());
    add(step.own_variant.index());
    add(step.sources.size());
    for (const Variant source : step.sources) add(source.index());
    add(step.chunks);
  }

  [[nodiscard]] std::uint64_t value() const { return value_ == 0 ? 1 : value_; }

 private:
  /// Adjacent ranges are joined, so that the hash does not depend on how they are written.
  void add(std::span<const ChunkRange> chunks) {
    joined_.clear();
    for (const ChunkRange& range : chunks) {
      if (!joined_.empty() && joined_.back().end() == range.first) {
        joined_.back().count += range.count;
      } else {
        joined_.push_back(range);
      }
    }
    add(joined_.size());
    for (const ChunkRange& range : joined_) {
      add(range.first.index());
      add(range.count);
    }
  }

  std::uint64_t value_ = 0;
  std::vector<ChunkRange> joined_;
};

}  // namespace

std::uint64_t content_hash(const Schedule& schedule) {
  ContentHash hash;
  hash.add(schedule.contract);
  hash.add(schedule.rounds());
  for (const Program& program : schedule.programs) {
    hash.add(program.size());
    for (const Step step : program) hash.add(step);
  }
  return hash.value();
}

std::string hash_text(std::uint64_t hash) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  return digits.data();
}

}  // namespace tutti
