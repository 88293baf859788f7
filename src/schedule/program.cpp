#include <algorithm>

#include <tutti/program.hpp>

namespace tutti {

bool operator==(const Step& a, const Step& b) {
  return a.kind == b.kind && a.round == b.round && a.own == b.own &&
         std::equal(a.peers.begin(), a.peers.end(), b.peers.begin(), b.peers.end()) &&
         std::equal(a.chunks.begin(), a.chunks.end(), b.chunks.begin(), b.chunks.end());
}

void Program::send(std::uint32_t round, Rank peer, std::span<const ChunkRange> chunks) {
  append({.kind = Step::Kind::send, .round = round, .peers = {&peer, 1}, .chunks = chunks});
}

void Program::send(std::uint32_t round, std::span<const Rank> peers,
                   std::span<const ChunkRange> chunks) {
  append({.kind = Step::Kind::send, .round = round, .peers = peers, .chunks = chunks});
}

void Program::send(std::uint32_t round, Rank peer, ChunkRange chunks) {
  send(round, peer, {&chunks, 1});
}

void Program::receive(std::uint32_t round, Rank peer, std::span<const ChunkRange> chunks) {
  append({.kind = Step::Kind::receive, .round = round, .peers = {&peer, 1}, .chunks = chunks});
}

void Program::receive(std::uint32_t round, Rank peer, ChunkRange chunks) {
  receive(round, peer, {&chunks, 1});
}

void Program::receive_reduce(std::uint32_t round, std::span<const Rank> peers, std::uint32_t own,
                             std::span<const ChunkRange> chunks) {
  append(
      {.kind = Step::Kind::receive, .round = round, .peers = peers, .own = own, .chunks = chunks});
}

void Program::append(const Step& step) {
  // Nearly every step has one of each, and schedules have millions of steps.
  if (step.peers.size() == 1) {
    peers_.push_back(step.peers.front());
  } else {
    peers_.insert(peers_.end(), step.peers.begin(), step.peers.end());
  }
  if (step.chunks.size() == 1) {
    chunks_.push_back(step.chunks.front());
  } else {
    chunks_.insert(chunks_.end(), step.chunks.begin(), step.chunks.end());
  }
  lines_.push_back({.round = step.round,
                    .peers_end = static_cast<std::uint32_t>(peers_.size()),
                    .chunks_end = static_cast<std::uint32_t>(chunks_.size()),
                    .kind = step.kind,
                    .has_own = step.own.has_value(),
                    .own = step.own.value_or(0)});
}

void Program::append(const Program& other, std::uint32_t later) {
  const auto peers = static_cast<std::uint32_t>(peers_.size());
  const auto chunks = static_cast<std::uint32_t>(chunks_.size());
  peers_.insert(peers_.end(), other.peers_.begin(), other.peers_.end());
  chunks_.insert(chunks_.end(), other.chunks_.begin(), other.chunks_.end());
  lines_.reserve(lines_.size() + other.lines_.size());
  for (Line line : other.lines_) {
    line.round += later;
    line.peers_end += peers;
    line.chunks_end += chunks;
    lines_.push_back(line);
  }
  rounds_ = std::max(rounds_, other.rounds_ + later);
}

void Program::reserve(std::size_t steps) {
  lines_.reserve(steps);
  peers_.reserve(steps);
  chunks_.reserve(steps);
}

}  // namespace tutti
