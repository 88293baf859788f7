#include "measure/operands.hpp"

#include "api/call/prepared_call.hpp"

namespace tutti::measure {

Operands operands_in(const BufferPair& buffers, const Case& what, bool in_place, std::uint32_t self,
                     std::uint32_t ranks) {
  if (!in_place) return {.input = buffers.first(), .output = buffers.second()};
  const CallExtent extent = extent_of(call_of(what, {}), Rank{self}, ranks);
  std::byte* const whole = buffers.second();
  std::byte* const own = whole + extent.own_block * size_of(what.dtype);
  const bool longer_input = extent.input >= extent.output;
  return {.input = longer_input ? whole : own, .output = longer_input ? own : whole};
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

}  // namespace tutti::measure
