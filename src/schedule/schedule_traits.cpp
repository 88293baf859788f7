#include <algorithm>

#include <tutti/placement.hpp>
#include <tutti/schedule_traits.hpp>

namespace tutti {
namespace {

bool is_own(Buffer buffer) { return buffer == Buffer::scratch || buffer == Buffer::spare; }

/// Whether the rank writes to memory of tutti's own: what is read there was written there.
bool keeps_data(const Program& program, const Contract& contract, Rank self, Aliasing aliasing) {
  const Placement placement = place(program, contract, self, aliasing);
  const auto to_own = [](const Placement::Piece& piece) { return is_own(piece.to); };
  if (std::ranges::any_of(placement.before(), to_own)) return true;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (program[i].kind == Step::Kind::send) continue;
    if (std::ranges::any_of(placement.pieces(i), to_own)) return true;
  }
  return false;
}

bool passes_on_others_blocks(const Program& program, const Contract& contract, Rank self) {
  const ChunkSeries input = contract.input(self);
  const ChunkSeries output = contract.output(self);
  for (const Step step : program) {
    for (const ChunkRange& range : step.chunks) {
      for (std::uint64_t i = 0; i < range.count; ++i) {
        const Chunk chunk{range.first.index() + i};
        if (!input.contains(chunk) && !output.contains(chunk)) return true;
      }
    }
  }
  return false;
}

}  // namespace

ScheduleTraits traits_of(const Schedule& schedule) {
  const Contract& contract = schedule.contract;
  ScheduleTraits traits;
  if (contract.collective == Collective::barrier) return traits;  // It has no data.
  for (std::uint32_t r = 0; r < schedule.programs.size(); ++r) {
    const Program& program = schedule.programs[r];
    for (const Aliasing aliasing : {Aliasing::out_of_place, Aliasing::in_place}) {
      traits.keeps_data |= keeps_data(program, contract, Rank{r}, aliasing);
    }
    if (contract.collective == Collective::alltoall) {
      traits.needs_counts |= passes_on_others_blocks(program, contract, Rank{r});
    }
    if (traits.keeps_data && (traits.needs_counts || contract.collective != Collective::alltoall)) {
      break;
    }
  }
  return traits;
}

}  // namespace tutti
