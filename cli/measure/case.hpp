#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tutti/call.hpp>
#include <tutti/schedule/proved_schedule.hpp>

#include "select/method.hpp"

namespace tutti::measure {

/// One thing to measure: a collective on a certain amount of data, by one algorithm.
struct Case {
  Collective collective = Collective::allreduce;
  DType dtype = DType::f32;
  Op op = Op::sum;
  std::uint32_t root = 0;
  std::uint64_t count = 0;  ///< As in Call.
  std::string algorithm{};  ///< Empty: tutti's choice, or the schedule.
  std::optional<ProvedSchedule> schedule{};
  Shape shape{};  ///< For algorithms that use a shape.
  Reproducible reproducible = Reproducible::run;

  /// "allreduce/ring", the name of the schedule, or "auto".
  [[nodiscard]] std::string method_name() const;

  friend bool operator==(const Case&, const Case&) = default;
};

/// A case of the method's collective, with count 0 and f32.
[[nodiscard]] Case case_of(const Method& method);

/// The elements that fit into `bytes` of the larger buffer: at least one, or one per block.
[[nodiscard]] std::uint64_t count_for(Collective collective, DType dtype, std::uint64_t bytes,
                                      std::uint32_t ranks);

/// The bytes of the larger of input and output.
[[nodiscard]] std::uint64_t larger_bytes(const Case& what, std::uint32_t ranks);

/// The factor between size / time and the bus bandwidth, as in nccl-tests: the best possible
/// collective then shows the bandwidth of the hardware for every number of ranks.
[[nodiscard]] double bus_factor(Collective collective, std::uint32_t ranks);

/// "sum"; "none" for collectives that do not reduce.
[[nodiscard]] std::string_view op_name(const Case& what);

}  // namespace tutti::measure
