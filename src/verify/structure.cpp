#include "verify/structure.hpp"

#include <algorithm>

namespace tutti {
namespace {

using Kind = Violation::Kind;

bool has_repeated_chunk(const Step& step) {
  if (step.chunks.size() < 2) return false;
  std::vector<ChunkRange> sorted(step.chunks.begin(), step.chunks.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const ChunkRange& a, const ChunkRange& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].first < sorted[i - 1].end()) return true;
  }
  return false;
}

/// Two messages between the same ranks are ordered, so they cannot belong to the same step.
bool has_repeated_peer(const Step& step) {
  if (step.peers.size() < 2) return false;
  std::vector<Rank> sorted(step.peers.begin(), step.peers.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

/// What is wrong with the peers of a message; empty if nothing is wrong.
std::string fault_of_peers(const Step& step, Rank self, const Contract& contract) {
  if (step.peers.empty()) return "has no peer";
  for (const Rank peer : step.peers) {
    if (peer >= contract.ranks) {
      return "peer " + std::to_string(peer) + " is not one of the " +
             std::to_string(contract.ranks) + " ranks";
    }
    if (peer == self) return "a rank cannot be its own peer";
  }
  if (has_repeated_peer(step)) return "names a peer twice";
  if (step.kind == Step::Kind::send && step.own) return "a send cannot fold";
  if (step.own && *step.own > step.peers.size()) {
    return "places its own contribution after " + std::to_string(*step.own) + " of " +
           std::to_string(step.peers.size()) + " peers";
  }
  if (!step.own && step.own_variant != Variant{}) {
    return "names variant " + std::to_string(step.own_variant.index()) +
           " as its own operand but does not fold it";
  }
  return "";
}

std::string fault_of_sources(const Step& step) {
  if (!step.peers.empty()) return "a local step has no peers";
  if (step.sources.empty()) return "has no sources";
  if (step.sources.size() == 1 && step.sources.front() == step.variant) {
    return "copies variant " + std::to_string(step.variant.index()) + " onto itself";
  }
  return "";
}

std::string fault_of_chunks(const Step& step, const Contract& contract) {
  if (step.chunks.empty()) return "has no chunks";
  for (const ChunkRange& range : step.chunks) {
    if (range.count == 0) return "has an empty range of chunks";
    if (range.first.index() >= contract.chunks ||
        range.count > contract.chunks - range.first.index()) {
      return "chunk " + std::to_string(range.first.index() + range.count - 1) +
             " is not one of the " + std::to_string(contract.chunks) + " chunks";
    }
  }
  return has_repeated_chunk(step) ? "names a chunk twice" : "";
}

/// The relevant part of the previous step.
struct Before {
  std::uint32_t round = 0;
  bool is_local = false;
};

/// What is wrong with a step on its own; empty if nothing is wrong.
std::string fault(const Step& step, Rank self, const Contract& contract, std::uint32_t rounds,
                  const Before& before) {
  if (step.round < before.round) {
    return "comes after a step of round " + std::to_string(before.round);
  }
  if (step.round >= rounds) {
    return "the schedule has only " + std::to_string(rounds) + " rounds";
  }
  const bool is_local = step.kind == Step::Kind::local;
  if (!is_local && before.is_local && step.round == before.round) {
    return "comes after a local step of its round, but messages must come first";
  }
  std::string wrong = is_local ? fault_of_sources(step) : fault_of_peers(step, self, contract);
  if (wrong.empty() && step.makes() && step.operands() > 1 && !is_reduction(contract.collective)) {
    wrong = "folds, but " + std::string(name(contract.collective)) + " is not a reduction";
  }
  return wrong.empty() ? fault_of_chunks(step, contract) : wrong;
}

/// Calls f(receiver, step of the receiver, index of its peer, sender's step) for each matched pair.
template <class F>
void for_each_message(const Schedule& schedule, const Messages& messages, F f) {
  for (std::uint32_t r = 0; r < schedule.programs.size(); ++r) {
    const Rank self{r};
    const Program& program = schedule.program(self);
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Step step = program[i];
      if (step.kind != Step::Kind::receive) continue;
      const auto senders = messages.counterparts(self, i);
      for (std::size_t k = 0; k < senders.size(); ++k) {
        if (senders[k] != Messages::none) f(self, i, step, step.peers[k], senders[k]);
      }
    }
  }
}

/// True if two lists of ranges name the same chunks in the same order.
bool same_chunks(std::span<const ChunkRange> a, std::span<const ChunkRange> b) {
  std::size_t j = 0;
  std::uint64_t used = 0;  // Chunks of b[j] that have been compared.
  for (const ChunkRange& range : a) {
    for (std::uint64_t done = 0; done < range.count;) {
      if (j == b.size()) return false;
      if (range.first.index() + done != b[j].first.index() + used) return false;
      const std::uint64_t both = std::min(range.count - done, b[j].count - used);
      done += both;
      used += both;
      if (used == b[j].count) {
        ++j;
        used = 0;
      }
    }
  }
  return j == b.size();
}

std::string in_words(std::span<const ChunkRange> chunks) {
  std::string text;
  for (const ChunkRange& range : chunks) {
    if (!text.empty()) text += ", ";
    text += std::to_string(range.first.index());
    if (range.count > 1) text += "-" + std::to_string(range.end().index() - 1);
  }
  return text;
}

}  // namespace

