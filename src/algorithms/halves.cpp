#include "algorithms/halves.hpp"

namespace tutti {

std::optional<Halves> halves(std::uint32_t ranks, Rank self, std::uint32_t depth) {
  const std::uint32_t r = self;
  std::uint32_t first = 0;
  std::uint32_t count = ranks;
  const auto lower = [&] { return count - count / 2; };
  for (std::uint32_t level = 0; level < depth; ++level) {
    const bool in_upper = r >= first + lower();
    const std::uint32_t half = in_upper ? count / 2 : lower();
    if (in_upper) first += lower();
    count = half;
  }
  if (count < 2) return std::nullopt;

  const std::uint32_t upper_first = first + lower();
  const std::uint32_t upper_count = count / 2;
  const std::uint32_t lower_count = lower();
  Halves cut;
  if (r < upper_first) {
    const std::uint32_t i = r - first;
    const bool alone = i == upper_count;
    cut = {.own_first = first,
           .own_count = lower_count,
           .other_first = upper_first,
           .other_count = upper_count,
           .source = alone ? upper_first : upper_first + i,
           .receivers = {}};
    if (!alone) cut.receivers = {upper_first + i};
  } else {
    const std::uint32_t i = r - upper_first;
    cut = {.own_first = upper_first,
           .own_count = upper_count,
           .other_first = first,
           .other_count = lower_count,
           .source = first + i,
           .receivers = {first + i}};
    if (i == 0 && lower_count > upper_count) cut.receivers.emplace_back(upper_first - 1);
  }
  return cut;
}

}  // namespace tutti
