#include "flight/blame.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <set>

#include "core/quantity.hpp"
#include "flight/stragglers.hpp"

namespace tutti {
namespace {

using State = FlightRecord::State;

std::vector<std::uint32_t> ranks_of(const std::vector<const Witness*>& witnesses) {
  std::vector<std::uint32_t> ranks;
  ranks.reserve(witnesses.size());
  for (const Witness* witness : witnesses) ranks.push_back(witness->rank());
  return ranks;
}

std::string rank_words(const std::vector<const Witness*>& witnesses) {
  return rank_list(ranks_of(witnesses));
}

std::vector<const Witness*> select(const Blame& blame,
                                   const std::function<bool(const Witness&)>& is_one) {
  std::vector<const Witness*> selected;
  for (const Witness& witness : blame.witnesses) {
    if (is_one(witness)) selected.push_back(&witness);
  }
  return selected;
}

bool is_in(const Witness& witness, std::uint64_t number) {
  return witness.last()->number == number && collective_of(witness.last()->call.kind) &&
         witness.last()->state != State::done;
}

/// The rank whose call failed first, by the wall clock; null if none failed.
const Witness* first_failed(const Blame& blame) {
  const Witness* first = nullptr;
  for (const Witness& witness : blame.witnesses) {
    if (witness.last() == nullptr || witness.last()->state != State::failed) continue;
    if (first == nullptr || witness.ended(*witness.last()) < first->ended(*first->last())) {
      first = &witness;
    }
  }
  return first;
}

/// " Rank 1 failed first, after 60s: …", or nothing.
std::string failure_words(const Blame& blame) {
  const Witness* const first = first_failed(blame);
  if (first == nullptr) return "";
  std::string text = " Rank " + std::to_string(first->rank()) + " failed first, after " +
                     format_seconds(first->seconds_in(*first->last()));
  const std::string& failure = first->dump().failure;
  return text + (failure.empty() ? "." : ": \"" + failure + "\".");
}

/// What a rank does at the time of its dump: "is still in call 17, barrier, after 5.2s".
std::string doing(const Witness& witness) {
  const FlightRecord* const last = witness.last();
  if (last == nullptr) return "has made no call yet";
  const std::string since = format_seconds(witness.seconds_since(*last));
  switch (last->state) {
    case State::running:
      return "is still in " + words(*last) + ", after " + since;
    case State::failed:
      return "failed in " + words(*last);
    case State::done:
      return "finished " + words(*last) + ", " + since + " ago";
  }
  return "";
}

// Verdicts: each function looks for one kind of fault and describes it --------------------------

/// The ranks that made a call, by its signature.
using Camps = std::map<std::uint32_t, std::vector<const Witness*>>;

Camps camps_in(const Blame& blame, std::uint64_t number) {
  Camps camps;
  for (const Witness& witness : blame.witnesses) {
    if (const FlightRecord* record = witness.find(number)) {
      camps[record->call.signature].push_back(&witness);
    }
  }
  return camps;
}

/// True if call `mine` of `one` has the same signature as call `theirs` of `other`.
bool is_same(const Witness& one, std::uint64_t mine, const Witness& other, std::uint64_t theirs) {
  const FlightRecord* const a = one.find(mine);
  const FlightRecord* const b = other.find(theirs);
  return a != nullptr && b != nullptr && a->call.signature == b->call.signature;
}

std::string slip_words(const Witness& few, const Witness& many, std::uint64_t number) {
  if (is_same(few, number, many, number + 1)) return ", as if a call had been skipped";
  if (is_same(few, number + 1, many, number)) return ", as if there had been one call too many";
  return "";
}

/// The smallest group first; among equal sizes, the group with the lowest rank last.
std::vector<std::vector<const Witness*>> in_order(const Camps& camps) {
  std::vector<std::vector<const Witness*>> groups;
  for (const auto& [signature, witnesses] : camps) groups.push_back(witnesses);
  std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return std::pair(a.size(), b.front()->rank()) < std::pair(b.size(), a.front()->rank());
  });
  return groups;
}

void say_mismatch(Blame& blame, std::uint64_t number, const Camps& camps) {
  const auto groups = in_order(camps);
  const auto& most = groups.back();
  blame.verdict = Blame::Verdict::mismatch;
  blame.call = number;
  blame.text = "The ranks make different calls. In call " + std::to_string(number) + " ";
  for (const auto& group : groups) {
    const bool is_last = &group == &most;
    blame.text += (is_last ? "but " : "") + rank_words(group) +
                  (group.size() == 1 ? " calls " : " call ") +
                  call_words(*group.front()->find(number));
    if (is_last) break;
    blame.text += slip_words(*group.front(), *most.front(), number) + ", ";
    // If two groups have the same size, either may be right.
    if (group.size() == most.size()) continue;
    for (const Witness* witness : group) blame.accused.push_back(witness->rank());
  }
  std::sort(blame.accused.begin(), blame.accused.end());
  blame.text += ". Make the same calls in the same order on every rank.";
}

