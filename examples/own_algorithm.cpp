// A user-defined schedule: an allreduce in which pairs of ranks add first, then the leaders of the
// pairs run a ring. It is built with the algebra, written as JSON and read back, verified, and run.
#include <atomic>
#include <cstdio>

#include <tutti/communicator.hpp>
#include <tutti/schedule/algebra.hpp>
#include <tutti/schedule/algorithm.hpp>
#include <tutti/schedule/proved_schedule.hpp>
#include <tutti/schedule/schedule_json.hpp>

namespace {

using namespace tutti;

Program pairs_then_ring(std::uint32_t ranks, Rank self) {
  const std::uint32_t pairs = ranks / 2;
  const Rank in_pair{self % 2};
  const Rank pair{self / 2};

  // Within a pair, all chunks of the ring together are the one chunk of a reduce and a broadcast.
  const RankMap own_pair{.first = pair * 2, .modulus = ranks};
  const ChunkMap all{.stride = pairs, .modulus = pairs, .width = pairs};
  const Program up = embed(algorithm("reduce/flat").program({.ranks = 2}, in_pair), own_pair, all);
  const Program down =
      embed(algorithm("broadcast/flat").program({.ranks = 2}, in_pair), own_pair, all);

  // Only the leaders, ranks 0, 2, 4, …, take part in the ring. The others idle for its rounds.
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
    schedule.programs.push_back(pairs_then_ring(ranks, r));
  }
  // Throws an error that lists the first violations if the schedule is wrong.
  const ProvedSchedule proved = prove(schedule_from_json(to_json(schedule)));

  std::atomic<bool> right = true;
  run_threads(ranks, [&](Communicator& communicator) {
    std::vector<float> data(10000, 1);
    communicator.all_reduce(data, Op::sum, {.schedule = &proved});
    if (data.front() != ranks || data.back() != ranks) right = false;
  });
  std::printf("%s, %u rounds: the sum of %u ones is %s\n", proved.label().c_str(),
              schedule.rounds(), ranks, right ? "right" : "WRONG");
  return right ? 0 : 1;
}
