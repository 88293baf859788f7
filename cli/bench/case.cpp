#include "cli/bench/case.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <tutti/error.hpp>

#include "api/call/prepared_call.hpp"
#include "core/nearest.hpp"

namespace tutti::cli {
namespace {

/// Those whose data is one piece, not a block for each rank.
bool is_whole(Collective collective) {
  return collective == Collective::broadcast || collective == Collective::reduce ||
         collective == Collective::allreduce;
}

using Names = std::pair<std::string_view, DType>;
// Where there are two, the first is the one to print.
constexpr std::array<Names, 16> nccl_names{{{"int8", DType::i8},
                                            {"char", DType::i8},
                                            {"uint8", DType::u8},
                                            {"int16", DType::i16},
                                            {"short", DType::i16},
                                            {"uint16", DType::u16},
                                            {"int32", DType::i32},
                                            {"int", DType::i32},
                                            {"uint32", DType::u32},
                                            {"int64", DType::i64},
                                            {"uint64", DType::u64},
                                            {"half", DType::f16},
                                            {"float16", DType::f16},
                                            {"bfloat16", DType::bf16},
                                            {"float", DType::f32},
                                            {"double", DType::f64}}};

}  // namespace

BenchCase case_of(const Method& method) {
  BenchCase one{.collective = method.collective()};
  if (method.algorithm() != nullptr) one.algorithm = method.name();
  if (method.schedule() != nullptr) {
    one.schedule = *method.schedule();
    one.root = one.schedule->contract().root.index();
  }
  return one;
}

std::uint64_t count_for(Collective collective, DType dtype, std::uint64_t bytes,
                        std::uint32_t ranks) {
  if (collective == Collective::barrier) return 0;
  const std::uint64_t blocks = is_whole(collective) ? 1 : ranks;
  return std::max<std::uint64_t>(1, bytes / size_of(dtype) / blocks);
}

std::uint64_t larger_bytes(const BenchCase& one, std::uint32_t ranks) {
  const std::uint64_t blocks = is_whole(one.collective) ? 1 : ranks;
  return one.count * size_of(one.dtype) * blocks;
}

double bus_factor(Collective collective, std::uint32_t ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (collective) {
    case Collective::broadcast:
    case Collective::reduce:
      return 1;
    case Collective::allreduce:
      return 2 * others;
    case Collective::scatter:
    case Collective::gather:
    case Collective::allgather:
    case Collective::reduce_scatter:
    case Collective::alltoall:
      return others;
    case Collective::barrier:
      break;
  }
  return 0;
}

Call call_of(const BenchCase& one, const BenchBuffers& buffers, bool in_place, std::uint32_t self,
             std::uint32_t ranks) {
  Call call{.collective = one.collective,
            .input = buffers.one,
            .output = buffers.other,
            .count = one.count,
            .dtype = one.dtype,
            .reduction = one.op,
            .root = one.root,
            .options = {.algorithm = one.algorithm,
                        .schedule = one.schedule ? &*one.schedule : nullptr,
                        .shape = one.shape,
                        .reproducible = one.reproducible}};
  if (!in_place) return call;
  const CallExtent extent = extent_of(call, Rank{self}, ranks);
  std::byte* const own = buffers.other + extent.own_block * size_of(one.dtype);
  const bool longer_input = extent.input >= extent.output;
  call.input = longer_input ? buffers.other : own;
  call.output = longer_input ? own : buffers.other;
  return call;
}

std::string BenchCase::method_name() const {
  if (schedule) return schedule->name();
  return algorithm.empty() ? "auto" : algorithm;
}

std::string_view op_name(const BenchCase& one) {
  const bool combines = is_reduction(one.collective) && one.collective != Collective::barrier;
  return combines ? name(one.op) : "none";
}

std::string_view nccl_name(DType dtype) {
  for (const auto& [name, each] : nccl_names) {
    if (each == dtype) return name;
  }
  return name(dtype);
}

DType parse_bench_dtype(const std::string& text) {
  std::vector<std::string_view> known;
  std::string list;
  const auto add = [&](std::string_view name) {
    known.push_back(name);
    list += ' ';
    list += name;
  };
  for (const auto& [name, each] : nccl_names) {
    if (name == text) return each;
    add(name);
  }
  for (const DType each : dtypes()) {
    if (name(each) == text) return each;
    add(name(each));
  }
  throw Error(ErrorCode::invalid_argument, "'" + text + "' is not a type of element." +
                                               did_you_mean(text, known) + " There are:" + list +
                                               ", and all.");
}

}  // namespace tutti::cli
