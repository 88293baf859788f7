#include "cli/bench/plan.hpp"

#include <optional>

#include <tutti/error.hpp>

#include "cli/bench/dtype_name.hpp"
#include "core/reject.hpp"
#include "select/method.hpp"

namespace tutti::cli {
namespace {

using measure::Case;

/// An algorithm or schedule; none for tutti's choice.
using Wished = std::optional<Method>;

Problem problem_for(const Algorithm& algorithm, const BenchRequest& request, std::uint32_t ranks) {
  return {.ranks = ranks,
          .root = request.root,
          .shape = algorithm.needs_shape() ? squarest(ranks) : Shape{}};
}

/// The algorithms that have a schedule for this many ranks and satisfy the level.
std::vector<Wished> all_methods(const BenchRequest& request, std::uint32_t ranks) {
  std::vector<Wished> found;
  const bool any_order = request.reproducible == Reproducible::run;
  for (const Algorithm& each : algorithms(*request.collective)) {
    if (!any_order && !each.folds_in_rank_order) continue;
    if (each.refusal(problem_for(each, request, ranks)).empty()) found.emplace_back(each);
  }
  return found;
}

std::vector<Wished> methods_for(const AlgorithmWish& wish, const BenchRequest& request,
                                std::uint32_t ranks) {
  switch (wish.kind) {
    case AlgorithmWish::Kind::automatic:
      return {std::nullopt};
    case AlgorithmWish::Kind::all:
      return all_methods(request, ranks);
    case AlgorithmWish::Kind::one:
      break;
  }
  const std::string refusal = wish.algorithm->refusal(problem_for(*wish.algorithm, request, ranks));
  if (!refusal.empty()) throw Error(ErrorCode::unsupported, refusal);
  return {Method(*wish.algorithm)};
}

std::vector<Wished> methods(const BenchRequest& request, std::uint32_t ranks) {
  if (request.algorithms.empty() && request.schedules.empty()) return {std::nullopt};
  std::vector<Wished> found;
  for (const AlgorithmWish& each : request.algorithms) {
    const std::vector<Wished> more = methods_for(each, request, ranks);
    found.insert(found.end(), more.begin(), more.end());
  }
  for (const ScheduleFile& each : request.schedules) {
    const std::string misfit = each.schedule.misfit(*request.collective, ranks, request.root);
    if (!misfit.empty()) reject(each.path + ": " + misfit);
    found.emplace_back(each.schedule);
  }
  return found;
}

std::vector<std::uint64_t> sizes_of(const BenchRequest& request) {
  if (*request.collective == Collective::barrier) return {0};
  return request.sizes.all();
}

std::vector<Op> ops_of(const BenchRequest& request) {
  const Collective collective = *request.collective;
  if (!is_reduction(collective) || collective == Collective::barrier) return {Op::sum};
  return request.ops;
}

/// Sizes below one element per rank all give the same count, which is kept once.
std::vector<std::uint64_t> counts_for(const Case& pattern, const std::vector<std::uint64_t>& sizes,
                                      std::uint32_t ranks) {
  std::vector<std::uint64_t> counts;
  for (const std::uint64_t size : sizes) {
    const std::uint64_t count = measure::count_for(pattern.collective, pattern.dtype, size, ranks);
    if (counts.empty() || counts.back() != count) counts.push_back(count);
  }
  return counts;
}

void add_cases(std::vector<Case>& cases, const Case& pattern,
               const std::vector<std::uint64_t>& sizes, const std::vector<Wished>& methods,
               std::uint32_t ranks) {
  const std::vector<std::uint64_t> counts = counts_for(pattern, sizes, ranks);
  for (const Wished& each : methods) {
    Case made = pattern;
    if (each && each->algorithm() != nullptr) made.algorithm = each->name();
    if (each && each->schedule() != nullptr) made.schedule = *each->schedule();
    made.shape = each && each->needs_shape() ? squarest(ranks) : Shape{};
    for (const std::uint64_t count : counts) {
      made.count = count;
      cases.push_back(made);
    }
  }
}

}  // namespace

BenchPlan plan_bench(const BenchRequest& request, std::uint32_t ranks) {
  const Collective collective = *request.collective;
  if (has_root(collective) && request.root >= ranks) {
    reject("root " + std::to_string(request.root) + " is not one of the ranks 0 to " +
           std::to_string(ranks - 1));
  }
  BenchPlan plan{.workload = {.collective = collective,
                              .pace = request.pace,
                              .check = request.check,
                              .limit = request.limit,
                              .prepared = request.prepared,
                              .memory = request.memory},
                 .sizes = request.sizes};
  const std::vector<Wished> wished = methods(request, ranks);
  const std::vector<std::uint64_t> sizes = sizes_of(request);
  for (const DType dtype : request.dtypes) {
    for (const Op op : ops_of(request)) {
      if (!applies(op, dtype)) continue;
      add_cases(plan.workload.cases,
                {.collective = collective,
                 .dtype = dtype,
                 .op = op,
                 .root = request.root,
                 .reproducible = request.reproducible},
                sizes, wished, ranks);
    }
  }
  if (plan.workload.cases.empty()) {
    const Op op = request.ops.front();
    reject(std::string(name(op)) + " is for " + std::string(domain(op)) + ", not for " +
           std::string(nccl_name(request.dtypes.front())) + "; try -d int32");
  }
  return plan;
}

}  // namespace tutti::cli
