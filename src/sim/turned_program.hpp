#pragma once

#include <cstdint>
#include <vector>

#include <tutti/schedule/contract.hpp>
#include <tutti/schedule/program.hpp>

namespace tutti {

/// Compares programs with the rotated program of rank 0: ranks, and blocks of chunks with them, are
/// shifted cyclically.
class TurnedProgram {
 public:
  /// `in_order`: the operands of a fold must be in the same order too. Requires: program and
  /// contract outlive this.
  TurnedProgram(const Program& of_rank_0, const Contract& contract, bool in_order);

  /// True if `program` is that of rank 0 rotated so that rank 0 becomes `rank`.
  [[nodiscard]] bool equals(const Program& program, std::uint32_t rank);

 private:
  [[nodiscard]] bool same(const Step& turned, const Step& step, std::uint32_t by);
  [[nodiscard]] bool same_peers(const Step& turned, const Step& step, std::uint32_t by);
  [[nodiscard]] bool same_chunks(const Step& turned, const Step& step, std::uint32_t by);
  void turn(const ChunkRange& range, std::uint32_t by, std::vector<ChunkRange>& into) const;

  const Program& program_;
  const Contract& contract_;
  bool in_order_;
  std::vector<ChunkRange> one_;
  std::vector<ChunkRange> other_;
};

}  // namespace tutti
