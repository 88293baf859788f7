#pragma once

#include <cstdint>
#include <vector>

#include <tutti/call.hpp>

#include "flight/record.hpp"

namespace tutti {

/// A copy of a call and of the arrays and texts to which it points, except for the buffers.
struct KeptCall {
  Call call;
  std::vector<const void*> shards;
  std::vector<std::uint64_t> counts;
  FlightSite site;

  explicit KeptCall(const Call& given)
      : call(given),
        shards(given.shards->begin(), given.shards->end()),
        counts(given.counts.begin(), given.counts.end()),
        site(given.options.site) {
    call.shards = shards;
    call.counts = counts;
    call.output_counts = {};
    call.options.algorithm = {};
    call.options.site = site.text();
  }
  KeptCall(const KeptCall&) = delete;
  KeptCall& operator=(const KeptCall&) = delete;
};

}  // namespace tutti