void check_form(const Schedule& schedule, Findings& findings) {
  if (schedule.programs.size() != schedule.contract.ranks) {
    findings.add(Kind::malformed, {},
                 "there are " + std::to_string(schedule.programs.size()) + " programs for " +
                     std::to_string(schedule.contract.ranks) + " ranks");
    return;
  }
  const std::uint32_t rounds = schedule.rounds();
  for (std::uint32_t r = 0; r < schedule.programs.size(); ++r) {
    const Program& program = schedule.programs[r];
    Before before;
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Step step = program[i];
      const std::string wrong = fault(step, r, schedule.contract, rounds, before);
      if (!wrong.empty()) {
        findings.add(Kind::malformed, {.rank = r, .round = step.round, .step = i}, wrong);
      }
      before = {.round = std::max(before.round, step.round),
                .is_local = step.kind == Step::Kind::local};
    }
  }
}

void check_pairing(const Schedule& schedule, const Messages& messages, Findings& findings) {
  for (std::uint32_t r = 0; r < schedule.programs.size() && !messages.complete(); ++r) {
    const Program& program = schedule.programs[r];
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Step step = program[i];
      const auto met = messages.counterparts(r, i);
      for (std::size_t k = 0; k < met.size(); ++k) {
        if (met[k] != Messages::none) continue;
        const std::string peer = std::to_string(step.peers[k]);
        findings.add(Kind::unmatched, {.rank = r, .round = step.round, .step = i},
                     step.kind == Step::Kind::send ? "rank " + peer + " never receives this"
                                                   : "rank " + peer + " never sends this");
      }
    }
  }
  for_each_message(
      schedule, messages,
      [&](Rank self, std::size_t i, const Step& step, Rank peer, std::uint32_t peer_step) {
        const Step sent = schedule.program(peer)[peer_step];
        if (same_chunks(step.chunks, sent.chunks)) return;
        findings.add(Kind::chunk_mismatch, {.rank = self, .round = step.round, .step = i},
                     "rank " + std::to_string(peer) + " sends chunk " + in_words(sent.chunks) +
                         " (its step " + std::to_string(peer_step) + ") where chunk " +
                         in_words(step.chunks) + " is received");
      });
}

void check_rounds(const Schedule& schedule, const Messages& messages, Findings& findings) {
  for_each_message(
      schedule, messages,
      [&](Rank self, std::size_t i, const Step& step, Rank peer, std::uint32_t peer_step) {
        const std::uint32_t sent = schedule.program(peer)[peer_step].round;
        if (sent == step.round) return;
        findings.add(
            Kind::round_mismatch, {.rank = self, .round = step.round, .step = i},
            "rank " + std::to_string(peer) + " sends this in round " + std::to_string(sent));
      });
}

}  // namespace tutti
