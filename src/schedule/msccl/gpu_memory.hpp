#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tutti/schedule/contract.hpp>

#include "schedule/msccl/algorithm_file.hpp"
#include "schedule/msccl/values.hpp"

namespace tutti::msccl {

/// The places of the buffers of one GPU, with the value that each holds, and who touched it last.
///
/// Races are found with vector clocks (Lamport 1978; Fidge 1988): `clock[t]` is the number of steps
/// of thread block t that happened before the present step.
class GpuMemory {
 public:
  using Clock = std::vector<std::uint32_t>;

  GpuMemory(const AlgorithmFile& file, const Contract& contract, std::uint32_t gpu);

  /// The place, numbered over the buffers; places that are the same memory in a call in place have
  /// one number. Throws invalid_argument if it is outside its buffer.
  [[nodiscard]] std::uint32_t index(const Place& place, std::uint32_t step,
                                    std::uint32_t line) const;

  /// The value at a place. Throws invalid_argument if nothing was written there, or if the step
  /// that wrote it need not have run before.
  [[nodiscard]] ValueId read(std::uint32_t place, std::uint32_t thread, std::uint32_t step,
                             const Clock& clock, std::uint32_t line);
  /// Throws invalid_argument if a step that touches the place need not have run before.
  void write(std::uint32_t place, ValueId value, std::uint32_t thread, std::uint32_t step,
             const Clock& clock, std::uint32_t line);

  /// Puts a value there before the first step.
  void set(std::uint32_t place, ValueId value) { cells_[place].value = value; }
  [[nodiscard]] ValueId value(std::uint32_t place) const { return cells_[place].value; }

  /// The place of the i-th chunk of the input, or of the output.
  [[nodiscard]] std::uint32_t input(std::uint32_t i) const { return input_ + i; }
  [[nodiscard]] std::uint32_t output(std::uint32_t i) const { return output_ + i; }

 private:
  struct Access {
    std::uint32_t thread = UINT32_MAX;
    std::uint32_t step = 0;
    std::uint32_t line = 0;
  };
  struct Cell {
    ValueId value = no_value;
    Access written{};
    std::vector<Access> reads{};  // Since it was written, the last of each thread block.
  };

  static void check_order(const Access& earlier, std::uint32_t thread, const Clock& clock,
                          std::uint32_t line);

  Gpu sizes_;
  std::uint32_t input_ = 0;
  std::uint32_t input_size_ = 0;
  std::uint32_t output_ = 0;
  std::uint32_t output_size_ = 0;
  std::uint32_t scratch_ = 0;
  std::vector<Cell> cells_;
};

}  // namespace tutti::msccl
