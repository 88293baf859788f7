#include "peers/measurement.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

namespace peers {
namespace {

using Clock = std::chrono::steady_clock;

/// Enough for a median; and the durations of so many are quickly reduced.
constexpr std::size_t most_iterations = 200'000;

using Buffer = std::shared_ptr<std::byte>;

/// Written to, so that no page fault is measured. Zeros stay zeros however often they are added up
/// in place.
Buffer buffer(Peer& peer, std::size_t bytes) {
  Buffer memory = peer.allocate(bytes);
  std::fill_n(memory.get(), bytes, std::byte{0});
  return memory;
}

double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

/// An iteration, and how long it took here.
double timed(Peer& peer, const Request& request, const std::function<void()>& run) {
  if (request.barrier) peer.barrier();
  const Clock::time_point begin = Clock::now();
  run();
  return microseconds(Clock::now() - begin);
}

/// Runs ever more iterations until they take some time; returns about how long one takes with all
/// that goes with it, the same on all ranks.
double warm_up(Peer& peer, const Request& request, const std::function<void()>& run) {
  const double enough = request.seconds * 1e6 / 8;
  for (std::size_t batch = 1;; batch *= 2) {
    peer.barrier();
    const Clock::time_point begin = Clock::now();
    for (std::size_t i = 0; i < batch; ++i) timed(peer, request, run);
    double took = microseconds(Clock::now() - begin);
    peer.maximum({&took, 1});
    if (took >= enough || batch >= most_iterations) return took / static_cast<double>(batch);
  }
}

/// As many as fit into the time. An estimate may be wrong by far where ranks share cores, so the
/// ranks look at the clock together now and then.
std::vector<double> durations(Peer& peer, const Request& request, const std::function<void()>& run,
                              double estimate) {
  const std::size_t least = std::max<std::size_t>(request.least, 1);
  const double wanted = request.seconds * 1e6 / std::max(estimate, 0.01);
  const auto iterations =
      std::max(least, static_cast<std::size_t>(std::min(wanted, double{most_iterations})));
  const std::size_t batch = std::max(least, iterations / 8);
  std::vector<double> found;
  found.reserve(iterations);
  const Clock::time_point begin = Clock::now();
  while (found.size() < iterations) {
    peer.barrier();
    const std::size_t end = std::min(found.size() + batch, iterations);
    while (found.size() < end) found.push_back(timed(peer, request, run));
    double took = microseconds(Clock::now() - begin);
    peer.maximum({&took, 1});
    if (took >= request.seconds * 1e6) break;
  }
  peer.maximum(found);
  return found;
}

Measurement summary(std::vector<double> sorted) {
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  return {
      .iterations = n, .median = sorted[n / 2], .p10 = sorted[n / 10], .p90 = sorted[n * 9 / 10]};
}

}  // namespace

Case case_of(const Request& request, int ranks) {
  const Collective c = request.collective;
  Case one{.collective = c, .dtype = DType::f32, .op = reduces(c) ? Op::sum : Op::none};
  if (has_root(c)) one.root = 0;
  const bool whole =
      c == Collective::broadcast || c == Collective::reduce || c == Collective::allreduce;
  const std::size_t parts = whole ? 1 : static_cast<std::size_t>(ranks);
  one.count = std::max<std::size_t>(1, request.bytes / sizeof(float) / parts);
  return one;
}

Measurement measure(Peer& peer, const Request& request) {
  const Case what = case_of(request, peer.ranks());
  const std::size_t in = input_elements(what, peer.ranks(), peer.rank()) * sizeof(float);
  const std::size_t out = output_elements(what, peer.ranks(), peer.rank()) * sizeof(float);
  const bool in_place = request.in_place || what.collective == Collective::broadcast;
  // Rooted collectives use the root's larger buffer; some libraries use it elsewhere as scratch.
  const Buffer output = buffer(peer, std::max(in, out));
  const Buffer input = in_place ? nullptr : buffer(peer, in);
  const std::function<void()> run = peer.prepare(
      {.what = what, .input = in_place ? output.get() : input.get(), .output = output.get()});

  const double estimate = warm_up(peer, request, run);
  return summary(durations(peer, request, run, estimate));
}

}  // namespace peers
