#include "cli/bench/request.hpp"

#include <algorithm>

#include <tutti/error.hpp>

#include "cli/bench/dtype_name.hpp"
#include "core/quantity.hpp"
#include "core/reject.hpp"
#include "select/method.hpp"

namespace tutti::cli {
namespace {

constexpr std::uint32_t most_ranks = 4096;
constexpr std::size_t most_iterations = 10'000'000;
constexpr const char* every = "all";

/// "ring" and "allreduce/ring" are the same for an allreduce.
const Algorithm& algorithm_called(const std::string& text, Collective collective) {
  const std::string own = std::string(name(collective)) + "/";
  const Algorithm& found = algorithm(text.find('/') == std::string::npos ? own + text : text);
  if (found.collective != collective) {
    reject("'" + text + "' is not an algorithm for " + std::string(name(collective)) +
           "; 'tutti list' shows those that are");
  }
  return found;
}

}  // namespace

void BenchOptions::add(Command command) {
  command.option("collective", collective_, "such as allreduce").text("COLLECTIVE");
  command.option("-n,-p,--ranks", parsed_.ranks, "number of ranks, started on this host")
      .text("N")
      .between(1U, most_ranks);
  command
      .choice(
          "--transport", bench_transports(),
          [this](int value) { parsed_.transport = static_cast<BenchTransport>(value); },
          "auto, shm, tcp, or inproc for threads")
      .text("WAY (auto)");
  add_sizes(command);
  add_kinds(command);
  add_repetitions(command);
  command.flag("--private", private_buffers_, "buffers from malloc instead of tutti::allocate");
  command.flag("--prepared", parsed_.prepared, "calls that are prepared once: PreparedCall::run");
  command.flag("--limit", parsed_.limit,
               "measure the limit of this machine, and show the share reached");
}

void BenchOptions::add_sizes(Command command) {
  command.option("-b,--minbytes", least_, "smallest size: 8, 4K, 1MiB").text("SIZE (8)");
  command.option("-e,--maxbytes", most_, "largest size").text("SIZE (64M)");
  const Option factor =
      command.option("-f,--stepfactor", parsed_.sizes.factor, "factor from size to size")
          .text("N (4)")
          .between(2U, 1U << 30U);
  command.option("-i,--stepbytes", step_, "bytes added from size to size, instead of a factor")
      .text("SIZE")
      .excludes(factor);
  command.option("--sizes", sizes_, "only these sizes").text("SIZE,...").delimiter(',').one_word();
}

void BenchOptions::add_kinds(Command command) {
  command.option("-o,--op", op_, "sum prod min max avg band bor bxor, or all").text("OP (sum)");
  command
      .option("-d,--datatype", dtype_,
              "float double half bfloat16 int8 uint8 int32 ..., f32 f64 ..., or all")
      .text("TYPE (float)");
  command.option("-r,--root", parsed_.root, "root of collectives that have one").text("RANK (0)");
  command
      .option("--algo", algorithms_, "for example ring, or ring,mesh; all; auto is tutti's choice")
      .text("NAME (auto)")
      .delimiter(',')
      .one_word();
  command
      .option("--reproducible", reproducible_, "what the bits may depend on: run, order or exact")
      .text("LEVEL (run)");
  command.option("--schedule", schedules_, "a schedule in JSON, to verify and run")
      .text("FILE")
      .one_word();
}

void BenchOptions::add_repetitions(Command command) {
  measure::Pace& pace = parsed_.pace;
  command
      .option("-w,--warmup_iters", pace.warm_ups,
              "calls before the measured ones (default: a few ms)")
      .text("N")
      .between(std::size_t{0}, most_iterations);
  command.option("--iters", pace.iterations, "measured calls (default: as many as fit)")
      .text("N")
      .between(std::size_t{1}, most_iterations);
  command.option("-c,--check", parsed_.check, "1: check every result; 0: do not")
      .text("0|1 (1)")
      .among({"0", "1"});
  command.option("--seconds", pace.seconds, "time for each figure, unless --iters")
      .text("S (0.1)")
      .between(1e-4, 3600.0);
  command.flag("--barrier", pace.barrier,
               "before each call, not measured: calls then cannot overlap");
  command.flag("--fresh", pace.fresh,
               "rewrite the input before each call, not measured, as programs do");
}

BenchRequest BenchOptions::request() const {
  BenchRequest request = parsed_;
  if (!collective_.empty()) request.collective = parse_collective(collective_);
  request.sizes = sizes();
  if (op_ == every) {
    request.ops.assign(ops().begin(), ops().end());
  } else {
    request.ops = {parse_op(op_)};
  }
  if (dtype_ == every) {
    request.dtypes.assign(dtypes().begin(), dtypes().end());
  } else {
    request.dtypes = {parse_bench_dtype(dtype_)};
  }
  request.reproducible = parse_reproducible(reproducible_);
  request.algorithms = algorithms(request.collective);
  request.schedules = schedules();
  if (private_buffers_) request.memory = measure::BufferPair::Kind::private_to_process;
  return request;
}

BenchSizes BenchOptions::sizes() const {
  BenchSizes found = parsed_.sizes;
  found.least = parse_bytes(least_);
  found.most = parse_bytes(most_);
  if (!step_.empty()) found.step = parse_bytes(step_);
  for (const std::string& each : sizes_) found.listed.push_back(parse_bytes(each));
  std::sort(found.listed.begin(), found.listed.end());
  return found;
}

std::vector<AlgorithmWish> BenchOptions::algorithms(std::optional<Collective> collective) const {
  using Kind = AlgorithmWish::Kind;
  std::vector<AlgorithmWish> found;
  if (!collective) return found;
  for (const std::string& each : algorithms_) {
    if (each == "auto") {
      found.push_back({.kind = Kind::automatic});
    } else if (each == every) {
      found.push_back({.kind = Kind::all});
    } else {
      found.push_back({.kind = Kind::one, .algorithm = &algorithm_called(each, *collective)});
    }
  }
  return found;
}

std::vector<ScheduleFile> BenchOptions::schedules() const {
  std::vector<ScheduleFile> found;
  for (const std::string& path : schedules_) {
    found.push_back(
        {.path = path, .schedule = schedule_named(std::string(file_prefix) + path, "")});
  }
  return found;
}

}  // namespace tutti::cli
