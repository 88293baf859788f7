#include "cli/fusion/measurement.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <tutti/bucketer.hpp>
#include <tutti/memory.hpp>

#include "cli/console/exit_code.hpp"
#include "cli/console/own_program.hpp"
#include "cli/console/text.hpp"
#include "cli/fusion/fusion.hpp"
#include "cli/launch/launcher.hpp"
#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "rendezvous/environment.hpp"

namespace tutti::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int rounds = 5;

struct Measured {
  std::uint64_t bucket;
  std::uint64_t calls;
  double seconds;
};

/// The median over rounds of the maximum over ranks, after one round that is not measured.
template <class Work>
double median_time(Communicator& comm, const Work& work) {
  std::vector<double> times;
  for (int i = 0; i <= rounds; ++i) {
    comm.barrier();
    const Clock::time_point begun = Clock::now();
    work();
    std::vector<double> longest{std::chrono::duration<double>(Clock::now() - begun).count()};
    comm.all_reduce(longest, Op::max);
    if (i > 0) times.push_back(longest.front());
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[rounds / 2];
}

/// Adjacent tensors, so that a bucket is reduced in place.
std::vector<Tensor> declared(std::span<float> memory, std::size_t count) {
  const std::size_t each = memory.size() / count;
  std::vector<Tensor> found;
  for (std::size_t i = 0; i < count; ++i) found.push_back(tensor(memory.subspan(i * each, each)));
  return found;
}

double time_of_buckets(Communicator& comm, const FusionMeasurement& request,
                       std::span<const Tensor> tensors, std::uint64_t bucket) {
  Bucketer bucketer(comm, tensors,
                    {.bucket_bytes = bucket,
                     .first_bucket_bytes = bucket,
                     .reduction = Op::max,  // Repeated sums would overflow.
                     .call = {.algorithm = request.algorithm}});
  return median_time(comm, [&] {
    for (std::size_t i = 0; i < tensors.size(); ++i) bucketer.ready(i);
    bucketer.finish();
  });
}

double time_of_calls(Communicator& comm, const FusionMeasurement& request, std::span<float> memory,
                     std::size_t tensors) {
  const std::size_t each = memory.size() / tensors;
  return median_time(comm, [&] {
    for (std::size_t i = 0; i < tensors; ++i) {
      comm.all_reduce(memory.subspan(i * each, each), Op::max, {.algorithm = request.algorithm});
    }
  });
}

void print(const FusionMeasurement& request, const Communicator& comm,
           const std::vector<Measured>& rows) {
  using Align = TextTable::Align;
  TextTable table({{"bucket", Align::right},
                   {"calls", Align::right},
                   {"measured", Align::right},
                   {"faster", Align::right}});
  for (const Measured& each : rows) {
    table.add({format_bytes(each.bucket), with_commas(each.calls), format_seconds(each.seconds),
               fixed(rows.front().seconds / each.seconds, 2) + "x"});
  }
  std::printf("%s\n%s tensors of %s bytes, adjacent in memory; median of %d rounds\n\n%s",
              comm.description().c_str(), with_commas(request.tensors).c_str(),
              with_commas(request.tensor).c_str(), rounds, table.text().c_str());
  std::printf("\nThe first line is a call for each tensor, the others are a tutti::Bucketer.\n");
}

void print_json(const FusionMeasurement& request, const std::vector<Measured>& rows) {
  Json document{{"ranks", request.ranks}, {"tensors", request.tensors}, {"tensor", request.tensor}};
  document["measured"] = Json::array();
  for (const Measured& each : rows) {
    document["measured"].push_back(
        {{"bucket", each.bucket}, {"calls", each.calls}, {"seconds", each.seconds}});
  }
  std::puts(json_text(document, 2).c_str());
}

int take_part(const FusionMeasurement& request) {
  Communicator comm = Communicator::from_environment();
  std::vector<float, Allocator<float>> memory(request.tensors * request.tensor / sizeof(float), 1);
  const std::span<float> data(memory);
  const std::vector<Tensor> tensors = declared(data, request.tensors);
  std::vector<Measured> rows{{.bucket = request.tensor,
                              .calls = request.tensors,
                              .seconds = time_of_calls(comm, request, data, request.tensors)}};
  for (const std::uint64_t bucket : request.buckets) {
    const std::uint64_t fused = std::min(tensors_in(bucket, request.tensor), request.tensors);
    if (fused == 1) continue;
    rows.push_back({.bucket = fused * request.tensor,
                    .calls = (request.tensors + fused - 1) / fused,
                    .seconds = time_of_buckets(comm, request, tensors, fused * request.tensor)});
  }
  if (comm.rank() == 0) request.json ? print_json(request, rows) : print(request, comm, rows);
  return success;
}

}  // namespace

int measure_fusion(const FusionMeasurement& request, std::vector<std::string> words) {
  const Launch launched = read_environment(environment_variable);
  if (launched.how != Launch::How::alone && launched.size > 1) return take_part(request);
  words.insert(words.begin(), own_program());
  const Job job{.ranks = request.ranks,
                .command = std::move(words),
                .variables = {{"TUTTI_TRANSPORT", request.transport}},
                .binding = Binding::core,
                .speaker = "tutti buckets",
                .direct = true};
  return Launcher(job).run();
}

}  // namespace tutti::cli
