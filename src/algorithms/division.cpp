#include "algorithms/division.hpp"

#include <algorithm>

namespace tutti {
namespace {

std::vector<RankGroup> parts_of(RankGroup group, std::uint32_t k) {
  const std::uint32_t count = std::min(k, group.count);
  const std::uint32_t length = group.count / count;
  const std::uint32_t longer = group.count % count;
  std::vector<RankGroup> parts;
  std::uint32_t first = group.first;
  for (std::uint32_t i = 0; i < count; ++i) {
    parts.push_back({.first = first, .count = length + (i < longer ? 1 : 0)});
    first += parts.back().count;
  }
  return parts;
}

bool contains(RankGroup group, Rank rank) {
  return rank >= group.first && rank - group.first < group.count;
}

/// The index of the rank in a part that sends to rank `index` of part number `to`.
std::uint32_t server(RankGroup part, std::uint32_t index, std::uint32_t to) {
  return index < part.count ? index : to % part.count;
}

}  // namespace

std::uint32_t division_depth(std::uint32_t ranks, std::uint32_t k) {
  std::uint32_t depth = 0;
  for (std::uint64_t reached = 1; reached < ranks; reached *= k) ++depth;
  return depth;
}

std::optional<Division> divided(std::uint32_t ranks, Rank self, std::uint32_t k,
                                std::uint32_t depth) {
  RankGroup group{.first = 0, .count = ranks};
  const auto holds_self = [&](RankGroup part) { return contains(part, self); };
  for (std::uint32_t level = 0; level < depth; ++level) {
    const std::vector<RankGroup> parts = parts_of(group, k);
    group = *std::find_if(parts.begin(), parts.end(), holds_self);
  }
  if (group.count < 2) return std::nullopt;

  Division cut{.parts = parts_of(group, k)};
  const auto count = static_cast<std::uint32_t>(cut.parts.size());
  cut.own = static_cast<std::uint32_t>(
      std::find_if(cut.parts.begin(), cut.parts.end(), holds_self) - cut.parts.begin());
  const RankGroup ours = cut.parts[cut.own];
  const std::uint32_t index = self - ours.first;
  for (std::uint32_t i = 0; i < count; ++i) {
    const RankGroup part = cut.parts[i];
    if (i != cut.own) cut.sources.emplace_back(part.first + server(part, index, cut.own));
  }
  // Each part starts with the next one, so that not all ranks send to the same part first.
  for (std::uint32_t i = 1; i < count; ++i) {
    const std::uint32_t to = (cut.own + i) % count;
    const RankGroup part = cut.parts[to];
    if (index < part.count) cut.receivers.emplace_back(part.first + index);
    const bool serves_last = part.count > ours.count && server(ours, ours.count, to) == index;
    if (serves_last) cut.receivers.emplace_back(part.first + ours.count);
  }
  return cut;
}

}  // namespace tutti
