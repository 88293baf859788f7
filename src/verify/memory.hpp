#pragma once

#include <tutti/schedule/contract.hpp>
#include <tutti/schedule/placement.hpp>

#include "schedule/chunk_slots.hpp"

namespace tutti {

/// Numbers the places where one rank can keep a chunk. Two names of the same bytes get the same
/// number: in place, the input is the output.
class Memory {
 public:
  Memory(const Program& program, const Contract& contract, Rank self, Aliasing aliasing)
      : contract_(contract),
        self_(self),
        in_place_(aliasing == Aliasing::in_place),
        slots_(program, contract, self) {}

  [[nodiscard]] std::size_t size() const {
    return slots_.size() * buffers + (slots_.total() - slots_.size());
  }

  /// The place of a variant of a chunk. `buffer` is used for variant 0 only.
  [[nodiscard]] std::size_t operator()(Buffer buffer, Chunk chunk, Variant variant) const {
    if (variant == Variant{}) return (*this)(buffer, chunk);
    return slots_.size() * (buffers - 1) + slots_.slot(chunk, variant);
  }

  /// Requires: the rank holds or touches the chunk. For Buffer::input, the rank has it as input.
  [[nodiscard]] std::size_t operator()(Buffer buffer, Chunk chunk) const {
    if (in_place_ && buffer == Buffer::input) {
      const std::optional<Chunk> over = contract_.output_over(self_, chunk);
      if (over) return at(Buffer::output, *over);
    }
    return at(buffer, chunk);
  }

 private:
  static constexpr std::size_t buffers = 4;

  [[nodiscard]] std::size_t at(Buffer buffer, Chunk chunk) const {
    return slots_[chunk] * buffers + static_cast<std::size_t>(buffer);
  }

  Contract contract_;
  Rank self_;
  bool in_place_;
  ChunkSlots slots_;
};

}  // namespace tutti
