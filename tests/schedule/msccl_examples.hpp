#pragma once

#include <cstdint>
#include <vector>

#include "schedule/msccl/algorithm_file.hpp"

/// Algorithms of MSCCL that cover every type of step.
namespace tutti::test {

using namespace msccl;

inline FileStep file_step(StepType type, Place source, Place target, std::int32_t block = -1,
                          std::int32_t step = -1) {
  return {.type = type,
          .source = source,
          .target = target,
          .count = type == StepType::nothing ? 0U : 1U,
          .waits_for_block = block,
          .waits_for_step = step};
}

/// Sets hasdep where a step is waited for.
inline void mark_waited_for(AlgorithmFile& file) {
  for (Gpu& gpu : file.gpus) {
    for (const ThreadBlock& block : gpu.blocks) {
      for (const FileStep& step : block.steps) {
        if (step.waits_for_block < 0) continue;
        gpu.blocks[static_cast<std::size_t>(step.waits_for_block)]
            .steps[static_cast<std::size_t>(step.waits_for_step)]
            .is_waited_for = true;
      }
    }
  }
}

/// s, rrs, rrcs, rcs, r: a ring in place, with one thread block.
inline AlgorithmFile ring_in_place(std::uint32_t p) {
  AlgorithmFile file{.name = "ring", .chunks = p, .in_place = true, .out_of_place = false};
  for (std::uint32_t g = 0; g < p; ++g) {
    ThreadBlock block{.to = static_cast<std::int32_t>((g + 1) % p),
                      .from = static_cast<std::int32_t>((g + p - 1) % p)};
    const auto at = [&](std::uint32_t back) { return Place{'i', (g + 2 * p - back) % p}; };
    block.steps.push_back(file_step(StepType::send, at(0), at(0)));
    for (std::uint32_t k = 1; k + 1 < p; ++k) {
      block.steps.push_back(file_step(StepType::receive_reduce_send, at(k), at(k)));
    }
    block.steps.push_back(file_step(StepType::receive_reduce_copy_send, at(p - 1), at(p - 1)));
    for (std::uint32_t k = 0; k + 2 < p; ++k) {
      block.steps.push_back(file_step(StepType::receive_copy_send, at(k), at(k)));
    }
    block.steps.push_back(file_step(StepType::receive, at(p - 2), at(p - 2)));
    file.gpus.push_back({.input = p, .blocks = {block}});
  }
  return file;
}

/// s, r, re, nop: every GPU gathers one chunk in scratch, adds it up, and sends the sum to all.
inline AlgorithmFile all_pairs(std::uint32_t p) {
  AlgorithmFile file{.name = "all pairs", .chunks = p, .in_place = true, .out_of_place = false};
  for (std::uint32_t g = 0; g < p; ++g) {
    Gpu gpu{.input = p, .scratch = p};
    ThreadBlock adder;
    const auto adder_index = static_cast<std::int32_t>(p - 1);
    for (std::uint32_t q = 0; q < p; ++q) {
      if (q == g) continue;
      const auto index = static_cast<std::int32_t>(gpu.blocks.size());
      ThreadBlock block{.to = static_cast<std::int32_t>(q), .from = static_cast<std::int32_t>(q)};
      block.steps.push_back(file_step(StepType::send, {'i', q}, {'i', q}));
      block.steps.push_back(file_step(StepType::receive, {'s', q}, {'s', q}));
      block.steps.push_back(file_step(StepType::send, {'i', g}, {'i', g}, adder_index,
                                      static_cast<std::int32_t>(2 * (p - 1) - 1)));
      block.steps.push_back(file_step(StepType::receive, {'i', q}, {'i', q}));
      gpu.blocks.push_back(block);
      adder.steps.push_back(file_step(StepType::nothing, {}, {}, index, 1));
      adder.steps.push_back(file_step(StepType::reduce, {'s', q}, {'i', g}));
    }
    gpu.blocks.push_back(adder);
    file.gpus.push_back(gpu);
  }
  mark_waited_for(file);
  return file;
}

/// s, rrs, rrc: a chain to GPU 0, out of place, in two channels.
inline AlgorithmFile reduce_chain(std::uint32_t p) {
  AlgorithmFile file{.name = "chain", .collective = Collective::reduce, .chunks = 2, .channels = 2};
  for (std::uint32_t g = 0; g < p; ++g) {
    Gpu gpu{.input = 2, .output = g == 0 ? 2U : 0U};
    for (std::uint32_t c = 0; c < 2; ++c) {
      ThreadBlock block{.to = g == 0 ? -1 : static_cast<std::int32_t>(g - 1),
                        .from = g + 1 == p ? -1 : static_cast<std::int32_t>(g + 1),
                        .channel = c};
      const StepType type = g == 0       ? StepType::receive_reduce_copy
                            : g + 1 == p ? StepType::send
                                         : StepType::receive_reduce_send;
      block.steps.push_back(file_step(type, {'i', c}, {g == 0 ? 'o' : 'i', c}));
      gpu.blocks.push_back(block);
    }
    file.gpus.push_back(gpu);
  }
  return file;
}

/// cpy, s, rcs, r: a ring out of place.
inline AlgorithmFile allgather_ring(std::uint32_t p) {
  AlgorithmFile file{.name = "gather", .collective = Collective::allgather, .chunks = p};
  for (std::uint32_t g = 0; g < p; ++g) {
    ThreadBlock copier;
    copier.steps.push_back(file_step(StepType::copy, {'i', 0}, {'o', g}));
    ThreadBlock block{.to = static_cast<std::int32_t>((g + 1) % p),
                      .from = static_cast<std::int32_t>((g + p - 1) % p)};
    block.steps.push_back(file_step(StepType::send, {'o', g}, {'o', g}, 0, 0));
    for (std::uint32_t k = 1; k < p; ++k) {
      const Place at{'o', (g + p - k) % p};
      block.steps.push_back(
          file_step(k + 1 < p ? StepType::receive_copy_send : StepType::receive, at, at));
    }
    file.gpus.push_back({.input = 1, .output = p, .blocks = {copier, block}});
  }
  mark_waited_for(file);
  return file;
}

}  // namespace tutti::test
