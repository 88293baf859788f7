#include <algorithm>

#include <tutti/schedule/placement.hpp>
#include <tutti/schedule/schedule_traits.hpp>

#include "schedule/chunk_slots.hpp"

namespace tutti {
namespace {

/// The number of chunks, in all variants, that a rank keeps in internal memory.
std::uint64_t kept_chunks(const Program& program, const Contract& contract, Rank self,
                          Aliasing aliasing) {
  const Placement placement = place(program, contract, self, aliasing);
  const ChunkSlots slots(program, contract, self);
  std::vector<bool> in_scratch(slots.size(), false);
  std::vector<bool> in_spare(slots.size(), false);
  // Only writes count: every chunk read there was written there.
  const auto note = [&](const Placement::Piece& piece) {
    if (piece.to != Buffer::scratch && piece.to != Buffer::spare) return;
    std::vector<bool>& kept = piece.to == Buffer::scratch ? in_scratch : in_spare;
    for (std::uint64_t i = 0; i < piece.chunks.count; ++i) {
      kept[slots[Chunk{piece.chunks.first.index() + i}]] = true;
    }
  };
  for (const Placement::Copy& copy : placement.before()) note(copy);
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Step step = program[i];
    if (!step.makes() || step.variant != Variant{}) continue;
    for (const Placement::Piece& piece : placement.pieces(i)) note(piece);
  }
  const auto count = [](const std::vector<bool>& kept) {
    return static_cast<std::uint64_t>(std::count(kept.begin(), kept.end(), true));
  };
  return count(in_scratch) + count(in_spare) + (slots.total() - slots.size());
}

bool forwards_others_blocks(const Program& program, const Contract& contract, Rank self) {
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

bool joins_chunks(const Program& program) {
  for (const Step step : program) {
    std::uint64_t chunks = 0;
    for (const ChunkRange& range : step.chunks) chunks += range.count;
    if (chunks > 1) return true;
  }
  return false;
}

bool repeats_pairs(const Program& program) {
  std::vector<Rank> receivers;
  for (const Step step : program) {
    if (step.kind != Step::Kind::send) continue;
    receivers.insert(receivers.end(), step.peers.begin(), step.peers.end());
  }
  std::sort(receivers.begin(), receivers.end());
  return std::adjacent_find(receivers.begin(), receivers.end()) != receivers.end();
}

}  // namespace

ScheduleTraits traits_of(const Schedule& schedule) {
  const Contract& contract = schedule.contract;
  ScheduleTraits traits;
  if (contract.collective == Collective::barrier) return traits;  // It has no data.
  const bool pairs = contract.collective == Collective::alltoall;
  std::uint64_t most = 0;
  for (std::uint32_t r = 0; r < schedule.programs.size(); ++r) {
    const Program& program = schedule.programs[r];
    for (const Aliasing aliasing : {Aliasing::out_of_place, Aliasing::in_place}) {
      most = std::max(most, kept_chunks(program, contract, r, aliasing));
    }
    traits.joins_chunks |= joins_chunks(program);
    traits.repeats_pairs |= repeats_pairs(program);
    if (pairs) traits.needs_counts |= forwards_others_blocks(program, contract, r);
  }
  const std::uint64_t data = pairs ? contract.chunks / contract.ranks : contract.chunks;
  traits.keeps_data = most > 0;
  traits.copies = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>((most + data - 1) / data, traits.copies, ~std::uint32_t{0}));
  return traits;
}

}  // namespace tutti
