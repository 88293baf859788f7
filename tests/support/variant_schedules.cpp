#include "support/variant_schedules.hpp"

#include "support/draft.hpp"

namespace tutti::test {
namespace {

Draft empty(const char* name, const Contract& contract, std::uint32_t rounds) {
  return {.name = name,
          .contract = contract,
          .rounds = rounds,
          .programs = std::vector<std::vector<DraftStep>>(contract.ranks)};
}

std::uint16_t numbered(std::uint32_t variant) { return static_cast<std::uint16_t>(variant); }

}  // namespace

Schedule relay_allreduce(std::uint32_t p) {
  const Contract contract{.collective = Collective::allreduce, .ranks = p, .chunks = 2};
  Draft draft = empty("relay_allreduce", contract, 2 * (p - 1));
  for (std::uint32_t r = 0; r < p; ++r) {
    std::vector<DraftStep>& steps = draft.programs[r];
    // In round t the value of rank r + t leaves rank r, where it is variant t.
    for (std::uint32_t t = 0; t + 1 < p; ++t) {
      if (r > 0 && r + t < p) steps.push_back(send(t, {r - 1}, {0, 1}).as(numbered(t)));
      if (r + t + 1 < p) steps.push_back(receive(t, {r + 1}, {0, 1}).as(numbered(t + 1)));
    }
    if (r == 0 && p > 1) {
      std::vector<std::uint16_t> all;
      for (std::uint32_t s = 0; s < p; ++s) all.push_back(numbered(s));
      steps.push_back(local(p - 2, all, 0, {0, 1}));
    }
    if (r > 0) steps.push_back(receive(p - 2 + r, {r - 1}, {0, 1}));
    if (r + 1 < p) steps.push_back(send(p - 1 + r, {r + 1}, {0, 1}));
  }
  return schedule(draft);
}

Schedule carrying_ring(std::uint32_t p) {
  const Contract contract{.collective = Collective::reduce_scatter, .ranks = p, .chunks = p};
  Draft draft = empty("carrying_ring", contract, p - 1);
  for (std::uint32_t r = 0; r < p; ++r) {
    const std::uint32_t next = (r + 1) % p;
    const std::uint32_t previous = (r + p - 1) % p;
    // In round t rank r sends the sum of block r − 1 − t, and gets that of block r − 2 − t.
    for (std::uint32_t t = 0; t + 1 < p; ++t) {
      const std::uint64_t sent = (r + 2 * p - 1 - t) % p;
      const std::uint64_t got = (r + 2 * p - 2 - t) % p;
      const bool is_last = t + 2 == p;
      draft.programs[r].push_back(send(t, {next}, {sent}).as(t == 0 ? 0 : 1));
      draft.programs[r].push_back(fold(t, {previous}, 1, {got}).as(is_last ? 0 : 1));
    }
  }
  return schedule(draft);
}

Schedule gathering_mesh(std::uint32_t p) {
  const Contract contract{.collective = Collective::allreduce, .ranks = p, .chunks = p};
  Draft draft = empty("gathering_mesh", contract, p > 1 ? 2 : 0);
  for (std::uint32_t r = 0; r < p && p > 1; ++r) {
    std::vector<DraftStep>& steps = draft.programs[r];
    // Each rank starts with its neighbour, so that no rank is the first peer of all others.
    std::vector<std::uint32_t> others;
    for (std::uint32_t i = 1; i < p; ++i) others.push_back((r + i) % p);
    std::vector<std::uint16_t> by_rank;
    for (std::uint32_t s = 0; s < p; ++s) by_rank.push_back(s == r ? 0 : numbered(s + 1));
    for (const std::uint32_t s : others) steps.push_back(send(0, {s}, {s}));
    for (const std::uint32_t s : others) steps.push_back(receive(0, {s}, {r}).as(numbered(s + 1)));
    steps.push_back(local(0, by_rank, 0, {r}));
    steps.push_back(send(1, others, {r}));
    for (const std::uint32_t s : others) steps.push_back(receive(1, {s}, {s}));
  }
  return schedule(draft);
}

Schedule copying_alltoall(std::uint32_t p) {
  const Contract contract{
      .collective = Collective::alltoall, .ranks = p, .chunks = std::uint64_t{p} * p};
  Draft draft = empty("copying_alltoall", contract, p > 1 ? 1 : 0);
  for (std::uint32_t r = 0; r < p; ++r) {
    std::vector<DraftStep>& steps = draft.programs[r];
    for (std::uint32_t s = 0; s < p; ++s) {
      if (s == r) continue;
      steps.push_back(send(0, {s}, {std::uint64_t{r} * p + s}));
      steps.push_back(receive(0, {s}, {std::uint64_t{s} * p + r}).as(1));
    }
    for (std::uint32_t s = 0; s < p; ++s) {
      if (s != r) steps.push_back(local(0, {1}, 0, {std::uint64_t{s} * p + r}));
    }
  }
  return schedule(draft);
}

Schedule copying_chain(std::uint32_t p, std::uint32_t root) {
  const Contract contract{
      .collective = Collective::broadcast, .ranks = p, .root = root, .chunks = 2};
  Draft draft = empty("copying_chain", contract, p);
  for (std::uint32_t v = 0; v < p; ++v) {
    const std::uint32_t r = (root + v) % p;
    std::vector<DraftStep>& steps = draft.programs[r];
    // What arrives in variant 1 goes on as variant 2.
    if (v > 0) {
      steps.push_back(receive(v, {(r + p - 1) % p}, {0, 1}).as(1));
      steps.push_back(local(v, {1}, 0, {0, 1}));
    }
    if (v + 1 < p) {
      steps.push_back(local(v, {numbered(v > 0 ? 1 : 0)}, 2, {0, 1}));
      steps.push_back(send(v + 1, {(r + 1) % p}, {0, 1}).as(2));
    }
  }
  return schedule(draft);
}

std::vector<Schedule> variant_schedules(std::uint32_t p) {
  return {relay_allreduce(p), carrying_ring(p), gathering_mesh(p), copying_alltoall(p),
          copying_chain(p, p / 2)};
}

}  // namespace tutti::test
