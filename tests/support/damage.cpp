#include "support/damage.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "support/damage_steps.hpp"

namespace tutti::test {
namespace {

using Kind = Step::Kind;

void erase_step(Draft& draft, const At& at) {
  std::vector<DraftStep>& steps = draft.programs[at.rank];
  steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at.step));
}

void insert_step(Draft& draft, const At& at, const DraftStep& inserted) {
  std::vector<DraftStep>& steps = draft.programs[at.rank];
  steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at.step), inserted);
}

void erase_peer(DraftStep& step, std::size_t k) {
  step.peers.erase(step.peers.begin() + static_cast<std::ptrdiff_t>(k));
  if (step.own && *step.own > k) --*step.own;
}

void sort_by_round(Draft& draft) {
  const auto moment = [](const DraftStep& step) {
    return std::pair(step.round, step.kind == Kind::local);
  };
  for (std::vector<DraftStep>& steps : draft.programs) {
    std::stable_sort(steps.begin(), steps.end(),
                     [&](const DraftStep& a, const DraftStep& b) { return moment(a) < moment(b); });
  }
}

// ---------------------------------------------------------------------------------- one step

bool drop_step(Draft& draft, Random& random) {
  const std::vector<At> all = places(draft);
  if (all.empty()) return false;
  erase_step(draft, random.pick(all));
  return true;
}

bool duplicate_step(Draft& draft, Random& random) {
  const std::vector<At> all = places(draft);
  if (all.empty()) return false;
  const At at = random.pick(all);
  insert_step(draft, at, DraftStep(step(draft, at)));
  return true;
}

bool drop_peer(Draft& draft, Random& random) {
  const auto several = places(draft, [](const DraftStep& each) { return each.peers.size() > 1; });
  return change_one(draft, random, several, [&](DraftStep& each) {
    erase_peer(each, random.below(std::uint64_t{each.peers.size()}));
  });
}

/// The steps that have a peer.
std::vector<At> ends(const Draft& draft) {
  return places(draft, [](const DraftStep& each) { return each.kind != Kind::local; });
}

bool redirect_peer(Draft& draft, Random& random) {
  return change_one(draft, random, ends(draft), [&](DraftStep& each) {
    Rank& peer = random.pick(each.peers);
    // Sometimes a rank that does not exist.
    const std::uint32_t ranks = draft.contract.ranks + (random.one_in(8) ? 1 : 0);
    peer = another(ranks, peer, random);
  });
}

bool turn_around(Draft& draft, Random& random) {
  return change_one(draft, random, ends(draft), [](DraftStep& each) {
    each.kind = each.kind == Kind::send ? Kind::receive : Kind::send;
    each.own.reset();
    each.own_variant = {};
  });
}

/// Swaps two steps of one program that differ in more than their rounds.
bool swap_two(Draft& draft, Random& random, bool with_rounds) {
  const std::vector<At> all = places(draft);
  if (all.empty()) return false;
  std::vector<DraftStep>& steps = draft.programs[random.pick(all).rank];
  if (steps.size() < 2) return false;
  const std::uint64_t i = random.below(std::uint64_t{steps.size()});
  const std::uint64_t j = another(std::uint64_t{steps.size()}, i, random);
  std::swap(steps[i], steps[j]);
  if (!with_rounds) std::swap(steps[i].round, steps[j].round);
  return steps[i] != steps[j];
}

bool swap_steps(Draft& draft, Random& random) { return swap_two(draft, random, true); }
bool swap_steps_but_not_rounds(Draft& draft, Random& random) {
  return swap_two(draft, random, false);
}

bool change_round(Draft& draft, Random& random) {
  return change_one(draft, random, places(draft), [&](DraftStep& each) {
    each.round += each.round == 0 || random.one_in(2) ? 1 : -1;
  });
}

// ---------------------------------------------------------------------------------- chunks

/// A change to a list of chunks: the range, and its replacement.
struct ChunkChange {
  std::size_t at;
  ChunkRange range;
};

ChunkChange other_name(const Draft& draft, const std::vector<ChunkRange>& chunks, Random& random) {
  const std::size_t at = random.below(std::uint64_t{chunks.size()});
  const std::uint64_t first = another(draft.contract.chunks, chunks[at].first.index(), random);
  return {at, {Chunk{first}, chunks[at].count}};
}

ChunkChange shifted(const std::vector<ChunkRange>& chunks, Random& random) {
  const std::size_t at = random.below(std::uint64_t{chunks.size()});
  const std::uint64_t first = chunks[at].first.index();
  const std::uint64_t moved = first == 0 || random.one_in(2) ? first + 1 : first - 1;
  return {at, {Chunk{moved}, chunks[at].count}};
}

ChunkChange resized(const std::vector<ChunkRange>& chunks, Random& random) {
  const std::size_t at = random.below(std::uint64_t{chunks.size()});
  const std::uint64_t count = chunks[at].count;
  return {at, {chunks[at].first, count == 1 || random.one_in(2) ? count + 1 : count - 1}};
}

