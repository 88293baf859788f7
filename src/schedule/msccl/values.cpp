#include "schedule/msccl/values.hpp"

#include <algorithm>
#include <map>
#include <string>

#include <tutti/error.hpp>

#include "schedule/msccl/algorithm_file.hpp"
#include "schedule/msccl/gpu_memory.hpp"
#include "schedule/msccl/step_order.hpp"

namespace tutti::msccl {
namespace {

constexpr std::uint64_t most_work = std::uint64_t{1} << 26;

class SymbolicRun {
 public:
  SymbolicRun(const AlgorithmFile& file, StepOrder order)
      : file_(file), order_(std::move(order)), contract_(contract_of(file)) {
    std::uint64_t cells = 0;
    for (const Gpu& gpu : file.gpus) cells += std::uint64_t{2} * file.chunks + gpu.scratch;
    std::uint64_t chunks = 0;
    for (const StepOrder::Entry& each : order_.entries) chunks += step(each).count;
    const std::uint64_t clocks = std::uint64_t{order_.threads} * order_.threads;
    if (cells + chunks > most_work || clocks > most_work) {
      throw Error(
          ErrorCode::unsupported,
          "MSCCL XML: the algorithm is too large to import: " + std::to_string(order_.threads) +
              " thread blocks and " + std::to_string(chunks) + " chunks moved");
    }
    found_.contract = contract_;
    clocks_.assign(order_.threads, GpuMemory::Clock(order_.threads, 0));
    in_flight_.resize(order_.messages);
    for (std::uint32_t g = 0; g < file.gpus.size(); ++g) memories_.emplace_back(file, contract_, g);
    fill_inputs();
  }

  [[nodiscard]] Values run() {
    for (const StepOrder::Entry& each : order_.entries) run(each);
    check_outputs();
    return std::move(found_);
  }

 private:
  /// What a sent message carries: values, and the clock of its sender.
  struct Flight {
    std::uint32_t from = 0;
    std::vector<ValueId> values{};
    GpuMemory::Clock clock{};
  };

  static Contract contract_of(const AlgorithmFile& file) {
    const auto ranks = static_cast<std::uint32_t>(file.gpus.size());
    std::uint64_t chunks = file.chunks;
    if (file.collective == Collective::alltoall) {
      if (file.chunks != ranks) {
        throw Error(ErrorCode::unsupported,
                    "MSCCL XML: an alltoall of " + std::to_string(ranks) + " GPUs with " +
                        std::to_string(file.chunks) +
                        " chunks cannot be imported: only one chunk for each pair of GPUs can");
      }
      if (file.in_place) {
        throw Error(ErrorCode::unsupported, "MSCCL XML: an alltoall in place cannot be imported");
      }
      chunks *= ranks;
    }
    Contract contract{.collective = file.collective,
                      .ranks = ranks,
                      .root = has_root(file.collective) ? file.root : 0,
                      .chunks = chunks};
    try {
      contract.check();
    } catch (const Error& error) {
      refuse(1, error.what());
    }
    return contract;
  }

  [[nodiscard]] const FileStep& step(const StepOrder::Entry& entry) const {
    return file_.gpus[entry.name.gpu].blocks[entry.name.block].steps[entry.name.step];
  }

  ValueId add_value(std::uint32_t gpu, std::uint64_t chunk, std::uint32_t first, Moment made) {
    found_.values.push_back(
        {.gpu = gpu, .chunk = chunk, .first = first, .made = made, .last_read = {-1, 0}});
    return static_cast<ValueId>(found_.values.size() - 1);
  }

  void fill_inputs() {
    for (std::uint32_t g = 0; g < file_.gpus.size(); ++g) {
      const ChunkSeries input = contract_.input(g);
      auto& ids = found_.inputs.emplace_back();
      for (std::uint32_t i = 0; i < input.count; ++i) {
        ids.push_back(add_value(g, input[i].index(), g, {-1, 0}));
        memories_[g].set(memories_[g].input(i), ids.back());
      }
    }
  }

