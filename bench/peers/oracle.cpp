#include "peers/oracle.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "peers/inputs.hpp"

namespace peers {
namespace {

constexpr std::byte unwritten{0xa5};
constexpr std::size_t margin = 64;

/// One rank's memory for a case, with a guard area that must not be written.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes), memory_(bytes + margin, unwritten) {}

  [[nodiscard]] std::byte* data() { return memory_.data(); }
  [[nodiscard]] std::span<const std::byte> used() const { return std::span(memory_).first(bytes_); }
  [[nodiscard]] bool margin_intact() const {
    return std::all_of(memory_.begin() + static_cast<std::ptrdiff_t>(bytes_), memory_.end(),
                       [](std::byte b) { return b == unwritten; });
  }

 private:
  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

struct Outcome {
  std::uint64_t digested{};
  bool trespassed{};
};

Outcome run(Peer& peer, const Case& c) {
  const std::size_t each = size_of(c.dtype);
  const std::size_t in = input_elements(c, peer.ranks(), peer.rank()) * each;
  const std::size_t out = output_elements(c, peer.ranks(), peer.rank()) * each;
  Memory input(in);
  Memory output(out);
  fill(c, peer.ranks(), peer.rank(), input.data());
  const std::uint64_t brought = digest(input.used());
  peer.prepare({.what = c, .input = input.data(), .output = output.data()})();
  return {.digested = digest(output.used()),
          .trespassed =
              !output.margin_intact() || !input.margin_intact() || digest(input.used()) != brought};
}

std::string part_of(const std::string& path, int rank) { return path + "." + std::to_string(rank); }

/// Merges the ranks' files, line by line, case by case.
void merge(const std::string& path, const Peer& peer) {
  std::vector<std::ifstream> parts;
  parts.reserve(static_cast<std::size_t>(peer.ranks()));
  for (int rank = 0; rank < peer.ranks(); ++rank) parts.emplace_back(part_of(path, rank));
  std::ofstream whole(path);
  for_each_case(peer.ranks(), [&](const Case& c) {
    if (!peer.supports(c, false)) return;
    for (int rank = 0; rank < peer.ranks(); ++rank) {
      std::string text;
      if (has_output(c, rank) && std::getline(parts[static_cast<std::size_t>(rank)], text)) {
        whole << text << '\n';
      }
    }
  });
  if (!whole.flush()) throw std::runtime_error("oracle: cannot write " + path);
  for (int rank = 0; rank < peer.ranks(); ++rank) std::remove(part_of(path, rank).c_str());
}

}  // namespace

std::size_t write_oracle(Peer& peer, const std::string& path) {
  std::ofstream part(part_of(path, peer.rank()));
  std::size_t trespasses = 0;
  for_each_case(peer.ranks(), [&](const Case& c) {
    if (!peer.supports(c, false)) return;
    const Outcome outcome = run(peer, c);
    if (outcome.trespassed) {
      std::fprintf(stderr, "rank %d: %s: wrote outside of its output\n", peer.rank(),
                   line(c).c_str());
      ++trespasses;
    }
    if (has_output(c, peer.rank())) part << line(c, peer.rank(), outcome.digested) << '\n';
  });
  part.close();
  if (!part) throw std::runtime_error("oracle: cannot write " + part_of(path, peer.rank()));
  peer.barrier();
  if (peer.rank() == 0) merge(path, peer);
  return trespasses;
}

}  // namespace peers
