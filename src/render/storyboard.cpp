#include "render/storyboard.hpp"

#include <algorithm>
#include <bit>

#include <tutti/error.hpp>
#include <tutti/schedule/trace.hpp>

namespace tutti::render {

void require_drawable(const std::string& name, const Contract& contract) {
  if (contract.ranks > most_drawn_ranks) {
    throw Error(ErrorCode::unsupported, "'" + name + "' on " + std::to_string(contract.ranks) +
                                            " ranks is too large to draw; use -p " +
                                            std::to_string(most_drawn_ranks) + " or fewer");
  }
  // In alltoall a rank has p of the p² blocks and is drawn as a square of all of them.
  const bool pairs = contract.collective == Collective::alltoall;
  const std::uint64_t most =
      pairs ? std::uint64_t{contract.ranks} * contract.ranks : most_drawn_chunks;
  if (contract.chunks > most) {
    throw Error(ErrorCode::unsupported,
                "'" + name + "' has " + std::to_string(contract.chunks) + " chunks, but at most " +
                    std::to_string(most) +
                    " can be drawn; use fewer ranks, or fewer chunks per rank");
  }
}

namespace {

/// The ranks whose contributions a symbol contains, as bits.
std::uint32_t ranks_in(const Symbols& symbols, Symbol held) {
  // In a barrier the signal of a rank may arrive more than once, so there can be more leaves than
  // ranks.
  constexpr std::uint64_t most_leaves = 1U << 12;
  std::uint32_t found = 0;
  for (const Symbol leaf : symbols.leaves(held, most_leaves)) {
    found |= 1U << symbols.rank(leaf);
  }
  return found;
}

bool is_complete(const Contract& contract, Rank rank, Chunk chunk, std::uint32_t held) {
  if (!contract.output(rank).contains(chunk)) return false;
  if (const auto origin = contract.origin(chunk)) return held == 1U << *origin;
  return static_cast<std::uint32_t>(std::popcount(held)) == contract.ranks;
}

std::vector<std::vector<Holding>> look(const Contract& contract, const Trace& trace) {
  std::vector<std::vector<Holding>> seen(contract.ranks);
  for (std::uint32_t r = 0; r < contract.ranks; ++r) {
    for (std::uint64_t c = 0; c < contract.chunks; ++c) {
      const Symbol held = trace.held(r, Chunk{c});
      const std::uint32_t ranks = held == Symbols::nothing ? 0 : ranks_in(trace.symbols(), held);
      seen[r].push_back({.ranks = ranks, .complete = is_complete(contract, r, Chunk{c}, ranks)});
    }
  }
  return seen;
}

void mark_fresh(const std::vector<std::vector<Holding>>& before,
                std::vector<std::vector<Holding>>& now) {
  for (std::size_t r = 0; r < now.size(); ++r) {
    for (std::size_t c = 0; c < now[r].size(); ++c) {
      now[r][c].fresh = now[r][c].ranks & ~before[r][c].ranks;
    }
  }
}

std::vector<std::vector<Message>> collect_messages(const Schedule& schedule) {
  std::vector<std::vector<Message>> rounds(schedule.rounds());
  for (std::uint32_t r = 0; r < schedule.contract.ranks; ++r) {
    for (const Step step : schedule.program(r)) {
      if (step.kind != Step::Kind::receive) continue;
      for (const Rank peer : step.peers) {
        rounds[step.round].push_back({.from = peer,
                                      .to = r,
                                      .chunks = {step.chunks.begin(), step.chunks.end()},
                                      .adds = step.operands() > 1});
      }
    }
  }
  for (std::vector<Message>& round : rounds) {
    std::stable_sort(round.begin(), round.end(),
                     [](const Message& a, const Message& b) { return a.from < b.from; });
  }
  return rounds;
}

}  // namespace

bool Storyboard::ever_held(Rank rank, Chunk chunk) const {
  return std::any_of(holdings.begin(), holdings.end(),
                     [&](const auto& frame) { return frame[rank][chunk.index()].ranks != 0; });
}

Storyboard storyboard(const Schedule& schedule) {
  require_drawable(schedule.name, schedule.contract);
  Trace trace(schedule);
  const Contract& contract = schedule.contract;
  Storyboard board{.contract = contract,
                   .holdings = {look(contract, trace)},
                   .messages = collect_messages(schedule)};
  while (trace.round() < schedule.rounds()) {
    trace.advance();
    board.holdings.push_back(look(contract, trace));
    mark_fresh(board.holdings[board.holdings.size() - 2], board.holdings.back());
  }
  return board;
}

std::string letter(Rank rank) {
  std::string text(1, static_cast<char>('a' + rank));
  return text;
}

std::string in_words(const std::vector<ChunkRange>& chunks) {
  std::uint64_t count = 0;
  std::string list;
  for (const ChunkRange& range : chunks) {
    count += range.count;
    list += (list.empty() ? "" : ", ") + std::to_string(range.first.index());
    if (range.count > 1) list += "–" + std::to_string(range.end().index() - 1);
  }
  return (count == 1 ? "chunk " : "chunks ") + list;
}

}  // namespace tutti::render
