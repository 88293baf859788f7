#include "render/boxes.hpp"

#include <algorithm>
#include <vector>

#include <tutti/schedule/symbols.hpp>

#include "core/columns.hpp"

namespace tutti::render {
namespace {

using Grid = std::vector<std::vector<std::string>>;  // By rank and row; empty: no box is used.

/// The row of a chunk in the column of a rank: an alltoall numbers the chunks of all ranks.
std::size_t row_of(const Contract& contract, std::size_t position, Chunk chunk) {
  return contract.collective == Collective::alltoall ? position : chunk.index();
}

std::string leaf(const Contract& contract, Rank rank, Chunk chunk) {
  const bool pairs = contract.collective == Collective::alltoall;
  return contribution_name(rank, pairs ? Chunk{chunk.index() % contract.ranks} : chunk);
}

std::string result(const Contract& contract, Chunk chunk) {
  const auto origin = contract.origin(chunk);
  return origin ? leaf(contract, *origin, chunk) : "Σ" + std::to_string(chunk.index());
}

Grid empty_grid(const Contract& contract) {
  return {contract.ranks, std::vector<std::string>(contract.ranks)};
}

/// The grid as lines with a frame. All cells have the same width.
std::vector<std::string> framed(const Grid& grid, std::size_t cell) {
  const auto rule = [&](const std::string& left, const std::string& between,
                        const std::string& right) {
    std::string line = left;
    for (std::size_t r = 0; r < grid.size(); ++r) {
      for (std::size_t i = 0; i < cell + 2; ++i) line += "─";
      line += r + 1 < grid.size() ? between : right;
    }
    return line;
  };
  std::string head;
  for (std::size_t r = 0; r < grid.size(); ++r) {
    head += pad_right("  " + std::to_string(r), cell + 3);
  }
  std::vector<std::string> lines{head + " ", rule("┌", "┬", "┐")};
  for (std::size_t row = 0; row < grid.front().size(); ++row) {
    std::string line = "│";
    for (const auto& column : grid) line += " " + pad_right(column[row], cell) + " │";
    lines.push_back(std::move(line));
  }
  lines.push_back(rule("└", "┴", "┘"));
  return lines;
}

std::size_t widest(const Grid& grid) {
  std::size_t found = 2;
  for (const auto& column : grid) {
    for (const std::string& cell : column) found = std::max(found, width(cell));
  }
  return found;
}

}  // namespace

Contract boxed_contract(Collective collective, std::uint32_t ranks, Rank root) {
  std::uint64_t chunks = ranks;
  if (collective == Collective::alltoall) chunks *= ranks;
  if (collective == Collective::barrier) chunks = 1;
  const Contract contract{.collective = collective,
                          .ranks = ranks,
                          .root = has_root(collective) ? root : Rank{0},
                          .chunks = chunks};
  contract.check();
  return contract;
}

Boxes boxes(const Contract& contract) {
  Boxes found;
  if (contract.collective == Collective::barrier) return found;
  Grid before = empty_grid(contract);
  Grid after = empty_grid(contract);
  for (std::uint32_t r = 0; r < contract.ranks; ++r) {
    const ChunkSeries input = contract.input(r);
    const ChunkSeries output = contract.output(r);
    found.read += input.count;
    found.written += output.count;
    for (std::uint64_t i = 0; i < input.count; ++i) {
      before[r][row_of(contract, i, input[i])] = leaf(contract, r, input[i]);
    }
    for (std::uint64_t i = 0; i < output.count; ++i) {
      after[r][row_of(contract, i, output[i])] = result(contract, output[i]);
    }
  }
  const std::size_t cell = std::max(widest(before), widest(after));
  const std::vector<std::string> left = framed(before, cell);
  const std::vector<std::string> right = framed(after, cell);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const bool middle = i == left.size() / 2;
    std::string line = "  " + left[i] + (middle ? "  →  " : "     ") + right[i];
    line.erase(line.find_last_not_of(' ') + 1);
    found.text += line + "\n";
  }
  return found;
}

}  // namespace tutti::render
