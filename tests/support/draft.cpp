#include "support/draft.hpp"

namespace tutti::test {
namespace {

DraftStep step(Step::Kind kind, std::uint32_t round, const std::vector<std::uint32_t>& peers,
               const std::vector<std::uint64_t>& chunks) {
  DraftStep made{.kind = kind, .round = round, .peers = {}, .own = {}, .chunks = {}};
  for (const std::uint32_t peer : peers) made.peers.emplace_back(peer);
  for (const std::uint64_t chunk : chunks) made.chunks.emplace_back(Chunk{chunk});
  return made;
}

}  // namespace

Draft draft(const Schedule& schedule) {
  Draft made{.name = schedule.name,
             .contract = schedule.contract,
             .rounds = schedule.rounds(),
             .programs = {}};
  for (const Program& program : schedule.programs) {
    std::vector<DraftStep>& steps = made.programs.emplace_back();
    for (const Step each : program) {
      steps.push_back({.kind = each.kind,
                       .round = each.round,
                       .peers = {each.peers.begin(), each.peers.end()},
                       .own = each.own,
                       .chunks = {each.chunks.begin(), each.chunks.end()},
                       .variant = each.variant,
                       .own_variant = each.own_variant,
                       .sources = {each.sources.begin(), each.sources.end()}});
    }
  }
  return made;
}

Program program(const std::vector<DraftStep>& steps, std::uint32_t rounds) {
  Program made(rounds);
  for (const DraftStep& each : steps) {
    made.append({.kind = each.kind,
                 .variant = each.variant,
                 .round = each.round,
                 .peers = each.peers,
                 .own = each.own,
                 .own_variant = each.own_variant,
                 .chunks = each.chunks,
                 .sources = each.sources});
  }
  return made;
}

Schedule schedule(const Draft& draft) {
  Schedule made{.name = draft.name, .contract = draft.contract, .programs = {}};
  for (const std::vector<DraftStep>& steps : draft.programs) {
    made.programs.push_back(program(steps, draft.rounds));
  }
  return made;
}

DraftStep send(std::uint32_t round, const std::vector<std::uint32_t>& to,
               const std::vector<std::uint64_t>& chunks) {
  return step(Step::Kind::send, round, to, chunks);
}

DraftStep receive(std::uint32_t round, const std::vector<std::uint32_t>& from,
                  const std::vector<std::uint64_t>& chunks) {
  return step(Step::Kind::receive, round, from, chunks);
}

DraftStep fold(std::uint32_t round, const std::vector<std::uint32_t>& from, std::uint32_t own,
               const std::vector<std::uint64_t>& chunks) {
  DraftStep made = step(Step::Kind::receive, round, from, chunks);
  made.own = own;
  return made;
}

DraftStep local(std::uint32_t round, const std::vector<std::uint16_t>& sources, std::uint16_t to,
                const std::vector<std::uint64_t>& chunks) {
  DraftStep made = step(Step::Kind::local, round, {}, chunks).as(to);
  for (const std::uint16_t source : sources) made.sources.emplace_back(source);
  return made;
}

DraftStep DraftStep::as(std::uint16_t made) const {
  DraftStep other = *this;
  other.variant = Variant{made};
  return other;
}

DraftStep DraftStep::with(std::uint16_t own_is) const {
  DraftStep other = *this;
  other.own_variant = Variant{own_is};
  return other;
}

}  // namespace tutti::test
