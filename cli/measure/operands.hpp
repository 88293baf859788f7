#pragma once

#include <cstddef>
#include <cstdint>

#include "cli/measure/buffer_pair.hpp"
#include "cli/measure/case.hpp"
#include "cli/measure/result_check.hpp"

namespace tutti::measure {

/// The addresses of one call's data. Call::input is const, but the measurement fills the input.
struct Operands {
  std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::size_t input_bytes = 0;

  /// Writes other values to the whole input than the last time, small in every element type.
  void rewrite_input();

 private:
  unsigned char last_written_ = 0;
};

/// Out of place: from the first buffer to the second. In place: both within the second buffer.
[[nodiscard]] Operands operands_in(const BufferPair& buffers, const Case& what, bool in_place,
                                   std::uint32_t self, std::uint32_t ranks);

/// The call of a rank. It refers to the schedule of the case, which must outlive it.
[[nodiscard]] Call call_of(const Case& what, const Operands& operands);

/// What the result of the case depends on.
[[nodiscard]] CheckedCall checked(const Case& what);

}  // namespace tutti::measure
