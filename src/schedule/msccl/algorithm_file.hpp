#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tutti/collective.hpp>

/// MSCCL's XML, element by element.
namespace tutti::msccl {

enum class StepType : std::uint8_t {
  send,
  receive,
  receive_copy_send,
  receive_reduce_copy,
  receive_reduce_copy_send,
  receive_reduce_send,
  copy,
  reduce,
  nothing,
};

/// What a step of a type does.
struct StepTraits {
  StepType type;
  std::string_view name;
  bool receives;
  bool sends;
  bool reads;   ///< Data at `source`.
  bool writes;  ///< Data at `target`.
};

inline constexpr std::array<StepTraits, 9> step_types{{
    {StepType::send, "s", false, true, true, false},
    {StepType::receive, "r", true, false, false, true},
    {StepType::receive_copy_send, "rcs", true, true, false, true},
    {StepType::receive_reduce_copy, "rrc", true, false, true, true},
    {StepType::receive_reduce_copy_send, "rrcs", true, true, true, true},
    {StepType::receive_reduce_send, "rrs", true, true, true, false},
    {StepType::copy, "cpy", false, false, true, true},
    {StepType::reduce, "re", false, false, true, true},
    {StepType::nothing, "nop", false, false, false, false},
}};

[[nodiscard]] inline const StepTraits& traits(StepType type) {
  return step_types[static_cast<std::size_t>(type)];
}

/// Consecutive places of a buffer of a GPU.
struct Place {
  char buffer = 'i';  ///< i: input, o: output, s: scratch.
  std::uint32_t offset = 0;
};

struct FileStep {
  StepType type = StepType::nothing;
  Place source{};
  Place target{};
  std::uint32_t count = 0;
  /// The step that it waits for: a thread block of the same GPU, and an index in it; −1: none.
  std::int32_t waits_for_block = -1;
  std::int32_t waits_for_step = -1;
  bool is_waited_for = false;
  std::uint32_t line = 0;
};

struct ThreadBlock {
  std::int32_t to = -1;    ///< The GPU to which it sends; −1: none.
  std::int32_t from = -1;  ///< The GPU from which it receives; −1: none.
  std::uint32_t channel = 0;
  std::vector<FileStep> steps{};
  std::uint32_t line = 0;
};

struct Gpu {
  std::uint32_t input = 0;  ///< Chunks of each buffer.
  std::uint32_t output = 0;
  std::uint32_t scratch = 0;
  std::vector<ThreadBlock> blocks{};
  std::uint32_t line = 0;
};

/// A whole file. Thread blocks and GPUs are in the order of their ids.
struct AlgorithmFile {
  std::string name{};
  Collective collective = Collective::allreduce;
  std::uint32_t root = 0;
  std::uint32_t chunks = 1;  ///< `nchunksperloop`: chunks of the larger buffer.
  std::uint32_t channels = 1;
  bool in_place = false;
  bool out_of_place = true;
  std::vector<Gpu> gpus{};
};

/// Throws invalid_argument, naming the line, unless every element is of the expected form.
[[nodiscard]] AlgorithmFile read_file(std::string_view xml);
[[nodiscard]] std::string write_file(const AlgorithmFile& file);

/// Throws invalid_argument with the line.
[[noreturn]] void refuse(std::uint32_t line, const std::string& why);

}  // namespace tutti::msccl
