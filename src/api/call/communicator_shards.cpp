#include <cstring>
#include <memory>

#include "api/call/call_check.hpp"
#include "api/communicator_impl.hpp"

// Reductions of shards: a rank contributes any number of shards, or none.

namespace tutti {
namespace {

/// A copy of a call and of the arrays and texts to which it points, except for the buffers.
struct KeptCall {
  Call call;
  std::vector<const void*> shards;
  std::vector<std::uint64_t> counts;
  FlightSite site;

  explicit KeptCall(const Call& lent)
      : call(lent),
        shards(lent.shards->begin(), lent.shards->end()),
        counts(lent.counts.begin(), lent.counts.end()),
        site(lent.options.site) {
    call.shards = shards;
    call.counts = counts;
    call.output_counts = {};
    call.options.algorithm = {};
    call.options.site = site.text();
  }
  KeptCall(const KeptCall&) = delete;
  KeptCall& operator=(const KeptCall&) = delete;
};

}  // namespace

void Communicator::Impl::check_shards(const Call& call) {
  const Caller caller{.self = self_, .ranks = ranks_};
  check(call, caller);
  require_usable();
  check_counts(call, caller);
  tutti::check_shards(call, extent_of(call, self_, ranks_), caller);
}

Work Communicator::Impl::start_shards(const Call& call) {
  check_shards(call);
  return worker_.add(
      [this, kept = std::make_shared<const KeptCall>(call)] { perform_shards(kept->call); });
}

/// The calls that it consists of are prepared here, in the thread that runs them. So they need a
/// selector and a cache of their own.
void Communicator::Impl::perform_shards(const Call& call) {
  if (!shards_) shards_ = std::make_unique<ShardReduction>(selector_.twin(), self_, ranks_);
  const auto run = [&](const Call& part) {
    PlanCache& plans = shards_->plans();
    PlanCache::Entry* const found = plans.find(part);
    PlanCache::Entry& entry = found ? *found : plans.add(part, extent_of(part, self_, ranks_));
    const std::shared_ptr<const PreparedCall> ready = prepared(part, entry, shards_->selector());
    perform(*ready, part);
  };
  // With keep_input: a copy of the shard that the output overwrites, to restore it after a failure.
  const CallExtent extent = extent_of(call, self_, ranks_);
  const std::size_t bytes = extent.input * element_bytes_of(call);
  const std::size_t own = extent.own_block * element_bytes_of(call);
  std::vector<std::byte> kept;
  std::byte* overwritten = nullptr;
  for (const void* const shard : *call.shards) {
    const auto* const begin = static_cast<const std::byte*>(shard);
    if (!call.options.keep_input || call.output == nullptr || begin + own != call.output) continue;
    overwritten = const_cast<std::byte*>(begin);
    kept.assign(begin, begin + bytes);
  }
  try {
    shards_->perform(call, run);
  } catch (const Error& error) {
    if (!kept.empty()) std::memcpy(overwritten, kept.data(), kept.size());
    throw Error(error.code(), words(call, self_) + ", in shards: " + error.what());
  }
}

}  // namespace tutti
