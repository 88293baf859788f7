#include "api/call/compiled_call.hpp"

#include <algorithm>
#include <numeric>

#include <tutti/error.hpp>

#include "core/hash.hpp"
#include "flight/lasting_text.hpp"
#include "kernels/exact_fold.hpp"

namespace tutti {
namespace {

const Shape& shape_of(const Compilation& compilation) {
  const Shape& asked = compilation.call.options.shape;
  return asked.empty() ? compilation.hosts : asked;
}

bool is_custom(const Call& call) { return call.reduction.combine() != nullptr; }

bool is_exact_sum(const Call& call) {
  return call.options.reproducible == Reproducible::exact &&
         !is_associative(call.reduction, call.dtype);
}

/// Encodes op, dtype and level of a reduction as a number.
std::uint64_t way_of(const Call& call) {
  if (!is_reduction(call.collective)) return 0;
  const std::uint64_t op = is_custom(call) ? 15 : static_cast<std::uint64_t>(call.reduction.op());
  const auto level = static_cast<std::uint64_t>(call.options.reproducible);
  return 1 + (level * 16 + op) * 64 + static_cast<std::uint64_t>(call.dtype);
}

/// A hash of what all ranks must agree on. The counts of alltoall are left out: each is known to
/// two ranks only.
std::uint32_t signature_of(const Compilation& compilation) {
  const Call& call = compilation.call;
  std::uint64_t hash = mixed(0, static_cast<std::uint64_t>(call.collective));
  hash = mixed(hash, way_of(call));
  hash = mixed(hash, compilation.method.identity());
  hash = mixed(hash, element_bytes_of(call));
  if (compilation.method.needs_shape()) {
    for (const std::uint32_t d : shape_of(compilation).dimensions) hash = mixed(hash, d);
  }
  hash = mixed(hash, has_root(call.collective) ? call.root : 0);
  if (call.counts.empty()) return static_cast<std::uint32_t>(mixed(hash, call.count));
  if (call.collective == Collective::alltoall) return static_cast<std::uint32_t>(hash);
  for (const std::uint64_t count : call.counts) hash = mixed(hash, count);
  return static_cast<std::uint32_t>(hash);
}

/// The name of the method for the flight recorder. It lives as long as the program, like the names
/// in the table.
const char* lasting(const Method& method) {
  if (const Algorithm* const row = method.algorithm()) return row->name.data();
  return lasting_text(method.label());
}

FlightCall flight_call(const Compilation& compilation, std::uint64_t bytes) {
  const Call& call = compilation.call;
  return {.kind = flight_kind(call.collective),
          .dtype = call.dtype,
          .op = call.reduction.op(),
          .is_custom = is_custom(call),
          .signature = signature_of(compilation),
          .root = call.root,
          .from = 0,
          .count = call.counts.empty() ? call.count : FlightCall::with_counts,
          .bytes = bytes,
          .algorithm = lasting(compilation.method)};
}

/// A layout of blocks of these sizes, each cut into `pieces` chunks of nearly equal size.
Layout blocks_in_pieces(std::span<const std::uint64_t> blocks, std::uint64_t pieces) {
  std::vector<std::uint64_t> sizes;
  for (const std::uint64_t block : blocks) {
    const Layout cut = Layout::balanced(pieces, block);
    for (std::uint64_t i = 0; i < pieces; ++i) sizes.push_back(cut.size(Chunk{i}));
  }
  return Layout::counted(sizes);
}

/// Only chunks from and to this rank have a size; it handles no others.
Layout alltoall_layout(const Call& call, Rank self, std::uint32_t ranks) {
  std::vector<std::uint64_t> sizes(std::size_t{ranks} * ranks, 0);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    sizes[std::size_t{self} * ranks + r] = call.counts[r];
    sizes[std::size_t{r} * ranks + self] = call.output_counts[r];
  }
  return Layout::counted(sizes);
}

Layout layout_of(const Call& call, const Contract& contract, Rank self) {
  switch (call.collective) {
    case Collective::barrier:
      return Layout::equal(contract.chunks, 1);
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::allreduce:
      return Layout::balanced(contract.chunks, call.count);
    case Collective::alltoall:
      if (!call.counts.empty()) return alltoall_layout(call, self, contract.ranks);
      return Layout::equal(contract.chunks, call.count);
    case Collective::scatter:
    case Collective::gather:
    case Collective::allgather:
    case Collective::reduce_scatter:
      break;
  }
  const std::uint64_t pieces = contract.chunks / contract.ranks;
  if (!call.counts.empty()) return blocks_in_pieces(call.counts, pieces);
  if (pieces == 1) return Layout::equal(contract.chunks, call.count);
  return blocks_in_pieces(std::vector<std::uint64_t>(contract.ranks, call.count), pieces);
}

/// The sizes of the shortest and the longest chunk.
std::pair<std::uint64_t, std::uint64_t> extremes(const Layout& layout) {
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < layout.chunks(); ++i) {
    const std::uint64_t size = layout.size(Chunk{i});
    least = std::min(least, size);
    most = std::max(most, size);
  }
  return {least, most};
}

