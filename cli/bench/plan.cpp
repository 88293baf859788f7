#include "cli/bench/plan.hpp"

#include <algorithm>
#include <optional>

#include <tutti/error.hpp>
#include <tutti/schedule/algorithm.hpp>

#include "core/quantity.hpp"
#include "select/method.hpp"

namespace tutti::cli {
namespace {

constexpr std::size_t most_sizes = 100'000;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::invalid_argument, why); }

/// "8", "4K", "1MiB", in order.
std::vector<std::uint64_t> listed_sizes(const BenchWishes& wishes) {
  std::vector<std::uint64_t> found;
  for (const std::string& each : wishes.sizes) found.push_back(parse_bytes(each));
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::uint64_t> sizes(const BenchWishes& wishes, const BenchPlan& plan) {
  if (plan.collective == Collective::barrier) return {0};
  if (!wishes.sizes.empty()) return listed_sizes(wishes);
  if (plan.least > plan.most) {
    refuse("-b " + wishes.least + " is above -e " + wishes.most +
           "; the smallest size comes first, the largest last");
  }
  const std::uint64_t step = wishes.step.empty() ? 0 : parse_bytes(wishes.step);
  if (!wishes.step.empty() && step == 0) refuse("-i 0 never comes to an end; write such as -i 1M");
  std::vector<std::uint64_t> found;
  for (std::uint64_t size = plan.least; size <= plan.most;) {
    found.push_back(size);
    if (found.size() > most_sizes) {
      refuse("-i " + wishes.step + " makes more than " + std::to_string(most_sizes) +
             " sizes; take larger steps");
    }
    // With a factor zero would stay zero; and beyond the largest number there is nothing.
    const std::uint64_t next =
        step > 0 ? size + step : std::max<std::uint64_t>(size, 1) * wishes.factor;
    if (next <= size) break;
    size = next;
  }
  return found;
}

std::vector<DType> wished_dtypes(const BenchWishes& wishes) {
  if (wishes.dtype == "all") return {dtypes().begin(), dtypes().end()};
  return {parse_bench_dtype(wishes.dtype)};
}

std::vector<Op> wished_ops(const BenchWishes& wishes, Collective collective) {
  if (!is_reduction(collective) || collective == Collective::barrier) return {Op::sum};
  if (wishes.op == "all") return {ops().begin(), ops().end()};
  return {parse_op(wishes.op)};
}

/// An algorithm or schedule, or none for tutti's choice.
using Wished = std::optional<Method>;

Problem problem_for(const Algorithm& algorithm, const BenchWishes& wishes, std::uint32_t ranks) {
  return {.ranks = ranks,
          .root = Rank{wishes.root},
          .shape = algorithm.needs_shape() ? squarest(ranks) : Shape{}};
}

/// "ring" and "allreduce/ring" are the same for an allreduce.
const Algorithm& algorithm_called(const std::string& text, Collective collective) {
  const std::string own = std::string(name(collective)) + "/";
  const Algorithm& found = algorithm(text.find('/') == std::string::npos ? own + text : text);
  if (found.collective != collective) {
    refuse("'" + text + "' does no " + std::string(name(collective)) +
           "; 'tutti list' shows which do");
  }
  return found;
}

/// The schedule in a file, which must be for what is measured.
ProvedSchedule schedule_in(const std::string& path, const BenchWishes& wishes,
                           Collective collective, std::uint32_t ranks) {
  ProvedSchedule schedule = schedule_named(std::string(file_prefix) + path, "");
  const std::string misfit = schedule.misfit(collective, ranks, Rank{wishes.root});
  if (!misfit.empty()) refuse(path + ": " + misfit);
  return schedule;
}

std::vector<Wished> wished_methods(const BenchWishes& wishes, Collective collective,
                                   std::uint32_t ranks) {
  std::vector<Wished> found;
  if (wishes.algorithms.empty() && wishes.schedules.empty()) found.emplace_back();
  for (const std::string& each : wishes.algorithms) {
    if (each == "auto") {
      found.emplace_back();
    } else if (each == "all") {
      // Those that have nothing for so many ranks, or for the level, are left out.
      const bool any_order = wishes.reproducible == "run";
      for (const Algorithm& one : algorithms(collective)) {
        const bool suits = any_order || one.traits.folds_in_rank_order;
        if (suits && one.refusal(problem_for(one, wishes, ranks)).empty()) found.emplace_back(one);
      }
    } else {
      const Algorithm& one = algorithm_called(each, collective);
      const std::string refusal = one.refusal(problem_for(one, wishes, ranks));
      if (!refusal.empty()) throw Error(ErrorCode::unsupported, refusal);
      found.emplace_back(one);
    }
  }
  for (const std::string& path : wishes.schedules) {
    found.emplace_back(schedule_in(path, wishes, collective, ranks));
  }
  return found;
}

/// Those sizes that are different: below one element for each rank all come to the same.
std::vector<std::uint64_t> counts_for(const BenchCase& pattern,
                                      const std::vector<std::uint64_t>& sizes,
                                      std::uint32_t ranks) {
  std::vector<std::uint64_t> counts;
  for (const std::uint64_t size : sizes) {
    const std::uint64_t count = count_for(pattern.collective, pattern.dtype, size, ranks);
    if (counts.empty() || counts.back() != count) counts.push_back(count);
  }
  return counts;
}

void add_cases(BenchPlan& plan, const BenchCase& pattern, const std::vector<std::uint64_t>& sizes,
               const std::vector<Wished>& methods, std::uint32_t ranks) {
  const std::vector<std::uint64_t> counts = counts_for(pattern, sizes, ranks);
  for (const Wished& each : methods) {
    BenchCase one = pattern;
    if (each && each->algorithm() != nullptr) one.algorithm = each->name();
    if (each && each->schedule() != nullptr) one.schedule = *each->schedule();
    one.shape = each && each->needs_shape() ? squarest(ranks) : Shape{};
    for (const std::uint64_t count : counts) {
      one.count = count;
      plan.cases.push_back(one);
    }
  }
}

}  // namespace

BenchPlan plan_bench(const BenchWishes& wishes, std::uint32_t ranks) {
  BenchPlan plan{.collective = parse_collective(wishes.collective),
                 .least = parse_bytes(wishes.least),
                 .most = parse_bytes(wishes.most),
                 .step = wishes.step.empty() ? std::to_string(wishes.factor) + "(factor)"
                                             : std::to_string(parse_bytes(wishes.step)) + "(bytes)",
                 .pace = wishes.pace,
                 .check = wishes.check,
                 .limit = wishes.limit};
  if (!wishes.sizes.empty()) {
    plan.least = listed_sizes(wishes).front();
    plan.most = listed_sizes(wishes).back();
    plan.step = "0(list)";
  }
  if (wishes.private_buffers) plan.memory = BenchMemory::Kind::private_to_process;
  if (has_root(plan.collective) && wishes.root >= ranks) {
    refuse("root " + std::to_string(wishes.root) + " is not one of the ranks 0 to " +
           std::to_string(ranks - 1));
  }
  const std::vector<Wished> methods = wished_methods(wishes, plan.collective, ranks);
  const std::vector<std::uint64_t> all_sizes = sizes(wishes, plan);
  for (const DType dtype : wished_dtypes(wishes)) {
    for (const Op op : wished_ops(wishes, plan.collective)) {
      if (!applies(op, dtype)) continue;
      add_cases(plan,
                {.collective = plan.collective,
                 .dtype = dtype,
                 .op = op,
                 .root = wishes.root,
                 .reproducible = parse_reproducible(wishes.reproducible)},
                all_sizes, methods, ranks);
    }
  }
  if (plan.cases.empty()) {
    refuse(wishes.op + " is for " + std::string(domain(parse_op(wishes.op))) + ", not for " +
           wishes.dtype + "; try -d int32");
  }
  return plan;
}

}  // namespace tutti::cli
