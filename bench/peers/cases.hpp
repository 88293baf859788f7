// The cases in which libraries are compared, independent of any library: collective, type,
// operation and lengths.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace peers {

/// Names that end in v have blocks of different sizes. Barrier is measured but is no case, since it
/// has no output.
enum class Collective : std::uint8_t {
  broadcast,
  scatter,
  gather,
  allgather,
  reduce,
  allreduce,
  reduce_scatter,
  alltoall,
  scatterv,
  gatherv,
  allgatherv,
  reduce_scatterv,
  alltoallv,
  barrier,
};
inline constexpr std::array<std::string_view, 14> collective_names{
    "broadcast",  "scatter",         "gather",    "allgather", "reduce",
    "allreduce",  "reduce_scatter",  "alltoall",  "scatterv",  "gatherv",
    "allgatherv", "reduce_scatterv", "alltoallv", "barrier"};

enum class DType : std::uint8_t { i8, u8, i32, u32, i64, u64, f16, f32, f64 };
inline constexpr std::array<std::string_view, 9> dtype_names{"i8",  "u8",  "i32", "u32", "i64",
                                                             "u64", "f16", "f32", "f64"};

/// `none` for collectives that only move data.
enum class Op : std::uint8_t { none, sum, prod, min, max, band, bor, bxor };
inline constexpr std::array<std::string_view, 8> op_names{"-",   "sum",  "prod", "min",
                                                          "max", "band", "bor",  "bxor"};

[[nodiscard]] inline std::string_view name(Collective collective) {
  return collective_names.at(static_cast<std::size_t>(collective));
}
[[nodiscard]] inline std::string_view name(DType dtype) {
  return dtype_names.at(static_cast<std::size_t>(dtype));
}
[[nodiscard]] inline std::string_view name(Op op) {
  return op_names.at(static_cast<std::size_t>(op));
}

[[nodiscard]] inline std::size_t size_of(DType dtype) {
  constexpr std::array<std::size_t, 9> sizes{1, 1, 4, 4, 8, 8, 2, 4, 8};
  return sizes.at(static_cast<std::size_t>(dtype));
}
[[nodiscard]] inline bool is_floating(DType dtype) { return dtype >= DType::f16; }

[[nodiscard]] inline bool has_root(Collective c) {
  return c == Collective::broadcast || c == Collective::scatter || c == Collective::gather ||
         c == Collective::reduce || c == Collective::scatterv || c == Collective::gatherv;
}
[[nodiscard]] inline bool reduces(Collective c) {
  return c == Collective::reduce || c == Collective::allreduce || c == Collective::reduce_scatter ||
         c == Collective::reduce_scatterv;
}

struct Case {
  Collective collective{};
  DType dtype{};
  Op op{};
  /// Elements of the whole buffer for broadcast, reduce and allreduce, of a block for the others,
  /// of the largest block for v-variants.
  std::size_t count{};
  /// -1 if there is none.
  int root = -1;
};

/// Elements of the block from rank `from` to rank `to`. An argument that does not matter (the
/// receiver of a gather) is ignored. Uneven blocks are, in turn, half of the count rounded up, the
/// count, and empty.
[[nodiscard]] inline std::size_t block(const Case& c, int from, int to) {
  const auto uneven = [&c](int k) {
    return (c.count * static_cast<std::size_t>((k + 1) % 3) + 1) / 2;
  };
  switch (c.collective) {
    case Collective::scatterv:
    case Collective::reduce_scatterv:
      return uneven(to);
    case Collective::gatherv:
    case Collective::allgatherv:
      return uneven(from);
    case Collective::alltoallv:
      return uneven(2 * from + to);
    default:
      return c.count;
  }
}

/// Elements of all blocks that one rank sends to the others and itself, or receives from them.
[[nodiscard]] inline std::size_t blocks_from(const Case& c, int ranks, int from) {
  std::size_t sum = 0;
  for (int to = 0; to < ranks; ++to) sum += block(c, from, to);
  return sum;
}
[[nodiscard]] inline std::size_t blocks_to(const Case& c, int ranks, int to) {
  std::size_t sum = 0;
  for (int from = 0; from < ranks; ++from) sum += block(c, from, to);
  return sum;
}

