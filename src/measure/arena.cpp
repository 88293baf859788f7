#include "measure/arena.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "measure/operands.hpp"
#include "measure/quantile.hpp"
#include "measure/timing.hpp"

namespace tutti::measure {

Arena::Arena(Communicator& communicator, std::uint64_t most_bytes, BufferPair::Kind kind)
    : communicator_(communicator), aside_(communicator.duplicate()), buffers_(most_bytes, kind) {
  buffers_.clear(most_bytes);
}

double Arena::seconds(const Case& what, const Pace& pace, const CallOptions& options) {
  Call call = call_of(what, operands_in(buffers_, what, false, communicator_.rank(), ranks()));
  call.options.direct_from = options.direct_from;
  call.options.slice_bytes = options.slice_bytes;
  return 1e-6 * time_in_batches(aside_, pace, [&] { communicator_.run(call); });
}

std::vector<double> Arena::race(std::span<const Runner> runners, std::size_t rounds,
                                double hopeless) {
  std::vector<std::vector<double>> times(runners.size());
  double best = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < runners.size(); ++i) {
      if (round > 0 && times[i].front() > hopeless * best) continue;
      times[i].push_back(seconds(runners[i].what, runners[i].pace, runners[i].options));
      if (best == 0 || times[i].back() < best) best = times[i].back();
    }
  }
  std::vector<double> medians;
  medians.reserve(times.size());
  for (std::vector<double>& each : times) medians.push_back(median_of(std::move(each)));
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
