#include "api/call/plan_cache.hpp"

#include <algorithm>

#include <tutti/schedule/proved_schedule.hpp>

#include "core/hash.hpp"

namespace tutti {
namespace {

std::uint64_t schedule_of(const Call& call) {
  return call.options.schedule == nullptr ? 0 : call.options.schedule->hash();
}

}  // namespace

PlanCache::Entry* PlanCache::find(const Call& call) {
  // Most programs repeat one call, or two in turns.
  constexpr std::size_t tried = 2;
  std::size_t tries = 0;
  for (auto each = entries_.begin(); each != entries_.end() && tries < tried; ++each, ++tries) {
    if (!matches(each->key_, call)) continue;
    entries_.splice(entries_.begin(), entries_, each);
    return &entries_.front();
  }
  const auto [begin, end] = by_hash_.equal_range(hash(call));
  for (auto each = begin; each != end; ++each) {
    if (!matches(each->second->key_, call)) continue;
    entries_.splice(entries_.begin(), entries_, each->second);
    return &entries_.front();
  }
  return nullptr;
}

PlanCache::Entry& PlanCache::add(const Call& call, const CallExtent& extent) {
  if (entries_.size() >= most_entries) evict();
  Entry entry;
  entry.key_ = {.basis = basis_of(call),
                .algorithm = std::string(call.options.algorithm),
                .schedule = schedule_of(call),
                .shape = call.options.shape,
                .counts = {call.counts.begin(), call.counts.end()},
                .output_counts = {call.output_counts.begin(), call.output_counts.end()}};
  entry.extent_ = extent;
  entry.hash_ = hash(call);
  entries_.push_front(std::move(entry));
  by_hash_.emplace(entries_.front().hash_, entries_.begin());
  return entries_.front();
}

void PlanCache::evict() {
  const auto oldest = std::prev(entries_.end());
  const auto [begin, end] = by_hash_.equal_range(oldest->hash_);
  by_hash_.erase(std::find_if(begin, end, [&](const auto& each) { return each.second == oldest; }));
  entries_.erase(oldest);
}

PlanCache::Entry::Basis PlanCache::basis_of(const Call& call) {
  const CallOptions& options = call.options;
  return {.count = call.count,
          .element_bytes = call.element_bytes,
          .root = call.root,
          .collective = call.collective,
          .dtype = call.dtype,
          .op = call.reduction.op(),
          .reproducible = options.reproducible,
          .is_custom = call.reduction.combine() != nullptr,
          .has_more = !options.algorithm.empty() || options.schedule != nullptr ||
                      !options.shape.empty() || !call.counts.empty() ||
                      !call.output_counts.empty()};
}

bool PlanCache::matches(const Entry::Key& key, const Call& call) {
  if (key.basis != basis_of(call)) return false;
  if (!key.basis.has_more) return true;
  return key.algorithm == call.options.algorithm && key.schedule == schedule_of(call) &&
         key.shape == call.options.shape &&
         std::equal(key.counts.begin(), key.counts.end(), call.counts.begin(), call.counts.end()) &&
         std::equal(key.output_counts.begin(), key.output_counts.end(), call.output_counts.begin(),
                    call.output_counts.end());
}

std::size_t PlanCache::hash(const Call& call) {
  std::uint64_t hash = mixed(call.count, call.root);
  for (const std::uint64_t each :
       {static_cast<std::uint64_t>(call.collective), static_cast<std::uint64_t>(call.dtype),
        static_cast<std::uint64_t>(call.reduction.op()),
        static_cast<std::uint64_t>(call.options.reproducible), schedule_of(call)}) {
    hash = mixed(hash, each);
  }
  for (const std::uint64_t count : call.counts) hash = mixed(hash, count);
  return hash;
}

}  // namespace tutti
