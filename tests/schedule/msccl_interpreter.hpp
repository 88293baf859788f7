#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tutti/schedule/contract.hpp>

#include "schedule/msccl/algorithm_file.hpp"
#include "support/random.hpp"

/// Runs an algorithm of MSCCL as its thread blocks would, one step of a random thread block at a
/// time, on symbols. It shares no code with the import.
namespace tutti::test {

class MscclInterpreter {
 public:
  /// The chunk that a place holds, and how often each rank contributed.
  struct Held {
    std::uint64_t chunk = 0;
    std::map<std::uint32_t, std::uint32_t> counts{};
  };

  MscclInterpreter(const msccl::AlgorithmFile& file, const Contract& contract)
      : file_(file), contract_(contract) {
    for (std::uint32_t g = 0; g < contract.ranks; ++g) {
      const ChunkSeries input = contract.input(g);
      for (std::uint32_t i = 0; i < input.count; ++i) {
        places_[where(g, {'i', i})] = {.chunk = input[i].index(), .counts = {{g, 1}}};
      }
    }
  }

  /// Empty if all outputs are right.
  [[nodiscard]] std::string run(Random& random) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open;
    for (std::uint32_t g = 0; g < file_.gpus.size(); ++g) {
      for (std::uint32_t b = 0; b < file_.gpus[g].blocks.size(); ++b) open.emplace_back(g, b);
    }
    while (!open.empty()) {
      random.shuffle(open);
      bool any = false;
      for (std::size_t i = 0; i < open.size(); ++i) {
        const auto [g, b] = open[i];
        const auto& steps = file_.gpus[g].blocks[b].steps;
        if (done_[{g, b}] < steps.size() && !try_step(g, b)) continue;
        any = true;
        if (done_[{g, b}] >= steps.size())
          open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
        break;
      }
      if (!any) return "it hangs";
      if (!fault_.empty()) return fault_;
    }
    return check();
  }

 private:
  using Key = std::tuple<std::uint32_t, char, std::uint32_t>;

  Key where(std::uint32_t g, msccl::Place place) const {
    const auto block = static_cast<std::uint32_t>(contract_.chunks / contract_.ranks);
    if (file_.in_place && place.buffer == 'o') {
      place.buffer = 'i';
      if (contract_.collective == Collective::reduce_scatter) place.offset += g * block;
    } else if (file_.in_place && place.buffer == 'i' &&
               contract_.collective == Collective::allgather) {
      place.offset += g * block;
    }
    return {g, place.buffer, place.offset};
  }

  bool try_step(std::uint32_t g, std::uint32_t b) {
    const msccl::ThreadBlock& block = file_.gpus[g].blocks[b];
    const msccl::FileStep& step = block.steps[done_[{g, b}]];
    if (step.waits_for_block >= 0 && done_[{g, static_cast<std::uint32_t>(step.waits_for_block)}] <=
                                         static_cast<std::uint32_t>(step.waits_for_step)) {
      return false;
    }
    const msccl::StepTraits& does = msccl::traits(step.type);
    auto& incoming = wires_[{static_cast<std::uint32_t>(block.from), g, block.channel}];
    if (does.receives && incoming.empty()) return false;
    std::vector<Held> data;
    if (does.receives) {
      data = incoming.front();
      incoming.pop_front();
    }
    for (std::uint32_t i = 0; i < step.count; ++i) {
      Held made = does.receives && i < data.size() ? data[i] : Held{};
      if (does.reads) {
        const Held read = at(g, {step.source.buffer, step.source.offset + i});
        made = does.receives ? sum(made, read) : read;
      }
      if (step.type == msccl::StepType::reduce) {
        made = sum(at(g, {step.target.buffer, step.target.offset + i}), made);
      }
      if (does.writes) places_[where(g, {step.target.buffer, step.target.offset + i})] = made;
      if (i >= data.size()) data.resize(i + 1);
      data[i] = made;
    }
    if (does.sends) {
      wires_[{g, static_cast<std::uint32_t>(block.to), block.channel}].push_back(data);
    }
    ++done_[{g, b}];
    return true;
  }

  Held at(std::uint32_t g, msccl::Place place) {
    const auto found = places_.find(where(g, place));
    if (found == places_.end()) {
      fault_ = "it reads what was never written";
      return {};
    }
    return found->second;
  }

  Held sum(Held a, const Held& b) {
    if (a.chunk != b.chunk) fault_ = "it adds different chunks";
    for (const auto& [rank, count] : b.counts) a.counts[rank] += count;
    return a;
  }

  std::string check() {
    for (std::uint32_t g = 0; g < contract_.ranks; ++g) {
      const ChunkSeries output = contract_.output(g);
      for (std::uint32_t i = 0; i < output.count; ++i) {
        const auto found = places_.find(where(g, {'o', i}));
        std::map<std::uint32_t, std::uint32_t> wanted;
        const std::optional<Rank> origin = contract_.origin(output[i]);
        for (std::uint32_t r = 0; r < contract_.ranks; ++r) {
          if (!origin || *origin == r) wanted[r] = 1;
        }
        if (found == places_.end() || found->second.chunk != output[i].index() ||
            found->second.counts != wanted) {
          return "GPU " + std::to_string(g) + " ends with a wrong output " + std::to_string(i);
        }
      }
    }
    return {};
  }

  const msccl::AlgorithmFile& file_;
  Contract contract_;
  std::map<Key, Held> places_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> done_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::deque<std::vector<Held>>>
      wires_;
  std::string fault_;
};

}  // namespace tutti::test
