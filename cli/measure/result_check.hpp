#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <tutti/collective.hpp>

#include "cli/measure/contributions.hpp"

namespace tutti::measure {

/// What the result of a call depends on.
struct CheckedCall {
  Collective collective = Collective::allreduce;
  DType dtype = DType::f32;
  Op op = Op::sum;
  std::uint32_t root = 0;
  /// The elements of the block from one rank to another; of all data of a broadcast, reduce or
  /// allreduce. A rank that does not matter, such as the receiver of a gather, is ignored.
  std::function<std::uint64_t(std::uint32_t from, std::uint32_t to)> block{};
};

/// Random input for one call, and a check of its output. A check costs no more than comparing
/// memory.
///
/// It knows nothing of schedules, so it checks those of every library.
class ResultCheck {
 public:
  /// Requires: all ranks give the same seed, and every call gets another seed.
  ResultCheck(CheckedCall what, std::uint32_t self, std::uint32_t ranks, std::uint64_t seed);

  /// The elements of this rank's buffers.
  [[nodiscard]] std::uint64_t input_elements() const;
  [[nodiscard]] std::uint64_t output_elements() const;

  /// Fills this rank's output with a poison pattern and its input with its numbers.
  void prepare(std::byte* input, std::byte* output) const;

  /// The number of wrong elements in this rank's output.
  [[nodiscard]] std::uint64_t count_wrong(const std::byte* output) const;

 private:
  /// Elements from one rank, or of the reduction of all ranks.
  struct Piece {
    std::optional<std::uint32_t> rank;
    std::uint64_t begin;
    std::uint64_t count;
  };

  /// What this rank's output consists of.
  [[nodiscard]] std::vector<Piece> pieces() const;
  /// The elements of the blocks from one rank to all ranks before another.
  [[nodiscard]] std::uint64_t before(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] std::uint64_t count_wrong(const Piece& piece, const std::byte* found) const;

  CheckedCall what_;
  std::uint32_t self_;
  std::uint32_t ranks_;
  Contributions contributions_;
};

}  // namespace tutti::measure
