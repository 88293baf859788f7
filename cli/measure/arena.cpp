#include "cli/measure/arena.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>

#include "cli/measure/operands.hpp"
#include "cli/measure/quantile.hpp"
#include "cli/measure/timing.hpp"

namespace tutti::measure {
namespace {

/// Keeps the faster half, at least three, and case 0, in their order.
void drop_slower_half(std::vector<std::size_t>& cases,
                      const std::vector<std::vector<double>>& times) {
  const std::size_t kept = std::max<std::size_t>(3, (cases.size() + 1) / 2);
  if (cases.size() <= kept) return;
  std::vector<double> sorted;
  for (const std::size_t i : cases) sorted.push_back(median_of(times[i]));
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(kept - 1),
                   sorted.end());
  const double last = sorted[kept - 1];
  std::erase_if(cases, [&](std::size_t i) { return i != 0 && median_of(times[i]) > last; });
}

}  // namespace

Arena::Arena(Communicator& communicator, std::uint64_t most_bytes, BufferPair::Kind kind)
    : communicator_(communicator), aside_(communicator.duplicate()), buffers_(most_bytes, kind) {
  buffers_.clear(most_bytes);
}

double Arena::seconds(const Case& what, const Pace& pace, const CallOptions::Tuning& tuning) {
  const auto call_with = [&](const Operands& operands) {
    Call call = call_of(what, operands);
    call.options.tuning = tuning;
    return call;
  };
  const auto operands = [&](bool in_place) {
    return operands_in(buffers_, what, in_place, communicator_.rank(), ranks());
  };
  std::vector<Operands> data{operands(false)};
  if (what.collective == Collective::allreduce) data.push_back(operands(true));
  double sum = 0;
  for (Operands& each : data) {
    const Call call = call_with(each);
    sum += time_in_batches(
        aside_, pace, [&] { communicator_.run(call); }, [&] { each.rewrite_input(); });
  }
  return 1e-6 * sum / static_cast<double>(data.size());
}

std::vector<double> Arena::race(std::span<const Runner> runners, const Race& race) {
  using Clock = std::chrono::steady_clock;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Clock::time_point begun = Clock::now();
  const bool limited = std::isfinite(race.seconds);
  const auto is_over = [&] {
    const std::chrono::duration<double> spent = Clock::now() - begun;
    return limited && ask_leader(spent.count() > race.seconds);
  };
  std::vector<std::vector<double>> times(runners.size());
  std::vector<std::size_t> left(runners.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  double best = infinity;
  const auto run = [&](std::size_t i) {
    Pace pace = runners[i].pace;
    // Twice the margin: the first call of its kind is slower than others.
    if (limited) pace.give_up = std::min(pace.give_up, 2 * race.hopeless * best);
    times[i].push_back(seconds(runners[i].what, pace, runners[i].tuning));
    best = std::min(best, times[i].back());
  };
  constexpr std::size_t least = 2;
  bool over = false;
  for (std::size_t round = 0; round < race.rounds && !over; ++round) {
    for (const std::size_t i : left) {
      over = (round > 0 || i >= least) && is_over();
      if (over) break;
      run(i);
    }
    std::erase_if(left, [&](std::size_t i) {
      return times[i].empty() || times[i].front() > race.hopeless * best;
    });
    if (race.halves) drop_slower_half(left, times);
  }
  std::vector<double> medians;
  medians.reserve(times.size());
  for (std::vector<double>& each : times) {
    medians.push_back(each.empty() ? infinity : median_of(std::move(each)));
  }
  return medians;
}

double Arena::message_seconds(std::uint64_t bytes, std::size_t times) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t warm_ups = 3;
  const std::span<std::byte> data(buffers_.first(), bytes);
  std::vector<double> round_trips;
  const std::uint32_t self = communicator_.rank();
  for (std::size_t i = 0; self < 2 && i < times + warm_ups; ++i) {
    const Clock::time_point begin = Clock::now();
    if (self == 0) communicator_.send(data, 1);
    communicator_.receive(data, 1 - self);
    if (self == 1) communicator_.send(data, 0);
    if (i < warm_ups) continue;
    round_trips.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::array<double, 1> round_trip{self == 0 ? median_of(std::move(round_trips)) : 0};
  aside_.broadcast(round_trip, 0);
  return round_trip[0] / 2;
}

bool Arena::ask_leader(bool own) {
  std::array<std::uint8_t, 1> answer{static_cast<std::uint8_t>(own ? 1 : 0)};
  aside_.broadcast(answer, 0);
  return answer[0] != 0;
}

}  // namespace tutti::measure