  void run(const StepOrder::Entry& entry) {
    const FileStep& each = step(entry);
    const StepTraits& does = traits(each.type);
    GpuMemory::Clock& clock = clocks_[entry.thread];
    if (each.waits_for_block >= 0) wait(entry, each, clock);
    Flight arrived;
    if (does.receives) {
      arrived = std::move(in_flight_[entry.message]);
      for (std::size_t t = 0; t < clock.size(); ++t)
        clock[t] = std::max(clock[t], arrived.clock[t]);
    }
    std::vector<ValueId> made;
    if (does.receives) {
      made = receive(entry, each, arrived, clock);
    } else if (does.writes) {
      local(entry, each, clock);
    }
    if (each.type == StepType::send) made = read_all(entry, each, clock);
    clock[entry.thread] = entry.name.step + 1;
    if (does.sends) {
      in_flight_[entry.sends] = {.from = entry.name.gpu, .values = std::move(made), .clock = clock};
    }
    if (each.is_waited_for) finished_[{entry.thread, entry.name.step}] = clock;
  }

  void wait(const StepOrder::Entry& entry, const FileStep& each, GpuMemory::Clock& clock) {
    const std::uint32_t thread =
        order_.first_thread[entry.name.gpu] + static_cast<std::uint32_t>(each.waits_for_block);
    const GpuMemory::Clock& other =
        finished_.at({thread, static_cast<std::uint32_t>(each.waits_for_step)});
    for (std::size_t t = 0; t < clock.size(); ++t) clock[t] = std::max(clock[t], other[t]);
  }

  ValueId read(const StepOrder::Entry& entry, const FileStep& each, const Place& place,
               std::uint32_t i, const GpuMemory::Clock& clock) {
    GpuMemory& memory = memories_[entry.name.gpu];
    return memory.read(memory.index(place, i, each.line), entry.thread, entry.name.step, clock,
                       each.line);
  }
  void write(const StepOrder::Entry& entry, const FileStep& each, std::uint32_t i, ValueId value,
             const GpuMemory::Clock& clock) {
    GpuMemory& memory = memories_[entry.name.gpu];
    memory.write(memory.index(each.target, i, each.line), value, entry.thread, entry.name.step,
                 clock, each.line);
  }
  std::vector<ValueId> read_all(const StepOrder::Entry& entry, const FileStep& each,
                                const GpuMemory::Clock& clock) {
    std::vector<ValueId> values;
    for (std::uint32_t i = 0; i < each.count; ++i) {
      values.push_back(read(entry, each, each.source, i, clock));
    }
    return values;
  }

  void check_same_chunk(ValueId a, ValueId b, std::uint32_t line) const {
    const std::uint64_t x = found_.values[a].chunk;
    const std::uint64_t y = found_.values[b].chunk;
    if (x != y) {
      refuse(line, "adds chunk " + std::to_string(x) + " to chunk " + std::to_string(y));
    }
  }
  [[nodiscard]] std::uint32_t first_of(ValueId a, ValueId b) const {
    return std::min(found_.values[a].first, found_.values[b].first);
  }
  void note_read(ValueId value, Moment when) {
    Moment& last = found_.values[value].last_read;
    last = std::max(last, when);
  }