bool rename_chunk(Draft& draft, Random& random) {
  return change_one(draft, random, places(draft), [&](DraftStep& each) {
    const ChunkChange change = other_name(draft, each.chunks, random);
    each.chunks[change.at] = change.range;
  });
}

bool shift_range(Draft& draft, Random& random) {
  return change_one(draft, random, places(draft), [&](DraftStep& each) {
    const ChunkChange change = shifted(each.chunks, random);
    each.chunks[change.at] = change.range;
  });
}

bool resize_range(Draft& draft, Random& random) {
  return change_one(draft, random, places(draft), [&](DraftStep& each) {
    const ChunkChange change = resized(each.chunks, random);
    each.chunks[change.at] = change.range;
  });
}

// ---------------------------------------------------------------------------------- folds

bool copy_or_reduce(Draft& draft, Random& random) {
  const auto receives =
      places(draft, [](const DraftStep& each) { return each.kind == Kind::receive; });
  return change_one(draft, random, receives, [](DraftStep& each) {
    if (each.own) {
      each.own.reset();
      each.own_variant = {};
    } else {
      each.own = 0;
    }
  });
}

bool swap_fold_order(Draft& draft, Random& random) {
  const auto folds = places(draft, [](const DraftStep& each) {
    return each.kind == Kind::receive && (each.own || each.peers.size() > 1);
  });
  return change_one(draft, random, folds, [&](DraftStep& each) {
    const auto n = static_cast<std::uint32_t>(each.peers.size());
    if (each.own && (n == 1 || random.one_in(2))) {
      each.own = another(n + 1, *each.own, random);
    } else {
      const std::uint32_t i = random.below(n);
      std::swap(each.peers[i], each.peers[another(n, i, random)]);
    }
  });
}

// ---------------------------------------------------------------------------------- messages

/// Calls change(step) on a random step and on all steps joined to it.
template <class Change>
bool change_joined(Draft& draft, Random& random, Change change) {
  const std::vector<At> all = places(draft);
  if (all.empty()) return false;
  for (const At& at : joined(draft, random.pick(all))) change(step(draft, at));
  return true;
}

template <class Choose>
bool change_chunks_of_message(Draft& draft, Random& random, Choose choose) {
  std::optional<ChunkChange> change;
  return change_joined(draft, random, [&](DraftStep& each) {
    if (!change) change = choose(each.chunks);
    if (change->at < each.chunks.size()) each.chunks[change->at] = change->range;
  });
}

bool rename_in_message(Draft& draft, Random& random) {
  return change_chunks_of_message(draft, random, [&](const std::vector<ChunkRange>& chunks) {
    return other_name(draft, chunks, random);
  });
}

bool shift_in_message(Draft& draft, Random& random) {
  return change_chunks_of_message(draft, random, [&](const std::vector<ChunkRange>& chunks) {
    return shifted(chunks, random);
  });
}

bool resize_in_message(Draft& draft, Random& random) {
  return change_chunks_of_message(draft, random, [&](const std::vector<ChunkRange>& chunks) {
    return resized(chunks, random);
  });
}

/// Moves both ends to another round, and to the places for it in the programs.
bool reround_message(Draft& draft, Random& random) {
  std::optional<std::uint32_t> round;
  const bool done = change_joined(draft, random, [&](DraftStep& each) {
    if (!round) round = each.round == 0 || random.one_in(2) ? each.round + 1 : each.round - 1;
    each.round = *round;
  });
  if (!done) return false;
  draft.rounds = std::max(draft.rounds, *round + 1);
  sort_by_round(draft);
  return true;
}

bool drop_message(Draft& draft, Random& random) {
  const std::vector<DraftMessage> all = messages(draft);
  if (all.empty()) return false;
  const DraftMessage message = random.pick(all);
  erase_peer(step(draft, message.from), message.to_index);
  erase_peer(step(draft, message.to), message.from_index);
  for (const At& at : {message.from, message.to}) {
    if (step(draft, at).peers.empty()) erase_step(draft, at);
  }
  return true;
}

bool duplicate_message(Draft& draft, Random& random) {
  const std::vector<At> all = places(draft);
  if (all.empty()) return false;
  const std::set<At> steps = joined(draft, random.pick(all));
  // From the last to the first, so that the remaining indices stay valid.
  for (const At& at : std::vector<At>(steps.rbegin(), steps.rend())) {
    insert_step(draft, at, DraftStep(step(draft, at)));
  }
  return true;
}

/// Puts one end of a message at a random place in its round.
void insert_somewhere(Draft& draft, std::size_t rank, const DraftStep& inserted, Random& random) {
  const std::vector<DraftStep>& steps = draft.programs[rank];
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i <= steps.size(); ++i) {
    const bool after = i == 0 || steps[i - 1].round < inserted.round ||
                       (steps[i - 1].round == inserted.round && steps[i - 1].kind != Kind::local);
    const bool before = i == steps.size() || steps[i].round >= inserted.round;
    if (after && before) fitting.push_back(i);
  }
  if (!fitting.empty()) insert_step(draft, {rank, random.pick(fitting)}, inserted);
}

