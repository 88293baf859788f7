#include "api/call/overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace tutti {

bool overlap(std::span<const Outgoing> out, std::span<const Incoming> in) {
  if (out.empty() || in.empty()) return false;
  struct Bytes {
    std::uintptr_t begin;
    std::uintptr_t end;
  };
  const auto bytes_of = [](const auto& message) {
    const auto begin = reinterpret_cast<std::uintptr_t>(message.data);
    return Bytes{.begin = begin, .end = begin + message.bytes};
  };
  std::vector<Bytes> sent;
  sent.reserve(out.size());
  for (const Outgoing& each : out) {
    if (each.bytes > 0) sent.push_back(bytes_of(each));
  }
  std::sort(sent.begin(), sent.end(),
            [](const Bytes& a, const Bytes& b) { return a.begin < b.begin; });
  // From here on `end` is the last end of all sends that begin no later.
  for (std::size_t i = 1; i < sent.size(); ++i) {
    sent[i].end = std::max(sent[i].end, sent[i - 1].end);
  }
  return std::any_of(in.begin(), in.end(), [&](const Incoming& each) {
    const Bytes to = bytes_of(each);
    const auto after = std::partition_point(sent.begin(), sent.end(),
                                            [&](const Bytes& from) { return from.begin < to.end; });
    return each.bytes > 0 && after != sent.begin() && std::prev(after)->end > to.begin;
  });
}

}  // namespace tutti