  std::vector<ValueId> receive(const StepOrder::Entry& entry, const FileStep& each,
                               const Flight& arrived, const GpuMemory::Clock& clock) {
    const StepTraits& does = traits(each.type);
    FileMessage message{.from = arrived.from, .to = entry.name.gpu};
    std::int64_t round = 0;
    std::vector<ValueId> own(each.count, no_value);
    for (std::uint32_t i = 0; i < each.count; ++i) {
      round = std::max(round, found_.values[arrived.values[i]].made.round + 1);
      if (!does.reads) continue;
      own[i] = read(entry, each, each.source, i, clock);
      check_same_chunk(arrived.values[i], own[i], each.line);
      round = std::max(round, found_.values[own[i]].made.round + 1);
    }
    message.round = static_cast<std::uint32_t>(round);
    std::vector<ValueId> made;
    for (std::uint32_t i = 0; i < each.count; ++i) {
      const ValueId sent = arrived.values[i];
      const std::uint32_t first =
          own[i] == no_value ? found_.values[sent].first : first_of(sent, own[i]);
      made.push_back(add_value(entry.name.gpu, found_.values[sent].chunk, first, {round, 1}));
      note_read(sent, {round, 0});
      if (own[i] != no_value) note_read(own[i], {round, 0});
      message.parts.push_back({.sent = sent, .own = own[i], .made = made.back()});
      if (does.writes) write(entry, each, i, made.back(), clock);
    }
    found_.messages.push_back(std::move(message));
    return made;
  }

  /// cpy: target = source; re: target = target + source.
  void local(const StepOrder::Entry& entry, const FileStep& each, const GpuMemory::Clock& clock) {
    const bool adds = each.type == StepType::reduce;
    const std::vector<ValueId> sources = read_all(entry, each, clock);
    std::vector<ValueId> others(each.count, no_value);
    std::int64_t round = 0;
    for (std::uint32_t i = 0; i < each.count; ++i) {
      round = std::max(round, found_.values[sources[i]].made.round);
      if (!adds) continue;
      others[i] = read(entry, each, each.target, i, clock);
      check_same_chunk(sources[i], others[i], each.line);
      round = std::max(round, found_.values[others[i]].made.round);
    }
    FileLocal made{.gpu = entry.name.gpu,
                   .round = static_cast<std::uint32_t>(round),
                   .phase = static_cast<std::uint32_t>(2 + found_.locals.size())};
    for (std::uint32_t i = 0; i < each.count; ++i) {
      const std::uint32_t first =
          adds ? first_of(sources[i], others[i]) : found_.values[sources[i]].first;
      const Moment when{round, made.phase};
      const ValueId value = add_value(entry.name.gpu, found_.values[sources[i]].chunk, first, when);
      note_read(sources[i], when);
      if (adds) note_read(others[i], when);
      made.parts.push_back({.made = value, .source = sources[i], .other = others[i]});
      write(entry, each, i, value, clock);
    }
    found_.locals.push_back(std::move(made));
  }

  void check_outputs() {
    for (std::uint32_t g = 0; g < file_.gpus.size(); ++g) {
      const ChunkSeries output = contract_.output(g);
      auto& ids = found_.outputs.emplace_back();
      for (std::uint32_t i = 0; i < output.count; ++i) {
        const ValueId value = memories_[g].value(memories_[g].output(i));
        const std::string where = "GPU " + std::to_string(g) + " ends with ";
        const std::string which = " at place " + std::to_string(i) + " of its output";
        if (value == no_value) refuse(file_.gpus[g].line, where + "nothing" + which);
        if (found_.values[value].chunk != output[i].index()) {
          refuse(file_.gpus[g].line, where + "chunk " + std::to_string(found_.values[value].chunk) +
                                         which + " instead of chunk " +
                                         std::to_string(output[i].index()));
        }
        ids.push_back(value);
      }
    }
  }

  const AlgorithmFile& file_;
  StepOrder order_;
  Contract contract_;
  Values found_;
  std::vector<GpuMemory> memories_;
  std::vector<GpuMemory::Clock> clocks_;  // Of each thread block.
  std::vector<Flight> in_flight_;
  /// The clocks of finished steps that others wait for.
  std::map<std::pair<std::uint32_t, std::uint32_t>, GpuMemory::Clock> finished_;
};

}  // namespace

Values values_of(const AlgorithmFile& file) { return SymbolicRun(file, order_steps(file)).run(); }

}  // namespace tutti::msccl
