// A schedule of one's own: an allreduce in which pairs add first and then a ring of pairs' leaders
// goes round. Written with the algebra, verified before it is believed, saved as JSON.
#include <cstdio>

#include <tutti/algebra.hpp>
#include <tutti/algorithm.hpp>
#include <tutti/schedule_json.hpp>
#include <tutti/verify.hpp>

namespace {

using namespace tutti;

Program pairs_then_ring(std::uint32_t ranks, Rank self) {
  const std::uint32_t pairs = ranks / 2;
  const Rank in_pair{self.index() % 2};
  const Rank pair{self.index() / 2};

  // Within a pair all chunks of the ring stand for the one chunk of a reduce and a broadcast.
  const RankMap own_pair{.first = pair.index() * 2, .modulus = ranks};
  const ChunkMap all{.stride = pairs, .modulus = pairs, .width = pairs};
  const Program up = embed(algorithm("reduce/flat").program({.ranks = 2}, in_pair), own_pair, all);
  const Program down =
      embed(algorithm("broadcast/flat").program({.ranks = 2}, in_pair), own_pair, all);

  // Only the leaders, ranks 0, 2, 4, …, take part in the ring; the others rest as long.
  const Program ring = algorithm("allreduce/ring").program({.ranks = pairs}, pair);
  const Program across = in_pair == Rank{0}
                             ? embed(ring, {.stride = 2, .modulus = ranks}, {.modulus = pairs})
                             : Program(ring.rounds());
  return then(then(up, across), down);
}

}  // namespace

int main() {
  const std::uint32_t ranks = 8;
  Schedule schedule{
      .name = "allreduce/pairs_then_ring",
      .contract = {.collective = Collective::allreduce, .ranks = ranks, .chunks = ranks / 2},
      .programs = {}};
  for (std::uint32_t r = 0; r < ranks; ++r) {
    schedule.programs.push_back(pairs_then_ring(ranks, Rank{r}));
  }
  const Verification verdict = verify(schedule);
  for (const Violation& each : verdict.violations) std::puts(each.message.c_str());
  const bool survives = schedule_from_json(to_json(schedule)) == schedule;
  std::printf("%s: %llu violations, %u rounds, JSON %s\n", schedule.name.c_str(),
              static_cast<unsigned long long>(verdict.violation_count), schedule.rounds(),
              survives ? "reads back equal" : "DIFFERS");
  return verdict.ok() && survives ? 0 : 1;
}
