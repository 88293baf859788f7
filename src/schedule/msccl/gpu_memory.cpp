#include "schedule/msccl/gpu_memory.hpp"

#include <algorithm>
#include <string>

namespace tutti::msccl {

GpuMemory::GpuMemory(const AlgorithmFile& file, const Contract& contract, std::uint32_t gpu) {
  const Gpu& own = file.gpus[gpu];
  sizes_.input = own.input;
  sizes_.output = own.output;
  sizes_.scratch = own.scratch;
  const auto block = static_cast<std::uint32_t>(contract.chunks / contract.ranks);
  const bool blocks = has_block_per_rank(contract.collective);
  const bool small_input =
      contract.collective == Collective::allgather || contract.collective == Collective::gather;
  const bool small_output = contract.collective == Collective::reduce_scatter ||
                            contract.collective == Collective::scatter;
  const std::uint32_t all = file.chunks;
  input_size_ = blocks && small_input ? block : all;
  output_size_ = blocks && small_output ? block : all;
  if (file.in_place) {
    // One buffer; the smaller of the two is the part of it that belongs to the GPU.
    input_ = small_input ? gpu * block : 0;
    output_ = small_output ? gpu * block : 0;
    scratch_ = all;
  } else {
    output_ = input_size_;
    scratch_ = output_ + output_size_;
  }
  cells_.resize(std::size_t{scratch_} + own.scratch);
}

std::uint32_t GpuMemory::index(const Place& place, std::uint32_t step, std::uint32_t line) const {
  const std::uint32_t at = place.offset + step;
  const auto within = [&](std::uint32_t declared, std::uint32_t size, const char* attribute) {
    if (at >= declared) {
      refuse(line, std::string("place ") + std::to_string(at) + " of buffer " + place.buffer +
                       " is beyond " + attribute + "=\"" + std::to_string(declared) + "\"");
    }
    if (at >= size) {
      refuse(line, std::string("place ") + std::to_string(at) + " of buffer " + place.buffer +
                       " is beyond the data of the collective, which has " + std::to_string(size) +
                       " chunks there");
    }
  };
  if (place.buffer == 'i') {
    within(sizes_.input, input_size_, "i_chunks");
    return input_ + at;
  }
  if (place.buffer == 'o') {
    within(sizes_.output, output_size_, "o_chunks");
    return output_ + at;
  }
  within(sizes_.scratch, sizes_.scratch, "s_chunks");
  return scratch_ + at;
}

void GpuMemory::check_order(const Access& earlier, std::uint32_t thread, const Clock& clock,
                            std::uint32_t line) {
  if (earlier.thread == UINT32_MAX || earlier.thread == thread) return;
  if (clock[earlier.thread] > earlier.step) return;
  refuse(line, "race with line " + std::to_string(earlier.line) +
                   ": both touch the same place, one writes it, and no dependence orders them");
}

ValueId GpuMemory::read(std::uint32_t place, std::uint32_t thread, std::uint32_t step,
                        const Clock& clock, std::uint32_t line) {
  Cell& cell = cells_[place];
  if (cell.value == no_value) refuse(line, "reads a place that no step has written");
  check_order(cell.written, thread, clock, line);
  const auto same = std::find_if(cell.reads.begin(), cell.reads.end(),
                                 [&](const Access& each) { return each.thread == thread; });
  const Access access{.thread = thread, .step = step, .line = line};
  if (same != cell.reads.end()) {
    *same = access;
  } else {
    cell.reads.push_back(access);
  }
  return cell.value;
}

void GpuMemory::write(std::uint32_t place, ValueId value, std::uint32_t thread, std::uint32_t step,
                      const Clock& clock, std::uint32_t line) {
  Cell& cell = cells_[place];
  check_order(cell.written, thread, clock, line);
  for (const Access& each : cell.reads) check_order(each, thread, clock, line);
  cell.reads.clear();
  cell.written = {.thread = thread, .step = step, .line = line};
  cell.value = value;
}

}  // namespace tutti::msccl
