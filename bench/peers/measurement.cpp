#include "peers/measurement.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "peers/verification.hpp"

namespace peers {
namespace {

using Clock = std::chrono::steady_clock;

/// Enough for a median, and few enough that reducing the durations is fast.
constexpr std::size_t most_iterations = 200'000;

using Buffer = std::shared_ptr<std::byte>;

/// Written once, so that no page fault is measured. Zeros stay zeros when they are summed in place.
Buffer buffer(Peer& peer, std::size_t bytes) {
  Buffer memory = peer.allocate(bytes);
  std::fill_n(memory.get(), bytes, std::byte{0});
  return memory;
}

double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

/// What is repeated.
struct Iteration {
  std::function<void()> run;
  /// This rank's input. Empty where it has none.
  std::span<std::byte> input{};
  unsigned char last_written = 0;

  /// Writes other values than the last time, small in every element type.
  void rewrite_input() {
    constexpr unsigned char largest = 0x3f;
    last_written = last_written == largest ? 1 : last_written + 1;
    std::memset(input.data(), last_written, input.size());
  }
};

/// Runs an iteration and returns its time on this rank.
double timed(StartingLine& line, const Request& request, Iteration& iteration) {
  if (request.fresh) iteration.rewrite_input();
  if (request.barrier || request.fresh) line.wait();
  const Clock::time_point begin = Clock::now();
  iteration.run();
  return microseconds(Clock::now() - begin);
}

/// Runs more and more iterations until they take long enough; returns the approximate time of one,
/// with overhead, the same on all ranks.
double warm_up(Peer& peer, StartingLine& line, const Request& request, Iteration& iteration) {
  if (request.warm_ups) {
    for (std::size_t i = 0; i < *request.warm_ups; ++i) timed(line, request, iteration);
    if (request.seconds == 0) return 0;
  }
  const double enough = request.seconds * 1e6 / 8;
  for (std::size_t batch = 1;; batch *= 2) {
    peer.barrier();
    const Clock::time_point begin = Clock::now();
    for (std::size_t i = 0; i < batch; ++i) timed(line, request, iteration);
    double took = microseconds(Clock::now() - begin);
    peer.maximum({&took, 1});
    if (took >= enough || batch >= most_iterations) return took / static_cast<double>(batch);
  }
}

/// Runs as many iterations as fit into the time. If ranks share cores an estimate may be far off,
/// so the ranks check the clock together from time to time.
std::vector<double> durations(Peer& peer, StartingLine& line, const Request& request,
                              Iteration& iteration, double estimate) {
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
    while (found.size() < end) found.push_back(timed(line, request, iteration));
    double took = microseconds(Clock::now() - begin);
    peer.maximum({&took, 1});
    if (took >= request.seconds * 1e6) break;
  }
  peer.maximum(found);
  return found;
}

/// A quantile, with linear interpolation.
double quantile(const std::vector<double>& sorted, double part) {
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

Measurement summary(std::vector<double> sorted) {
  std::sort(sorted.begin(), sorted.end());
  return {.iterations = sorted.size(),
          .median = quantile(sorted, 0.5),
          .p10 = quantile(sorted, 0.1),
          .p90 = quantile(sorted, 0.9)};
}

}  // namespace

Case case_of(const Request& request, int ranks) {
  const Collective c = request.collective;
  Case one{.collective = c, .dtype = request.dtype, .op = reduces(c) ? request.op : Op::none};
  if (has_root(c)) one.root = request.root;
  const bool whole =
      c == Collective::broadcast || c == Collective::reduce || c == Collective::allreduce;
  const std::size_t parts = whole ? 1 : static_cast<std::size_t>(ranks);
  one.count = std::max<std::size_t>(1, request.bytes / size_of(request.dtype) / parts);
  return one;
}

Measurement measure(Peer& peer, StartingLine& line, const Request& request) {
  const Case what = case_of(request, peer.ranks());
  const std::size_t each = size_of(what.dtype);
  const std::size_t in = input_elements(what, peer.ranks(), peer.rank()) * each;
  const std::size_t out = output_elements(what, peer.ranks(), peer.rank()) * each;
  const bool in_place = request.in_place || what.collective == Collective::broadcast;
  // Rooted collectives use the root's larger buffer; some libraries use it elsewhere as scratch.
  const std::size_t larger = std::max(in, out);
  const Buffer output = buffer(peer, larger);
  const Buffer input = in_place ? nullptr : buffer(peer, in);
  const Call call{
      .what = what, .input = in_place ? output.get() : input.get(), .output = output.get()};
  std::optional<std::size_t> wrong;
  if (request.seed) {
    wrong = count_wrong(peer, call, *request.seed);
    std::fill_n(output.get(), larger, std::byte{0});
    if (!in_place) std::fill_n(input.get(), in, std::byte{0});
  }
  Iteration iteration{.run = peer.prepare(call), .input = {call.input, in}};

  const double estimate = warm_up(peer, line, request, iteration);
  Measurement found = summary(durations(peer, line, request, iteration, estimate));
  found.wrong = wrong;
  found.algorithm = peer.algorithm(call);
  return found;
}

}  // namespace peers