bool find_mismatch(Blame& blame) {
  std::set<std::uint64_t> numbers;
  for (const Witness& witness : blame.witnesses) {
    for (const auto& [number, record] : witness.collectives()) numbers.insert(number);
  }
  for (const std::uint64_t number : numbers) {
    const Camps camps = camps_in(blame, number);
    if (camps.size() < 2) continue;
    say_mismatch(blame, number, camps);
    return true;
  }
  return false;
}

bool find_hit(Blame& blame) {
  const auto hit = select(blame, [](const Witness& witness) { return witness.was_hit(); });
  if (hit.empty()) return false;
  blame.verdict = Blame::Verdict::hit;
  blame.accused = ranks_of(hit);
  for (const Witness* witness : hit) {
    if (!blame.text.empty()) blame.text += " ";
    const FlightRecord* const last = witness->last();
    if (last != nullptr && !blame.call) blame.call = last->number;
    const bool within = last != nullptr && last->state != State::done;
    blame.text +=
        "Rank " + std::to_string(witness->rank()) + " (host " + witness->dump().host + ", pid " +
        std::to_string(witness->dump().pid) + ") received " + witness->dump().reason +
        (last == nullptr ? " before any call" : (within ? " in " : " after ") + words(*last)) + ".";
  }
  blame.text += failure_words(blame);
  return true;
}

/// The latest call in which a rank waits.
std::optional<std::uint64_t> waited_in(const Blame& blame) {
  std::optional<std::uint64_t> number;
  for (const Witness& witness : blame.witnesses) {
    if (witness.is_waiting()) number = std::max(number.value_or(0), witness.last()->number);
  }
  return number;
}

/// "ranks 0 and 1 have waited 5.2s in call 17, barrier", without the ranks at fault.
std::string waiting_words(const Blame& blame, std::uint64_t number) {
  const auto waiting = select(blame, [&](const Witness& witness) {
    return witness.is_waiting() && witness.last()->number == number &&
           !std::binary_search(blame.accused.begin(), blame.accused.end(), witness.rank());
  });
  double longest = 0;
  for (const Witness* witness : waiting) {
    longest = std::max(longest, witness->seconds_in(*witness->last()));
  }
  return rank_words(waiting) + (waiting.size() == 1 ? " has waited " : " have waited ") +
         format_seconds(longest) + " in " + words(*waiting.front()->last());
}

bool find_missing(Blame& blame) {
  std::vector<bool> is_here(blame.ranks);
  for (const Witness& witness : blame.witnesses) is_here[witness.rank()] = true;
  for (std::uint32_t rank = 0; rank < blame.ranks; ++rank) {
    if (!is_here[rank]) blame.accused.push_back(rank);
  }
  if (blame.accused.empty()) return false;
  const bool one = blame.accused.size() == 1;
  blame.verdict = Blame::Verdict::missing;
  blame.call = waited_in(blame);
  blame.text = "There is no dump of " + rank_list(blame.accused) + ": " +
               (one ? "it ended or was killed without one, or does"
                    : "they ended or were killed without one, or do") +
               " not respond to signals, or " + (one ? "its file is" : "their files are") +
               " elsewhere.";
  if (blame.call) {
    blame.text += " Of the others, " + waiting_words(blame, *blame.call) + ".";
  }
  blame.text += failure_words(blame);
  return true;
}

/// True if the rank began the call after it had failed on another rank, or never.
bool began_too_late(const Witness& witness, std::uint64_t number, const Witness* gave_up) {
  const FlightRecord* const last = witness.last();
  if (last == nullptr || last->number < number) return true;
  // The last record may be a message after that call.
  if (!witness.is_waiting() || gave_up == nullptr || gave_up->last()->number != number)
    return false;
  return is_in(witness, number) && witness.begun(*last) > gave_up->ended(*gave_up->last());
}

bool find_behind(Blame& blame) {
  const std::optional<std::uint64_t> number = waited_in(blame);
  if (!number) return false;
  const Witness* const gave_up = first_failed(blame);
  const auto behind = select(
      blame, [&](const Witness& witness) { return began_too_late(witness, *number, gave_up); });
  if (behind.empty() || behind.size() == blame.witnesses.size()) return false;
  blame.verdict = Blame::Verdict::behind;
  blame.accused = ranks_of(behind);
  blame.call = number;
  for (const Witness* witness : behind) {
    blame.text += blame.text.empty() ? "Rank " : "; rank ";
    blame.text += std::to_string(witness->rank()) + " ";
    const FlightRecord* const last = witness->last();
    const bool began = last != nullptr && last->number == *number;
    blame.text +=
        !began ? doing(*witness)
               : "began " + words(*last) + ", " +
                     format_seconds(witness->begun(*last) - gave_up->ended(*gave_up->last())) +
                     " after it had failed on rank " + std::to_string(gave_up->rank());
  }
  blame.text += ". Meanwhile " + waiting_words(blame, *number) + "." + failure_words(blame);
  return true;
}

