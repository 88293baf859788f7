#include "api/call/plan_cache.hpp"

#include <algorithm>

#include <tutti/schedule/proved_schedule.hpp>

namespace tutti {
namespace {

std::uint64_t schedule_of(const Call& call) {
  return call.options.schedule == nullptr ? 0 : call.options.schedule->hash();
}

}  // namespace

const std::shared_ptr<const PreparedCall>* PlanCache::find(const Call& call, Aliasing aliasing) {
  if (last_ != nullptr && matches(last_->key, call, aliasing)) return &last_->prepared;
  const auto [begin, end] = entries_.equal_range(hash(call, aliasing));
  for (auto each = begin; each != end; ++each) {
    if (!matches(each->second.key, call, aliasing)) continue;
    last_ = &each->second;
    return &last_->prepared;
  }
  return nullptr;
}

const std::shared_ptr<const PreparedCall>& PlanCache::add(const Call& call, Aliasing aliasing,
                                                          PreparedCall prepared) {
  if (entries_.size() >= most_entries) entries_.clear();
  Entry entry{.key = {.collective = call.collective,
                      .aliasing = aliasing,
                      .dtype = call.dtype,
                      .op = call.reduction.op(),
                      .is_custom = call.reduction.combine() != nullptr,
                      .reproducible = call.options.reproducible,
                      .root = call.root,
                      .element_bytes = call.element_bytes,
                      .count = call.count,
                      .algorithm = std::string(call.options.algorithm),
                      .schedule = schedule_of(call),
                      .shape = call.options.shape,
                      .counts = {call.counts.begin(), call.counts.end()},
                      .output_counts = {call.output_counts.begin(), call.output_counts.end()}},
              .prepared = std::make_shared<const PreparedCall>(std::move(prepared))};
  last_ = &entries_.emplace(hash(call, aliasing), std::move(entry))->second;
  return last_->prepared;
}

bool PlanCache::matches(const Key& key, const Call& call, Aliasing aliasing) {
  return key.count == call.count && key.collective == call.collective && key.aliasing == aliasing &&
         key.dtype == call.dtype && key.op == call.reduction.op() &&
         key.is_custom == (call.reduction.combine() != nullptr) &&
         key.reproducible == call.options.reproducible && key.root == call.root &&
         key.element_bytes == call.element_bytes && key.algorithm == call.options.algorithm &&
         key.schedule == schedule_of(call) && key.shape == call.options.shape &&
         std::equal(key.counts.begin(), key.counts.end(), call.counts.begin(), call.counts.end()) &&
         std::equal(key.output_counts.begin(), key.output_counts.end(), call.output_counts.begin(),
                    call.output_counts.end());
}

std::size_t PlanCache::hash(const Call& call, Aliasing aliasing) {
  std::size_t hash = call.count * 31 + call.root;
  hash = hash * 31 + static_cast<std::size_t>(call.collective);
  hash = hash * 31 + static_cast<std::size_t>(aliasing);
  hash = hash * 31 + static_cast<std::size_t>(call.dtype);
  hash = hash * 31 + static_cast<std::size_t>(call.reduction.op());
  hash = hash * 31 + static_cast<std::size_t>(call.options.reproducible);
  hash = hash * 31 + schedule_of(call);
  for (const std::uint64_t count : call.counts) hash = hash * 31 + count;
  return hash;
}

}  // namespace tutti
