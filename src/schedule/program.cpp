#include <algorithm>

#include <tutti/program.hpp>

namespace tutti {

std::uint64_t Step::chunk_count() const {
  std::uint64_t count = 0;
  for (const ChunkRange& range : chunks) count += range.count;
  return count;
}

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

void Program::reserve(std::size_t steps) {
  lines_.reserve(steps);
  peers_.reserve(steps);
  chunks_.reserve(steps);
}

Step Program::operator[](std::size_t i) const {
  const Line& line = lines_[i];
  const std::size_t peers_begin = i == 0 ? 0 : lines_[i - 1].peers_end;
  const std::size_t chunks_begin = i == 0 ? 0 : lines_[i - 1].chunks_end;
  return {.kind = line.kind,
          .round = line.round,
          .peers = {peers_.data() + peers_begin, line.peers_end - peers_begin},
          .own = line.has_own ? std::optional(line.own) : std::nullopt,
          .chunks = {chunks_.data() + chunks_begin, line.chunks_end - chunks_begin}};
}

}  // namespace tutti
