#include "sim/workload.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <tutti/error.hpp>

namespace tutti {
namespace {

std::uint64_t size_of(const Step& step, const Layout& layout) {
  std::uint64_t bytes = 0;
  for (const ChunkRange& range : step.chunks) bytes += layout.size(range);
  return bytes;
}

/// So many of a kind can be numbered.
constexpr std::size_t most = 1U << 30;

template <class Items>
std::uint32_t count(const Items& items) {
  return static_cast<std::uint32_t>(items.size());
}

/// The number of each item when all are numbered by round.
template <class Items>
std::vector<std::uint32_t> numbers_by_round(const Items& items) {
  std::vector<std::uint32_t> next;
  for (const auto& each : items) {
    if (next.size() <= each.round + 1) next.resize(each.round + 2, 0);
    ++next[each.round + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::uint32_t> numbers;
  numbers.reserve(items.size());
  for (const auto& each : items) numbers.push_back(next[each.round]++);
  return numbers;
}

[[noreturn]] void reject(const std::string& name) {
  throw Error(
      ErrorCode::invalid_argument,
      "'" + name + "' cannot be simulated: some of its sends and receives do not meet; verify it");
}

/// The routes from one rank, each added when it is first asked for.
class RoutesFrom {
 public:
  RoutesFrom(RouteTable& table, std::uint32_t ranks) : table_(table), known_(ranks) {}

  void begin(std::uint32_t from) { from_ = from; }

  std::uint32_t operator()(std::uint32_t to) {
    Known& known = known_[to];
    if (known.from != from_) known = {from_, table_.add(Rank{from_}, Rank{to})};
    return known.route;
  }

 private:
  struct Known {
    std::uint32_t from = Workload::none;
    std::uint32_t route = 0;
  };

  RouteTable& table_;
  std::uint32_t from_ = Workload::none;
  std::vector<Known> known_;
};

}  // namespace

Workload::Workload(const ScheduleSource& source, const Layout& layout, RouteTable& routes) {
  const std::uint32_t p = source.contract.ranks;
  RoutesFrom route_of(routes, p);
  for (std::uint32_t r = 0; r < p; ++r) {
    route_of.begin(r);
    add_rank(r, source.program(Rank{r}), source.contract, layout, route_of);
    if (r == 0) reserve(p);
  }
  meet(source.name);
  list_outgoing();
  number_by_round();
}

Workload Workload::of_one_rank(const ScheduleSource& source, const Layout& layout,
                               std::span<const std::uint32_t> route_by_distance,
                               std::vector<std::uint32_t>& distances) {
  Workload one;
  const auto route_of = [&](std::uint32_t peer) { return route_by_distance[peer]; };
  one.add_rank(0, source.program(Rank{0}), source.contract, layout, route_of);
  const std::uint32_t p = source.contract.ranks;
  distances.clear();
  for (Message& message : one.messages) distances.push_back(std::exchange(message.to, 0));
  const auto sender_of = [&](std::uint32_t id) { return (p - distances[id]) % p; };
  std::vector<std::uint32_t> inbox(distances.size());
  std::iota(inbox.begin(), inbox.end(), 0);
  std::stable_sort(inbox.begin(), inbox.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return sender_of(a) < sender_of(b); });
  one.incoming_.resize(one.ends_.size());
  one.meet_at(0, inbox, sender_of, source.name);
  one.list_outgoing();
  one.number_by_round();
  return one;
}

/// Room for as much from each rank as the first has brought, which is right for most schedules.
void Workload::reserve(std::size_t ranks) {
  constexpr std::size_t most_guessed = 1U << 22;
  const auto make_room = [&](auto& items) {
    items.reserve(std::min(items.size() * ranks, most_guessed));
  };
  make_room(messages);
  make_room(folds);
  make_room(ends_);
  make_room(waiters_);
}

template <class RouteOf>
void Workload::add_rank(std::uint32_t rank, const Program& program, const Contract& contract,
                        const Layout& layout, RouteOf&& route_of) {
  const std::size_t first_fold = folds.size();
  writers_.begin(program, contract);
  counted_.assign(program.size(), none);
  std::uint32_t round = none;
  std::uint32_t slot = 0;
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    const Step step = program[i];
    if (step.round != std::exchange(round, step.round)) slot = 0;
    const std::uint64_t bytes = size_of(step, layout);
    find_waits(i, step, first_fold);
    if (step.kind == Step::Kind::receive) {
      add_receive(rank, step, bytes);
      continue;
    }
    for (const Rank peer : step.peers) {
      for (const std::uint32_t writer : seen_) {
        waits_.push_back({.writer = writer, .waiter = Item::message(count(messages))});
      }
      messages.push_back({.from = rank,
                          .to = peer.index(),
                          .round = step.round,
                          .slot = slot++,
                          .route = route_of(peer.index()),
                          .bytes = bytes,
                          .waits = count(seen_)});
    }
  }
  end_rank(first_fold);
}

void Workload::end_rank(std::size_t first_fold) {
  add_waiters(first_fold);
  first_outgoing_.push_back(messages.size());
  first_incoming_.push_back(ends_.size());
  if (messages.size() > most || folds.size() > most || waiters_.size() > most) {
    throw Error(ErrorCode::unsupported,
                "there are too many messages to simulate; ask for fewer ranks, or longer slices");
  }
}

/// Leaves in seen_ the folds that a step has to wait for: those that made what it sends, or what
/// it folds what arrives with.
void Workload::find_waits(std::uint32_t at, const Step& step, std::size_t first_fold) {
  seen_.clear();
  const bool receives = step.kind == Step::Kind::receive;
  const std::uint32_t writer = receives ? count(folds) : LastWriters::none;
  const bool reads = !receives || step.own.has_value();
  for (const ChunkRange& range : step.chunks) {
    writers_.visit(range, writer, [&](std::uint32_t wrote) {
      if (!reads || counted_[wrote - first_fold] == at || wrote == writer) return;
      counted_[wrote - first_fold] = at;
      seen_.push_back(wrote);
    });
  }
}

void Workload::add_receive(std::uint32_t rank, const Step& step, std::uint64_t bytes) {
  const std::uint32_t fold = count(folds);
  for (const std::uint32_t writer : seen_) {
    waits_.push_back({.writer = writer, .waiter = Item::fold(fold)});
  }
  for (const Rank peer : step.peers) {
    ends_.push_back({.sender = peer.index(), .fold = fold});
  }
  folds.push_back({.rank = rank,
                   .round = step.round,
                   .operands = static_cast<std::uint32_t>(step.operands()),
                   .waits = static_cast<std::uint32_t>(step.peers.size() + seen_.size()),
                   .bytes = bytes});
}

/// Sorts the rank's waits by whom they are for.
void Workload::add_waiters(std::size_t first_fold) {
  std::uint32_t at = count(waiters_);
  for (const Wait& wait : waits_) ++folds[wait.writer].waiters;
  for (std::size_t i = first_fold; i < folds.size(); ++i) {
    folds[i].first_waiter = at;
    at += folds[i].waiters;
    folds[i].waiters = 0;
  }
  waiters_.resize(at);
  for (const Wait& wait : waits_) {
    Fold& fold = folds[wait.writer];
    waiters_[fold.first_waiter + fold.waiters++] = wait.waiter;
  }
  waits_.clear();
}

/// Programs were read rank by rank; they will be run round by round.
void Workload::number_by_round() {
  const std::vector<std::uint32_t> numbers = numbers_by_round(messages);
  LargeVector<Message> numbered(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) numbered[numbers[i]] = messages[i];
  messages = std::move(numbered);
  for (auto* const passages : {&outgoing_, &incoming_}) {
    for (Passage& each : *passages) each.message = numbers[each.message];
  }
  number_folds_by_round(numbers);
}

void Workload::number_folds_by_round(std::span<const std::uint32_t> new_messages) {
  const std::vector<std::uint32_t> numbers = numbers_by_round(folds);
  LargeVector<Fold> numbered(folds.size());
  for (std::size_t i = 0; i < folds.size(); ++i) numbered[numbers[i]] = folds[i];
  folds = std::move(numbered);
  LargeVector<Item> moved;
  moved.reserve(waiters_.size());
  for (Fold& fold : folds) {
    const auto old = waiters(fold);
    fold.first_waiter = count(moved);
    for (const Item item : old) {
      moved.push_back(item.is_fold() ? Item::fold(numbers[item.id()])
                                     : Item::message(new_messages[item.id()]));
    }
  }
  waiters_ = std::move(moved);
  for (Message& message : messages) message.fold = numbers[message.fold];
}

void Workload::list_outgoing() {
  outgoing_.resize(messages.size());
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    outgoing_[i] = {.message = i, .last_in_round = 0};
  }
  for (std::uint32_t r = 0; r < ranks(); ++r) {
    mark_last({outgoing_.data() + first_outgoing_[r], first_outgoing_[r + 1] - first_outgoing_[r]});
  }
}

