#include "peers/verification.hpp"

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "cli/measure/result_check.hpp"

namespace peers {
namespace {

using tutti::measure::ResultCheck;

tutti::Collective collective_of(Collective collective) {
  std::string text(name(collective));
  if (text.ends_with("v")) text.pop_back();
  return tutti::parse_collective(text);
}

ResultCheck check_of(const Case& c, const Peer& peer, std::uint64_t seed) {
  const auto elements = [c](std::uint32_t from, std::uint32_t to) {
    return block(c, static_cast<int>(from), static_cast<int>(to));
  };
  return {{.collective = collective_of(c.collective),
           .dtype = tutti::parse_dtype(name(c.dtype)),
           .op = c.op == Op::none ? tutti::Op::sum : tutti::parse_op(name(c.op)),
           .root = static_cast<std::uint32_t>(std::max(c.root, 0)),
           .block = elements},
          static_cast<std::uint32_t>(peer.rank()),
          static_cast<std::uint32_t>(peer.ranks()),
          seed};
}

/// The sum over all ranks.
std::size_t total(Peer& peer, std::size_t own) {
  // Each rank contributes its own number; the others are 0.
  std::vector<double> numbers(static_cast<std::size_t>(peer.ranks()));
  numbers[static_cast<std::size_t>(peer.rank())] = static_cast<double>(own);
  peer.maximum(numbers);
  double sum = 0;
  for (const double each : numbers) sum += each;
  return static_cast<std::size_t>(sum);
}

/// One rank's memory for a case, with a guard area that must not be written.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes), memory_(bytes + margin, unwritten) {}

  [[nodiscard]] std::byte* data() { return memory_.data(); }
  [[nodiscard]] std::vector<std::byte> used() const {
    return {memory_.begin(), memory_.begin() + static_cast<std::ptrdiff_t>(bytes_)};
  }
  [[nodiscard]] bool margin_intact() const {
    return std::all_of(memory_.begin() + static_cast<std::ptrdiff_t>(bytes_), memory_.end(),
                       [](std::byte b) { return b == unwritten; });
  }

 private:
  static constexpr std::byte unwritten{0x5a};
  static constexpr std::size_t margin = 64;

  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

/// What is wrong with the case on this rank; empty if nothing.
std::string fault(Peer& peer, const Case& c, std::uint64_t seed) {
  const ResultCheck check = check_of(c, peer, seed);
  const std::size_t each = size_of(c.dtype);
  Memory input(input_elements(c, peer.ranks(), peer.rank()) * each);
  Memory output(output_elements(c, peer.ranks(), peer.rank()) * each);
  check.prepare(input.data(), output.data());
  const std::vector<std::byte> brought = input.used();
  peer.prepare({.what = c, .input = input.data(), .output = output.data()})();
  if (!output.margin_intact() || !input.margin_intact() || input.used() != brought) {
    return "wrote outside of its output";
  }
  const std::uint64_t wrong = check.count_wrong(output.data());
  return wrong == 0 ? "" : std::to_string(wrong) + " wrong elements";
}

}  // namespace

std::optional<std::size_t> count_wrong(Peer& peer, const Call& call, std::uint64_t seed) {
  const Case& c = call.what;
  const bool whole = c.collective == Collective::broadcast || c.collective == Collective::reduce ||
                     c.collective == Collective::allreduce;
  if (call.in_place() && !whole) return std::nullopt;
  const ResultCheck check = check_of(c, peer, seed);
  check.prepare(call.input, call.output);
  peer.prepare(call)();
  return total(peer, check.count_wrong(call.output));
}

std::size_t check_cases(Peer& peer) {
  std::size_t cases = 0;
  std::size_t faults = 0;
  for_each_case(peer.ranks(), [&](const Case& c) {
    if (!peer.supports(c, false)) return;
    const std::string found = fault(peer, c, ++cases);
    if (found.empty()) return;
    ++faults;
    std::fprintf(stderr, "rank %d: %s: %s\n", peer.rank(), line(c).c_str(), found.c_str());
  });
  faults = total(peer, faults);
  if (peer.rank() == 0) {
    std::printf("%s: %zu cases, %zu faults\n", peer.library().c_str(), cases, faults);
  }
  return faults;
}

}  // namespace peers
