#include <algorithm>
#include <limits>
#include <string>

#include <tutti/error.hpp>
#include <tutti/schedule/program.hpp>

namespace tutti {

bool operator==(const Step& a, const Step& b) {
  const auto same = [](auto one, auto other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end());
  };
  return a.kind == b.kind && a.variant == b.variant && a.round == b.round && a.own == b.own &&
         a.own_variant == b.own_variant && same(a.peers, b.peers) && same(a.chunks, b.chunks) &&
         same(a.sources, b.sources);
}

void Program::send(std::uint32_t round, Rank peer, std::span<const ChunkRange> chunks,
                   Variant variant) {
  send(round, {&peer, 1}, chunks, variant);
}

void Program::send(std::uint32_t round, std::span<const Rank> peers,
                   std::span<const ChunkRange> chunks, Variant variant) {
  append({.kind = Step::Kind::send,
          .variant = variant,
          .round = round,
          .peers = peers,
          .chunks = chunks});
}

void Program::send(std::uint32_t round, Rank peer, ChunkRange chunks, Variant variant) {
  send(round, {&peer, 1}, {&chunks, 1}, variant);
}

void Program::receive(std::uint32_t round, Rank peer, std::span<const ChunkRange> chunks,
                      Variant variant) {
  append({.kind = Step::Kind::receive,
          .variant = variant,
          .round = round,
          .peers = {&peer, 1},
          .chunks = chunks});
}

void Program::receive(std::uint32_t round, Rank peer, ChunkRange chunks, Variant variant) {
  receive(round, peer, {&chunks, 1}, variant);
}

void Program::receive_reduce(std::uint32_t round, std::span<const Rank> peers, std::uint32_t own,
                             std::span<const ChunkRange> chunks) {
  append(
      {.kind = Step::Kind::receive, .round = round, .peers = peers, .own = own, .chunks = chunks});
}

void Program::copy(std::uint32_t round, ChunkRange chunks, Variant from, Variant to) {
  reduce(round, chunks, {&from, 1}, to);
}

void Program::reduce(std::uint32_t round, ChunkRange chunks, std::span<const Variant> sources,
                     Variant to) {
  append({.kind = Step::Kind::local,
          .variant = to,
          .round = round,
          .chunks = {&chunks, 1},
          .sources = sources});
}

void Program::append(const Step& step) {
  constexpr std::size_t most_sources = std::numeric_limits<std::uint16_t>::max();
  if (step.sources.size() > most_sources) {
    throw Error(ErrorCode::invalid_argument, "a local step can have 65535 sources at most, not " +
                                                 std::to_string(step.sources.size()));
  }
  // A fast path: nearly every step has one peer and one range, and schedules have millions of
  // steps.
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
  // Written in place: a copy of fields that have just been stored would wait for the stores.
  Line& line = lines_.emplace_back();
  line.round = step.round;
  line.peers_end = static_cast<std::uint32_t>(peers_.size());
  line.chunks_end = static_cast<std::uint32_t>(chunks_.size());
  line.own = step.own.value_or(0);
  line.aside = step.own_variant.index();
  line.variant = step.variant;
  line.kind = step.kind;
  line.has_own = step.own.has_value();
  last_variant_ = std::max({last_variant_, step.variant, step.own_variant});
  if (step.kind == Step::Kind::local) {
    for (const Variant source : step.sources) last_variant_ = std::max(last_variant_, source);
    sources_.insert(sources_.end(), step.sources.begin(), step.sources.end());
    line.own = static_cast<std::uint32_t>(sources_.size());
    line.aside = static_cast<std::uint16_t>(step.sources.size());
    line.has_own = false;
  }
}

void Program::append(const Program& other, std::uint32_t later) {
  const auto peers = static_cast<std::uint32_t>(peers_.size());
  const auto chunks = static_cast<std::uint32_t>(chunks_.size());
  const auto sources = static_cast<std::uint32_t>(sources_.size());
  peers_.insert(peers_.end(), other.peers_.begin(), other.peers_.end());
  chunks_.insert(chunks_.end(), other.chunks_.begin(), other.chunks_.end());
  sources_.insert(sources_.end(), other.sources_.begin(), other.sources_.end());
  const std::size_t own = lines_.size();
  lines_.insert(lines_.end(), other.lines_.begin(), other.lines_.end());
  for (Line& line : std::span(lines_).subspan(own)) {
    line.round += later;
    line.peers_end += peers;
    line.chunks_end += chunks;
    if (line.kind == Step::Kind::local) line.own += sources;
  }
  rounds_ = std::max(rounds_, other.rounds_ + later);
  last_variant_ = std::max(last_variant_, other.last_variant_);
}

void Program::reserve(std::size_t steps) {
  lines_.reserve(steps);
  peers_.reserve(steps);
  chunks_.reserve(steps);
}

}  // namespace tutti
