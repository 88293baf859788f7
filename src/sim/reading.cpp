#include "sim/reading.hpp"

#include <algorithm>

#include <tutti/error.hpp>

namespace tutti {
namespace {

std::uint64_t size_of(const Step& step, const Layout& layout) {
  std::uint64_t bytes = 0;
  for (const ChunkRange& range : step.chunks) bytes += layout.size(range);
  return bytes;
}

template <class Items>
std::uint32_t count(const Items& items) {
  return static_cast<std::uint32_t>(items.size());
}

}  // namespace

void check_numbers(std::size_t count) {
  constexpr std::size_t most = 1U << 30;
  if (count <= most) return;
  throw Error(ErrorCode::unsupported,
              "there are too many messages to simulate; use fewer ranks, or longer slices");
}

void reject_unverified(const std::string& name, const std::string& reason) {
  throw Error(ErrorCode::invalid_argument,
              "'" + name + "' cannot be simulated: " + reason + "; check it with verify");
}

Reading::Reading(const ScheduleSource& source, const Layout& layout, std::uint32_t first,
                 std::uint32_t last)
    : source_(source), layout_(layout), first_rank_(first), known_hops_(source.contract.ranks) {
  for (std::uint32_t r = first; r < last; ++r) {
    add(source.program(r));
    if (r == first) reserve(last - first);
  }
}

void Reading::add(const Program& program) {
  const std::uint32_t rank = first_rank_ + ranks();
  writers_.begin(program, source_.contract);
  writers_beside_.clear();
  counted_.assign(program.size(), none);
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    const Step step = program[i];
    check(step);
    const std::uint64_t bytes = size_of(step, layout_);
    find_waits(i, step);
    if (step.makes()) {
      add_receive(step, bytes);
    } else {
      add_sends(rank, step, bytes);
    }
  }
  sort_waits();
  first_.push_back({.send = sends_.size(), .receive = receives_.size(), .end = ends_.size()});
  check_numbers(std::max({sends_.size(), receives_.size(), waiters_.size()}));
}

void Reading::check(const Step& step) const {
  constexpr std::uint32_t most_rounds = 1U << 24;
  if (step.round >= most_rounds) {
    throw Error(ErrorCode::unsupported, "'" + source_.name + "' has a step in round " +
                                            std::to_string(step.round) + ", but at most " +
                                            std::to_string(most_rounds) +
                                            " rounds can be simulated; leave no gaps");
  }
  const Contract& contract = source_.contract;
  for (const Rank peer : step.peers) {
    if (peer >= contract.ranks) {
      reject_unverified(source_.name, "it names rank " + std::to_string(peer) + ", but has " +
                                          std::to_string(contract.ranks) + " ranks");
    }
  }
  for (const ChunkRange& range : step.chunks) {
    if (range.count > contract.chunks || range.first.index() > contract.chunks - range.count) {
      reject_unverified(source_.name, "it names chunk " + std::to_string(range.end().index() - 1) +
                                          ", but has " + std::to_string(contract.chunks) +
                                          " chunks");
    }
  }
}

/// Reserves for each rank as much as the first rank needed, which fits most schedules.
void Reading::reserve(std::uint32_t ranks) {
  constexpr std::size_t most_guessed = 1U << 22;
  const auto make_room = [&](auto& items) {
    items.reserve(std::min(items.size() * ranks, most_guessed));
  };
  make_room(sends_);
  make_room(receives_);
  make_room(ends_);
  make_room(waiters_);
}

LastWriters& Reading::writers_of(Variant variant) {
  if (variant == Variant{}) return writers_;
  const auto [found, is_new] = writers_beside_.try_emplace(variant);
  if (is_new) found->second.begin_with_few();
  return found->second;
}

/// Puts into seen_ the receives that a step waits for: those that made the data that it sends or
/// folds.
void Reading::find_waits(std::uint32_t at, const Step& step) {
  seen_.clear();
  const auto first = static_cast<std::uint32_t>(first_.back().receive);
  const std::uint32_t writer = step.makes() ? count(receives_) : LastWriters::none;
  const auto see = [&](std::uint32_t wrote) {
    if (counted_[wrote - first] == at || wrote == writer) return;
    counted_[wrote - first] = at;
    seen_.push_back(wrote);
  };
  // Nearly every step reads what it writes; one pass then does both.
  bool is_noted = false;
  step.for_each_read([&](Variant variant) {
    const bool notes = step.makes() && variant == step.variant && !is_noted;
    is_noted |= notes;
    LastWriters& writers = writers_of(variant);
    for (const ChunkRange& range : step.chunks) {
      writers.visit(range, notes ? writer : LastWriters::none, see);
    }
  });
  if (!step.makes() || is_noted) return;
  LastWriters& writers = writers_of(step.variant);
  for (const ChunkRange& range : step.chunks) writers.visit(range, writer, [](std::uint32_t) {});
}

void Reading::add_sends(std::uint32_t rank, const Step& step, std::uint64_t bytes) {
  for (const Rank peer : step.peers) {
    for (const std::uint32_t receive : seen_) {
      waits_.push_back({.receive = receive, .waiter = WorkItem::message(count(sends_))});
    }
    sends_.push_back({.to = peer,
                      .round = step.round,
                      .hop = hop(rank, peer),
                      .waits = count(seen_),
                      .bytes = bytes});
  }
  in_round(step.round).sends += count(step.peers);
}

void Reading::add_receive(const Step& step, std::uint64_t bytes) {
  const std::uint32_t receive = count(receives_);
  for (const std::uint32_t earlier : seen_) {
    waits_.push_back({.receive = earlier, .waiter = WorkItem::fold(receive)});
  }
  for (const Rank peer : step.peers) {
    ends_.push_back({.sender = peer, .receive = receive});
  }
  receives_.push_back({.round = step.round,
                       .operands = static_cast<std::uint32_t>(step.operands()),
                       .waits = count(step.peers) + count(seen_),
                       .bytes = bytes});
  ++in_round(step.round).receives;
}

/// Sorts the dependences of the rank by the receive that is waited for.
void Reading::sort_waits() {
  std::uint32_t at = count(waiters_);
  for (const Wait& wait : waits_) ++receives_[wait.receive].waiters;
  for (std::size_t i = first_.back().receive; i < receives_.size(); ++i) {
    Receive& receive = receives_[i];
    receive.first_waiter = at;
    at += receive.waiters;
    in_round(receive.round).waiters += receive.waiters;
    receive.waiters = 0;
  }
  waiters_.resize(at);
  for (const Wait& wait : waits_) {
    Receive& receive = receives_[wait.receive];
    waiters_[receive.first_waiter + receive.waiters++] = wait.waiter;
  }
  waits_.clear();
}

std::uint32_t Reading::hop(std::uint32_t from, std::uint32_t to) {
  KnownHop& known = known_hops_[to];
  if (known.from != from) {
    known = {.from = from, .hop = count(hops_)};
    hops_.push_back({.from = from, .to = to});
  }
  return known.hop;
}

Reading::Count& Reading::in_round(std::uint32_t round) {
  if (by_round_.size() <= round) by_round_.resize(std::size_t{round} + 1);
  return by_round_[round];
}

}  // namespace tutti
