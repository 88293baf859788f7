#pragma once

#include <cstdint>
#include <vector>

#include <tutti/call.hpp>

#include "flight/record.hpp"

namespace tutti {

/// A copy of a checked call that outlives what the caller's points to, except for the buffers.
struct KeptCall {
  Call call;
  std::vector<const void*> shards{};
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t> output_counts;
  FlightSite site;

  explicit KeptCall(const Call& given)
      : call(given),
        counts(given.counts.begin(), given.counts.end()),
        output_counts(given.output_counts.begin(), given.output_counts.end()),
        site(given.options.site) {
    if (given.shards) {
      shards.assign(given.shards->begin(), given.shards->end());
      call.shards = shards;
    }
    call.counts = counts;
    call.output_counts = output_counts;
    call.options.algorithm = {};
    call.options.schedule = nullptr;
    call.options.shape = {};
    call.options.site = site.text();
  }
  KeptCall(const KeptCall&) = delete;
  KeptCall& operator=(const KeptCall&) = delete;
};

}  // namespace tutti