void add_part(CompiledCall& compiled, Plan plan, std::uint64_t repeats, std::size_t stride) {
  compiled.scratch_bytes = std::max(compiled.scratch_bytes, plan.scratch_bytes);
  compiled.spare_bytes = std::max(compiled.spare_bytes, plan.spare_bytes);
  compiled.parts.push_back({.plan = std::move(plan), .repeats = repeats, .stride = stride});
}

/// How many elements of each chunk one part covers. All ranks must get the same result, so it
/// depends only on what all ranks know, not on the scratch memory of this rank.
std::uint64_t part_length(const Compilation& compilation, const Contract& contract,
                          const Layout& layout, std::uint64_t longest) {
  const Call& call = compilation.call;
  // No rank knows all counts of an alltoall with counts, and its algorithms keep no data.
  const bool counted = call.collective == Collective::alltoall && !call.counts.empty();
  std::uint64_t total = layout.total() * element_bytes_of(call);
  if (call.collective == Collective::alltoall) total /= contract.ranks;
  // Algorithms that keep more than two copies of the data use smaller parts.
  constexpr std::uint64_t least = 4096;
  if (counted || total <= least) return longest;
  const ScheduleTraits& traits = compilation.method.traits();
  if (!traits.keeps_data) return longest;
  const std::uint64_t most =
      std::max<std::uint64_t>(2 * compilation.thresholds.part_bytes / traits.copies, least);
  if (total <= most) return longest;
  // Parts begin on cache lines, unless a few elements are long.
  const std::uint64_t granule = element_bytes_of(call) > 64 ? 1 : 64;
  const std::uint64_t parts = (total + most - 1) / most;
  return std::max(longest / parts / granule * granule, granule);
}

/// A plan of more segments would be long.
constexpr std::uint64_t most_segments = 64;

/// The elements of a segment of a message; 0 if messages are not cut. The same on all ranks.
std::uint64_t segment_of(const Compilation& compilation, std::size_t element_bytes,
                         std::uint64_t longest_chunk) {
  // Slices begin on cache lines.
  constexpr std::uint64_t granule = 64;
  // A pipeline takes some segments to fill.
  constexpr std::uint64_t least_segments = 2;
  const std::uint64_t elements =
      compilation.thresholds.segment_bytes / element_bytes / granule * granule;
  if (longest_chunk < least_segments * elements) return 0;
  const ScheduleTraits& traits = compilation.method.traits();
  return traits.joins_chunks || !traits.repeats_pairs ? 0 : elements;
}

/// The data of a barrier has no meaning.
void fold_nothing(void* /*out*/, void* /*copy*/, const void* const* /*in*/,
                  std::size_t /*operands*/, std::size_t /*count*/) {}

}  // namespace

Method named_method(const Call& call, std::uint32_t ranks) {
  const CallOptions& options = call.options;
  const auto refuse = [](const std::string& why) { throw Error(ErrorCode::invalid_argument, why); };
  if (options.schedule != nullptr && !options.algorithm.empty()) {
    refuse("it names both " + std::string(options.algorithm) + " and " + options.schedule->label() +
           "; name one of them");
  }
  Method method = options.schedule != nullptr ? Method(*options.schedule)
                                              : Method(algorithm(options.algorithm));
  if (options.schedule != nullptr) {
    const std::string misfit = options.schedule->misfit(call.collective, ranks, call.root);
    if (!misfit.empty()) refuse(misfit);
  } else if (method.collective() != call.collective) {
    refuse(std::string(method.name()) + " is for another collective");
  }
  if (call.collective == Collective::alltoall && !call.counts.empty() && method.needs_counts()) {
    throw Error(ErrorCode::unsupported,
                std::string(method.label()) +
                    " passes on blocks of other ranks, whose counts this rank does not know; "
                    "use alltoall/mesh or alltoall/pairwise");
  }
  return method;
}

