#include <algorithm>
#include <cmath>

#include <tutti/error.hpp>
#include <tutti/schedule/crossover.hpp>

namespace tutti {
namespace {

/// The time of the first schedule minus that of the second.
class Difference {
 public:
  Difference(const Schedule& first, const Schedule& second, const CostModel& model, Ports ports)
      : first_(first),
        second_(second),
        first_pricer_(first),
        second_pricer_(second),
        model_(model),
        ports_(ports) {}

  [[nodiscard]] double at(std::uint64_t size) const {
    return first_pricer_.price(even_layout(first_.contract, size), model_, ports_).seconds -
           second_pricer_.price(even_layout(second_.contract, size), model_, ports_).seconds;
  }

 private:
  const Schedule& first_;
  const Schedule& second_;
  Pricer first_pricer_;
  Pricer second_pricer_;
  const CostModel& model_;
  Ports ports_;
};

/// A size and the difference at that size.
struct Sample {
  std::uint64_t size;
  double difference;
};

/// Prices are nearly linear in the size, so the zero of the line through both ends is a good guess.
/// The midpoint is the safe choice.
std::uint64_t guess(const Sample& low, const Sample& high, bool safe) {
  const std::uint64_t middle = low.size + (high.size - low.size) / 2;
  if (safe) return middle;
  const double part = low.difference / (low.difference - high.difference);
  const auto width = static_cast<double>(high.size - low.size);
  const auto step = static_cast<std::uint64_t>(std::llround(part * width));
  return std::clamp(low.size + step, low.size + 1, high.size - 1);
}

/// Two sizes between which the faster schedule changes; no value if none is found.
std::optional<std::pair<Sample, Sample>> bracket(const Difference& difference, std::uint64_t from,
                                                 std::uint64_t to) {
  Sample low{from, difference.at(from)};
  const bool below = low.difference < 0;
  // Within a factor of 16 two crossings are unlikely.
  while (low.size < to) {
    const std::uint64_t next = low.size > to / 16 ? to : std::max<std::uint64_t>(low.size, 1) * 16;
    const Sample high{next, difference.at(next)};
    if ((high.difference < 0) != below && high.difference != low.difference) return {{low, high}};
    low = high;
  }
  return std::nullopt;
}

}  // namespace

Crossover crossover(const Schedule& first, const Schedule& second, const CostModel& model,
                    Ports ports, std::uint64_t from, std::uint64_t to) {
  if (first.contract.collective != second.contract.collective ||
      first.contract.ranks != second.contract.ranks) {
    throw Error(ErrorCode::invalid_argument,
                "'" + first.name + "' and '" + second.name +
                    "' cannot be compared: a crossover needs schedules for the same collective "
                    "and number of ranks");
  }
  if (from > to) {
    throw Error(ErrorCode::invalid_argument,
                "the lower size of a crossover search exceeds the upper one");
  }
  const Difference difference(first, second, model, ports);
  const auto found = bracket(difference, from, to);
  Crossover crossing;
  if (!found) {
    crossing.first_wins_below = crossing.first_wins_above = difference.at(to) < 0;
    return crossing;
  }
  auto [low, high] = *found;
  crossing.first_wins_below = low.difference < 0;
  crossing.first_wins_above = !crossing.first_wins_below;
  for (bool safe = false; high.size - low.size > 1; safe = !safe) {
    const std::uint64_t size = guess(low, high, safe);
    const Sample middle{size, difference.at(size)};
    const bool still_below = (middle.difference < 0) == crossing.first_wins_below;
    (still_below ? low : high) = middle;
  }
  crossing.size = high.size;
  return crossing;
}

}  // namespace tutti
