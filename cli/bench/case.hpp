#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tutti/call.hpp>
#include <tutti/schedule/proved_schedule.hpp>

#include "select/method.hpp"

namespace tutti::cli {

/// What one row of the table of `tutti bench` measures: a collective on so much data.
struct BenchCase {
  Collective collective = Collective::allreduce;
  DType dtype = DType::f32;
  Op op = Op::sum;
  std::uint32_t root = 0;
  std::uint64_t count = 0;  ///< As in Call.
  std::string algorithm{};  ///< Empty: tutti's choice, or the schedule.
  std::optional<ProvedSchedule> schedule{};
  Shape shape{};  ///< For algorithms that heed one.
  Reproducible reproducible = Reproducible::run;

  /// "allreduce/ring", what the schedule is called, or "auto".
  [[nodiscard]] std::string method_name() const;

  friend bool operator==(const BenchCase&, const BenchCase&) = default;
};

/// A case of the method's collective, with nothing else said yet.
[[nodiscard]] BenchCase case_of(const Method& method);

/// As many elements as fit into `bytes` of the larger buffer, and at least one, or one a block.
[[nodiscard]] std::uint64_t count_for(Collective collective, DType dtype, std::uint64_t bytes,
                                      std::uint32_t ranks);

/// Of the larger of input and output.
[[nodiscard]] std::uint64_t larger_bytes(const BenchCase& one, std::uint32_t ranks);

/// What nccl-tests multiplies size / time with, so that the best possible collective shows the
/// bandwidth of the hardware whatever the number of ranks.
[[nodiscard]] double bus_factor(Collective collective, std::uint32_t ranks);

/// Two buffers of a rank, each as large as the larger of input and output.
struct BenchBuffers {
  std::byte* one = nullptr;
  std::byte* other = nullptr;
};

/// The call of a rank: out of place from one buffer to the other, or in place in the other. It
/// refers to the case, which must outlive it.
[[nodiscard]] Call call_of(const BenchCase& one, const BenchBuffers& buffers, bool in_place,
                           std::uint32_t self, std::uint32_t ranks);

/// "sum"; "none" where nothing is combined.
[[nodiscard]] std::string_view op_name(const BenchCase& one);

/// Types as nccl-tests calls them: "float", "int8".
[[nodiscard]] std::string_view nccl_name(DType dtype);
/// By either name, "float" or "f32". Throws invalid_argument.
[[nodiscard]] DType parse_bench_dtype(const std::string& text);

}  // namespace tutti::cli