CompiledCall compile_call(const Compilation& compilation) {
  const Call& call = compilation.call;
  Problem problem{.ranks = compilation.ranks, .root = call.root};
  if (compilation.method.needs_shape()) problem.shape = shape_of(compilation);
  const std::shared_ptr<const Blueprint> blueprint = compilation.blueprints.get(
      compilation.method, problem, compilation.self, compilation.aliasing);
  const Contract& contract = blueprint->contract;
  const Layout layout = layout_of(call, contract, compilation.self);
  const std::size_t element_bytes = element_bytes_of(call);
  const auto plan_of = [&](ElementRange stretch, std::uint64_t segment = 0) {
    return compile(*blueprint, {.layout = layout,
                                .element_bytes = element_bytes,
                                .lanes = compilation.lanes,
                                .stretch = stretch,
                                .segment = segment,
                                .in_order_to = compilation.thresholds.in_order_to});
  };
  const CallExtent extent = extent_of(call, compilation.self, compilation.ranks);
  const bool folds = is_reduction(call.collective) && !is_custom(call);
  CompiledCall compiled{
      .parts = {},
      .fold = call.collective == Collective::barrier ? fold_nothing
              : folds                                ? fold_for(call)
                                                     : nullptr,
      .element_bytes = element_bytes,
      .inputs = extent.input,
      .outputs = extent.output,
      .barrier_bytes = call.collective == Collective::barrier ? layout.total() * element_bytes : 0,
      .is_average = folds && call.reduction.op() == Op::avg,
      .is_exact = folds && is_exact_sum(call),
      .flight = flight_call(compilation, extent.output * element_bytes)};
  const auto [least, most] = extremes(layout);
  std::uint64_t length = part_length(compilation, contract, layout, most);
  std::uint64_t segment = segment_of(compilation, element_bytes, most);
  if (segment > 0) length = std::min(length, most_segments * segment);
  if (length >= most) {
    add_part(compiled, plan_of({}, segment), 1, 0);
    return compiled;
  }
  // Parts that have `length` elements in every chunk share one plan, at different offsets.
  const std::uint64_t alike = least / length;
  if (alike > 0) {
    add_part(compiled, plan_of({.length = length}, segment), alike, length * element_bytes);
  }
  for (std::uint64_t begin = alike * length; begin < most; begin += length) {
    add_part(compiled, plan_of({.begin = begin, .length = length}, segment), 1, 0);
  }
  return compiled;
}

CallExtent extent_of(const Call& call, Rank self, std::uint32_t ranks) {
  const bool is_root = self == call.root;
  const std::uint64_t own = call.counts.empty() ? call.count : call.counts[self];
  const auto sum = [](std::span<const std::uint64_t> counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  };
  const std::uint64_t all = call.counts.empty() ? call.count * ranks : sum(call.counts);
  const std::uint64_t before =
      call.counts.empty() ? call.count * self : sum(call.counts.first(self));
  switch (call.collective) {
    case Collective::broadcast:
      return {.input = is_root ? call.count : 0, .output = call.count};
    case Collective::reduce:
      return {.input = call.count, .output = is_root ? call.count : 0};
    case Collective::allreduce:
      return {.input = call.count, .output = call.count};
    case Collective::scatter:
      return {.input = is_root ? all : 0, .output = own, .own_block = before};
    case Collective::gather:
      return {.input = own, .output = is_root ? all : 0, .own_block = before};
    case Collective::allgather:
      return {.input = own, .output = all, .own_block = before};
    case Collective::reduce_scatter:
      return {.input = all, .output = own, .own_block = before};
    case Collective::alltoall:
      return {.input = all, .output = call.counts.empty() ? all : sum(call.output_counts)};
    case Collective::barrier:
      break;
  }
  return {};
}

std::size_t element_bytes_of(const Call& call) {
  return call.element_bytes == 0 ? size_of(call.dtype) : call.element_bytes;
}

bool needs_one_fold(const Call& call) {
  return call.options.reproducible != Reproducible::run && is_reduction(call.collective) &&
         call.collective != Collective::barrier && !is_associative(call.reduction, call.dtype);
}

Fold fold_for(const Call& call) {
  return is_exact_sum(call) ? exact_fold(call.dtype) : fold(call.dtype, call.reduction.op());
}

void finish_outputs(const CompiledCall& compiled, const Call& call, std::uint32_t ranks) {
  if (compiled.outputs == 0) return;
  if (compiled.is_exact && ranks == 1) {
    const void* const alone = call.output;
    compiled.fold(call.output, nullptr, &alone, 1, compiled.outputs);
  }
  if (compiled.is_average) divide(call.dtype, call.output, compiled.outputs, ranks);
}

}  // namespace tutti
