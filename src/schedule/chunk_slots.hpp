#pragma once

#include <vector>

#include <tutti/contract.hpp>
#include <tutti/program.hpp>

namespace tutti {

/// Numbers the chunks that one rank ever holds or touches 0, 1, …, so that what is known of each
/// can stand in an array whose length is the rank's own business and not that of the whole
/// schedule: of an alltoall's p² chunks a rank sees 2p.
class ChunkSlots {
 public:
  /// Requires: every chunk of the program is below contract.chunks.
  ChunkSlots(const Program& program, const Contract& contract, Rank self);

  [[nodiscard]] std::size_t size() const { return dense_ ? dense_size_ : chunks_.size(); }
  /// Requires: the chunk is one of those numbered.
  [[nodiscard]] std::size_t operator[](Chunk chunk) const;

 private:
  bool dense_;
  std::size_t dense_size_ = 0;
  std::vector<Chunk> chunks_;  // Sorted; not used when every chunk of the schedule has a slot.
};

}  // namespace tutti