/// Adds a message of one chunk between random ranks in a random round.
bool insert_message(Draft& draft, Random& random) {
  if (draft.contract.ranks < 2) return false;
  const std::uint32_t from = random.below(draft.contract.ranks);
  const std::uint32_t to = another(draft.contract.ranks, from, random);
  const std::uint32_t round = random.below(draft.rounds + 1);
  const std::uint64_t chunk = random.below(draft.contract.chunks);
  draft.rounds = std::max(draft.rounds, round + 1);
  insert_somewhere(draft, from, send(round, {to}, {chunk}), random);
  const bool adds = random.one_in(8);
  insert_somewhere(
      draft, to, adds ? fold(round, {from}, 0, {chunk}) : receive(round, {from}, {chunk}), random);
  return true;
}

/// Sends the message to another receiver, which replaces its version with it.
bool redirect_message(Draft& draft, Random& random) {
  const std::vector<DraftMessage> all = messages(draft);
  if (all.empty() || draft.contract.ranks < 3) return false;
  const DraftMessage message = random.pick(all);
  std::uint32_t to = 0;
  do {
    to = random.below(draft.contract.ranks);
  } while (to == message.from.rank || to == message.to.rank);
  DraftStep& sent = step(draft, message.from);
  sent.peers[message.to_index] = to;
  const DraftStep arrives{.kind = Kind::receive,
                          .round = sent.round,
                          .peers = {Rank{static_cast<std::uint32_t>(message.from.rank)}},
                          .own = {},
                          .chunks = sent.chunks,
                          .variant = step(draft, message.to).variant};
  erase_peer(step(draft, message.to), message.from_index);
  if (step(draft, message.to).peers.empty()) erase_step(draft, message.to);
  draft.programs[to].push_back(arrives);
  sort_by_round(draft);
  return true;
}

/// Swaps the chunks of two messages with one sender and one receiver each.
bool swap_chunks_of_messages(Draft& draft, Random& random) {
  std::vector<DraftMessage> plain;
  for (const DraftMessage& each : messages(draft)) {
    if (step(draft, each.from).peers.size() == 1 && step(draft, each.to).peers.size() == 1) {
      plain.push_back(each);
    }
  }
  if (plain.size() < 2) return false;
  const DraftMessage one = random.pick(plain);
  const DraftMessage other = random.pick(plain);
  if (step(draft, one.from).chunks == step(draft, other.from).chunks) return false;
  std::swap(step(draft, one.from).chunks, step(draft, other.from).chunks);
  std::swap(step(draft, one.to).chunks, step(draft, other.to).chunks);
  return true;
}

// ---------------------------------------------------------------------------------- rounds

/// Merges two rounds: all rounds from a random one on move one earlier.
bool merge_rounds(Draft& draft, Random& random) {
  if (draft.rounds < 2) return false;
  const std::uint32_t first = 1 + random.below(draft.rounds - 1);
  for (std::vector<DraftStep>& steps : draft.programs) {
    for (DraftStep& each : steps) each.round -= each.round >= first ? 1 : 0;
  }
  --draft.rounds;
  return true;
}

bool swap_rounds(Draft& draft, Random& random) {
  if (draft.rounds < 2) return false;
  const std::uint32_t one = random.below(draft.rounds);
  const std::uint32_t other = another(draft.rounds, one, random);
  for (std::vector<DraftStep>& steps : draft.programs) {
    for (DraftStep& each : steps) {
      if (each.round == one) {
        each.round = other;
      } else if (each.round == other) {
        each.round = one;
      }
    }
  }
  sort_by_round(draft);
  return true;
}

constexpr std::array all_damages{
    Damage{"drop a step", drop_step},
    Damage{"drop a peer", drop_peer},
    Damage{"duplicate a step", duplicate_step},
    Damage{"swap two steps", swap_steps},
    Damage{"swap two steps, not rounds", swap_steps_but_not_rounds},
    Damage{"redirect a peer", redirect_peer},
    Damage{"turn a step around", turn_around},
    Damage{"rename a chunk", rename_chunk},
    Damage{"shift a range", shift_range},
    Damage{"resize a range", resize_range},
    Damage{"copy or reduce", copy_or_reduce},
    Damage{"swap the order of a fold", swap_fold_order},
    Damage{"change a round", change_round},
    Damage{"message: drop", drop_message},
    Damage{"message: duplicate", duplicate_message},
    Damage{"message: insert", insert_message},
    Damage{"message: redirect", redirect_message},
    Damage{"message: rename a chunk", rename_in_message},
    Damage{"message: shift a range", shift_in_message},
    Damage{"message: resize a range", resize_in_message},
    Damage{"message: change the round", reround_message},
    Damage{"messages: swap chunks", swap_chunks_of_messages},
    Damage{"merge two rounds", merge_rounds},
    Damage{"swap two rounds", swap_rounds},
};

}  // namespace

std::span<const Damage> damages() {
  static const std::vector<Damage> all = [] {
    std::vector<Damage> both(all_damages.begin(), all_damages.end());
    both.insert(both.end(), variant_damages().begin(), variant_damages().end());
    return both;
  }();
  return all;
}

}  // namespace tutti::test