/// Input elements of `rank`: for a broadcast or scatter only the root has any.
[[nodiscard]] inline std::size_t input_elements(const Case& c, int ranks, int rank) {
  switch (c.collective) {
    case Collective::broadcast:
      return rank == c.root ? c.count : 0;
    case Collective::scatter:
    case Collective::scatterv:
      return rank == c.root ? blocks_from(c, ranks, rank) : 0;
    case Collective::gather:
    case Collective::gatherv:
    case Collective::allgather:
    case Collective::allgatherv:
      return block(c, rank, 0);
    case Collective::reduce:
    case Collective::allreduce:
      return c.count;
    case Collective::reduce_scatter:
    case Collective::reduce_scatterv:
    case Collective::alltoall:
    case Collective::alltoallv:
      return blocks_from(c, ranks, rank);
    case Collective::barrier:
      return 0;
  }
  return 0;
}

/// Whether `rank` has an output, even an empty one.
[[nodiscard]] inline bool has_output(const Case& c, int rank) {
  const bool at_root = c.collective == Collective::gather || c.collective == Collective::gatherv ||
                       c.collective == Collective::reduce;
  return c.collective != Collective::barrier && (!at_root || rank == c.root);
}

/// Output elements of `rank`. Blocks are in the order of their source ranks.
[[nodiscard]] inline std::size_t output_elements(const Case& c, int ranks, int rank) {
  if (!has_output(c, rank)) return 0;
  switch (c.collective) {
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::allreduce:
      return c.count;
    case Collective::scatter:
    case Collective::scatterv:
    case Collective::reduce_scatter:
    case Collective::reduce_scatterv:
      return block(c, 0, rank);
    case Collective::gather:
    case Collective::gatherv:
    case Collective::allgather:
    case Collective::allgatherv:
    case Collective::alltoall:
    case Collective::alltoallv:
      return blocks_to(c, ranks, rank);
    case Collective::barrier:
      return 0;
  }
  return 0;
}

inline constexpr std::array<std::size_t, 8> case_counts{0, 1, 2, 3, 7, 64, 1000, 4097};

/// Calls `visit` with every case for a group of `ranks`, in an order that is the same everywhere.
/// Roots are the first and the last rank. There are no bitwise operations on floating-point types.
inline void for_each_case(int ranks, const std::function<void(const Case&)>& visit) {
  constexpr std::array none{Op::none};
  constexpr std::array floating{Op::sum, Op::prod, Op::min, Op::max};
  constexpr std::array whole{Op::sum, Op::prod, Op::min, Op::max, Op::band, Op::bor, Op::bxor};
  for (std::size_t c = 0; c < static_cast<std::size_t>(Collective::barrier); ++c) {
    const auto collective = static_cast<Collective>(c);
    for (std::size_t d = 0; d < dtype_names.size(); ++d) {
      const auto dtype = static_cast<DType>(d);
      std::span<const Op> ops = none;
      if (reduces(collective)) ops = is_floating(dtype) ? std::span<const Op>(floating) : whole;
      for (const Op op : ops) {
        for (const std::size_t count : case_counts) {
          Case one{.collective = collective, .dtype = dtype, .op = op, .count = count};
          if (has_root(collective)) one.root = 0;
          visit(one);
          if (!has_root(collective) || ranks == 1) continue;
          one.root = ranks - 1;
          visit(one);
        }
      }
    }
  }
}

/// "allreduce f32 sum 1000 -": a case in words.
[[nodiscard]] inline std::string line(const Case& c) {
  std::string text;
  text.append(name(c.collective)).append(" ").append(name(c.dtype)).append(" ").append(name(c.op));
  text.append(" " + std::to_string(c.count) + " ");
  return text + (c.root < 0 ? "-" : std::to_string(c.root));
}

}  // namespace peers
