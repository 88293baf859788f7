#include "cli/measure/operands.hpp"

#include <cstring>

#include "api/call/compiled_call.hpp"

namespace tutti::measure {

Operands operands_in(const BufferPair& buffers, const Case& what, bool in_place, std::uint32_t self,
                     std::uint32_t ranks) {
  const CallExtent extent = extent_of(call_of(what, {}), self, ranks);
  Operands made;
  made.input_bytes = extent.input * size_of(what.dtype);
  if (!in_place) {
    made.input = buffers.first();
    made.output = buffers.second();
    return made;
  }
  std::byte* const whole = buffers.second();
  std::byte* const own = whole + extent.own_block * size_of(what.dtype);
  const bool longer_input = extent.input >= extent.output;
  made.input = longer_input ? whole : own;
  made.output = longer_input ? own : whole;
  return made;
}

void Operands::rewrite_input() {
  constexpr unsigned char largest = 0x3f;
  last_written_ = last_written_ == largest ? 1 : last_written_ + 1;
  if (input_bytes > 0) std::memset(input, last_written_, input_bytes);
}

Call call_of(const Case& what, const Operands& operands) {
  return {.collective = what.collective,
          .input = operands.input,
          .output = operands.output,
          .count = what.count,
          .dtype = what.dtype,
          .reduction = what.op,
          .root = what.root,
          .options = {.algorithm = what.algorithm,
                      .schedule = what.schedule ? &*what.schedule : nullptr,
                      .shape = what.shape,
                      .reproducible = what.reproducible}};
}

CheckedCall checked(const Case& what) {
  return {.collective = what.collective,
          .dtype = what.dtype,
          .op = what.op,
          .root = what.root,
          .block = [count = what.count](std::uint32_t, std::uint32_t) { return count; }};
}

}  // namespace tutti::measure
