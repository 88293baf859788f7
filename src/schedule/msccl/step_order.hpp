#pragma once

#include <cstdint>
#include <vector>

#include "schedule/msccl/algorithm_file.hpp"

namespace tutti::msccl {

/// Names a step of the whole file.
struct StepName {
  std::uint32_t gpu = 0;
  std::uint32_t block = 0;
  std::uint32_t step = 0;
};

/// All steps of a file in an order in which they can run: a step comes after the step before it in
/// its thread block, after the step that it waits for, and, if it receives, after the send.
struct StepOrder {
  struct Entry {
    StepName name{};
    std::uint32_t thread = 0;   ///< The thread block, numbered over all GPUs.
    std::uint32_t message = 0;  ///< Received by it; no_message if none.
    std::uint32_t sends = 0;    ///< The message that it sends.
  };
  static constexpr std::uint32_t no_message = UINT32_MAX;

  std::vector<Entry> entries{};
  std::uint32_t messages = 0;
  std::uint32_t threads = 0;
  /// For each GPU, the number of its first thread block.
  std::vector<std::uint32_t> first_thread{};
};

/// Throws invalid_argument, naming the line, if sends and receives do not match or steps wait for
/// each other.
[[nodiscard]] StepOrder order_steps(const AlgorithmFile& file);

}  // namespace tutti::msccl