bool find_stuck(Blame& blame) {
  const std::optional<std::uint64_t> number = waited_in(blame);
  if (!number) return false;
  blame.verdict = Blame::Verdict::stuck;
  blame.call = number;
  const std::string waiting = waiting_words(blame, *number);
  blame.text = "No rank is behind, but " + waiting + ".";
  std::vector<bool> is_waited_for(blame.ranks);
  for (const Witness& witness : blame.witnesses) {
    if (!witness.is_waiting() || !witness.last()->wait) continue;
    const FlightRecord::Wait& wait = *witness.last()->wait;
    blame.text += " Rank " + std::to_string(witness.rank()) + " waits for rank " +
                  std::to_string(wait.rank) + " in round " + std::to_string(wait.round) +
                  ", with " + in_plural(wait.bytes_done, "byte") + " done.";
    if (wait.rank < blame.ranks) is_waited_for[wait.rank] = true;
  }
  const auto suspects = select(blame, [&](const Witness& witness) {
    return is_waited_for[witness.rank()] && (!witness.is_waiting() || !witness.last()->wait);
  });
  blame.accused = ranks_of(suspects);
  if (!suspects.empty()) {
    const bool one = suspects.size() == 1;
    const std::string ranks = rank_words(suspects);
    blame.text +=
        " Look at " + ranks + " first: " + (one ? "it waits" : "they wait") + " for no other rank.";
  }
  blame.text += failure_words(blame);
  return true;
}

bool find_slow(Blame& blame) {
  const std::optional<Straggler> slow = find_straggler(blame.witnesses);
  if (!slow) return false;
  std::array<char, 16> percent{};
  std::snprintf(percent.data(), percent.size(), "%.0f %%", 100 * slow->share);
  blame.verdict = Blame::Verdict::slow;
  blame.accused = {slow->rank};
  blame.text = "Nothing hangs, but rank " + std::to_string(slow->rank) +
               " is slow: it was the last to begin " + std::to_string(slow->last_in) + " of " +
               in_plural(slow->calls, "call") + ", by a median of " + format_seconds(slow->late) +
               ", which is " + percent.data() + " of the time between calls.";
  if (slow->by_many_clocks) {
    blame.text += " These times are from the clocks of several hosts, which must agree.";
  }
  return true;
}

void say_fine(Blame& blame) {
  std::uint64_t calls = 0;
  for (const Witness& witness : blame.witnesses) {
    if (witness.last() != nullptr) calls = std::max(calls, witness.last()->number);
  }
  blame.text =
      "Nothing is wrong: " + in_plural(blame.ranks, "rank") +
      (calls == 0 ? ", no call yet." : ", last call " + std::to_string(calls) + ", no long waits.");
}

/// The latest dump of each rank, in order of ranks.
std::vector<Witness> witnesses_of(const std::vector<const FlightDump*>& dumps) {
  std::map<std::uint32_t, const FlightDump*> by_rank;
  for (const FlightDump* dump : dumps) {
    const FlightDump*& known = by_rank[dump->rank];
    if (known == nullptr || known->wall_ns < dump->wall_ns) known = dump;
  }
  std::vector<Witness> witnesses;
  witnesses.reserve(by_rank.size());
  for (const auto& [rank, dump] : by_rank) witnesses.emplace_back(*dump);
  return witnesses;
}

Blame judge(const std::vector<const FlightDump*>& dumps) {
  Blame blame{.communicator = dumps.front()->communicator,
              .name = dumps.front()->name,
              .witnesses = witnesses_of(dumps)};
  for (const FlightDump* dump : dumps) blame.ranks = std::max(blame.ranks, dump->ranks);
  // In this order, because an earlier fault explains the later ones.
  for (const auto find :
       {find_mismatch, find_hit, find_missing, find_behind, find_stuck, find_slow}) {
    if (find(blame)) return blame;
  }
  say_fine(blame);
  return blame;
}

}  // namespace

std::string_view name(Blame::Verdict verdict) {
  constexpr std::array<std::string_view, 7> names = {"fine",   "mismatch", "hit", "missing",
                                                     "behind", "stuck",    "slow"};
  return names.at(static_cast<std::size_t>(verdict));
}

std::vector<Blame> blame(std::span<const FlightDump> dumps) {
  std::map<std::uint64_t, std::vector<const FlightDump*>> by_communicator;
  for (const FlightDump& dump : dumps) by_communicator[dump.communicator].push_back(&dump);
  std::vector<Blame> verdicts;
  verdicts.reserve(by_communicator.size());
  for (const auto& [communicator, own] : by_communicator) verdicts.push_back(judge(own));
  return verdicts;
}

}  // namespace tutti