void Workload::mark_last(std::span<Passage> passages) const {
  for (std::size_t i = 0; i < passages.size(); ++i) {
    const bool last = i + 1 == passages.size() || messages[passages[i].message].round !=
                                                      messages[passages[i + 1].message].round;
    passages[i].last_in_round = last ? 1 : 0;
  }
}

/// Finds the fold of each message. Those to a rank are put together first; as they still stand
/// sender by sender, they then do so too.
void Workload::meet(const std::string& name) {
  std::vector<std::size_t> begin(ranks() + 1, 0);
  for (const Message& message : messages) {
    if (message.to >= ranks()) reject(name);
    ++begin[message.to + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> inbox(messages.size());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  incoming_.resize(ends_.size());
  for (std::uint32_t id = 0; id < messages.size(); ++id) inbox[next[messages[id].to]++] = id;
  for (std::uint32_t r = 0; r < ranks(); ++r) {
    meet_at(
        r, {inbox.data() + begin[r], begin[r + 1] - begin[r]},
        [&](std::uint32_t id) { return messages[id].from; }, name);
  }
  ends_ = {};
}

/// The k-th message from a sender meets the k-th receive from it.
template <class SenderOf>
void Workload::meet_at(std::uint32_t rank, std::span<const std::uint32_t> inbox,
                       const SenderOf& sender_of, const std::string& name) {
  const std::size_t first = first_incoming_[rank];
  const std::size_t size = first_incoming_[rank + 1] - first;
  if (inbox.size() != size) reject(name);
  const auto before = [&](std::size_t a, std::size_t b) {
    return ends_[a].sender < ends_[b].sender;
  };
  order_.resize(size);
  std::iota(order_.begin(), order_.end(), first);
  if (!std::is_sorted(order_.begin(), order_.end(), before)) {
    std::stable_sort(order_.begin(), order_.end(), before);
  }
  for (std::size_t i = 0; i < size; ++i) {
    const End& end = ends_[order_[i]];
    if (end.sender != sender_of(inbox[i])) reject(name);
    messages[inbox[i]].fold = end.fold;
    incoming_[order_[i]].message = inbox[i];
  }
  mark_last({incoming_.data() + first, size});
}

}  // namespace tutti
