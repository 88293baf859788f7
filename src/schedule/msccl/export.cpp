#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include <tutti/error.hpp>
#include <tutti/schedule/msccl.hpp>
#include <tutti/schedule/placement.hpp>

#include "schedule/chunk_slots.hpp"
#include "schedule/msccl/algorithm_file.hpp"

namespace tutti {
namespace {

using namespace msccl;

/// Limits of MSCCL's loader.
constexpr std::size_t most_steps = 256;
constexpr std::size_t most_blocks = 108;
constexpr std::uint32_t most_channels = 32;
/// Messages per thread block, which leaves room for steps that only wait.
constexpr std::uint32_t messages_per_block = 80;

[[noreturn]] void exceed(const std::string& what) {
  throw Error(ErrorCode::unsupported, "the schedule cannot be written for MSCCL: " + what);
}

/// Writes the program of one rank as thread blocks.
///
/// Steps are added in the order of the program. Each waits for the last steps of other thread
/// blocks that touched its places, so that the thread blocks together do what the program does.
class Writer {
 public:
  Writer(const Schedule& schedule, Rank self, Gpu& gpu)
      : contract_(schedule.contract),
        program_(schedule.program(self)),
        self_(self),
        gpu_(gpu),
        placement_(place(program_, contract_, self, Aliasing::out_of_place)) {
    gpu_.input = static_cast<std::uint32_t>(contract_.input(self).count);
    gpu_.output = static_cast<std::uint32_t>(contract_.output(self).count);
  }

  void run() {
    for (const Placement::Copy& copy : placement_.before()) copy_whole(copy);
    for (std::size_t i = 0; i < program_.size(); ++i) write(i);
    for (const Placement::Copy& copy : placement_.aside()) copy_whole(copy);
    gpu_.scratch = next_scratch_;
    if (gpu_.blocks.size() > most_blocks) {
      exceed("rank " + std::to_string(self_) + " needs " + std::to_string(gpu_.blocks.size()) +
             " thread blocks; the limit is " + std::to_string(most_blocks));
    }
    for (const ThreadBlock& each : gpu_.blocks) {
      if (each.steps.size() > most_steps) {
        exceed("a thread block of rank " + std::to_string(self_) + " has " +
               std::to_string(each.steps.size()) + " steps; the limit is " +
               std::to_string(most_steps));
      }
    }
  }

  [[nodiscard]] std::uint32_t channels() const { return channels_; }

 private:
  /// A place, as a key.
  using Key = std::pair<char, std::uint32_t>;
  struct Touch {
    std::int32_t block;
    std::int32_t step;
  };
  struct Touches {
    std::vector<Touch> written{};  // At most one.
    std::vector<Touch> read{};
  };

  [[nodiscard]] static std::uint32_t index_in(const ChunkSeries& series, Chunk chunk) {
    return static_cast<std::uint32_t>((chunk.index() - series.first.index()) / series.stride);
  }

  Place at(Buffer buffer, Chunk chunk, Variant variant) {
    if (variant == Variant{}) {
      if (buffer == Buffer::input) {
        return {.buffer = 'i', .offset = index_in(contract_.input(self_), chunk)};
      }
      if (buffer == Buffer::output) {
        return {.buffer = 'o', .offset = index_in(contract_.output(self_), chunk)};
      }
    }
    const std::uint32_t which = variant == Variant{} ? (buffer == Buffer::spare ? 1 : 0)
                                                     : 2 + std::uint32_t{variant.index()};
    const auto [found, is_new] =
        scratch_.try_emplace(std::tuple(which, chunk.index()), next_scratch_);
    if (is_new) ++next_scratch_;
    return {.buffer = 's', .offset = found->second};
  }

  std::size_t block_for(std::int32_t to, std::int32_t from, std::uint32_t channel) {
    const auto [found, is_new] =
        blocks_.try_emplace(std::tuple(to, from, channel), gpu_.blocks.size());
    if (is_new) {
      if (channel >= most_channels) exceed("two ranks exchange too many messages");
      channels_ = std::max(channels_, channel + 1);
      gpu_.blocks.push_back({.to = to, .from = from, .channel = channel});
      waited_for_.emplace_back();
    }
    return found->second;
  }
  std::size_t block_to(Rank peer) {
    const std::uint32_t k = sent_[peer]++;
    return block_for(static_cast<std::int32_t>(peer), -1, k / messages_per_block);
  }
  std::size_t block_from(Rank peer) {
    const std::uint32_t k = received_[peer]++;
    return block_for(-1, static_cast<std::int32_t>(peer), k / messages_per_block);
  }
  std::size_t local_block() {
    // Local steps follow each other; a new thread block when one is full.
    const std::uint32_t k = locals_++;
    const auto group = static_cast<std::uint32_t>(k / messages_per_block);
    const auto [found, is_new] = local_blocks_.try_emplace(group, gpu_.blocks.size());
    if (is_new) {
      gpu_.blocks.push_back({});
      waited_for_.emplace_back();
    }
    return found->second;
  }

  /// Appends a step to a thread block, after what it must wait for.
  void append(std::size_t block, FileStep step) {
    std::map<std::int32_t, std::int32_t> waits;  // The last step of each other thread block.
    const auto wait_for = [&](const Touch& touch) {
      if (touch.block == static_cast<std::int32_t>(block)) return;
      const auto [found, is_new] = waits.try_emplace(touch.block, touch.step);
      if (!is_new) found->second = std::max(found->second, touch.step);
    };
    const StepTraits& does = traits(step.type);
    for (std::uint32_t i = 0; i < step.count; ++i) {
      if (does.reads) {
        for (const Touch& each : touches_[key(step.source, i)].written) wait_for(each);
      }
      if (does.writes) {
        const Touches& target = touches_[key(step.target, i)];
        for (const Touch& each : target.written) wait_for(each);
        for (const Touch& each : target.read) wait_for(each);
      }
    }
    auto& waited = waited_for_[block];
    std::erase_if(waits, [&](const auto& each) {
      const auto found = waited.find(each.first);
      return found != waited.end() && found->second >= each.second;
    });
    auto& steps = gpu_.blocks[block].steps;
    std::size_t left = waits.size();
    for (const auto& [other, at_step] : waits) {
      waited[other] = at_step;
      gpu_.blocks[static_cast<std::size_t>(other)]
          .steps[static_cast<std::size_t>(at_step)]
          .is_waited_for = true;
      // A step waits for one other; steps that do nothing wait for the rest.
      FileStep& waiter = --left == 0 ? step : steps.emplace_back();
      waiter.waits_for_block = other;
      waiter.waits_for_step = at_step;
    }
    const Touch now{.block = static_cast<std::int32_t>(block),
                    .step = static_cast<std::int32_t>(steps.size())};
    for (std::uint32_t i = 0; i < step.count; ++i) {
      if (does.writes) {
        Touches& target = touches_[key(step.target, i)];
        target.written.assign(1, now);
        target.read.clear();
      }
      if (does.reads && !(does.writes && key(step.source, i) == key(step.target, i))) {
        touches_[key(step.source, i)].read.push_back(now);
      }
    }
    steps.push_back(step);
  }

  static Key key(const Place& place, std::uint32_t i) { return {place.buffer, place.offset + i}; }

  void append_one(std::size_t block, StepType type, Place source, Place target) {
    append(block, {.type = type, .source = source, .target = target, .count = 1});
  }

  void copy_whole(const Placement::Copy& copy) {
    for (std::uint64_t i = 0; i < copy.chunks.count; ++i) {
      const Chunk chunk{copy.chunks.first.index() + i};
      append_one(local_block(), StepType::copy, at(copy.from, chunk, {}), at(copy.to, chunk, {}));
    }
  }

  void write(std::size_t index) {
    const Step step = program_[index];
    for (const Placement::Piece& piece : placement_.pieces(index)) {
      for (std::uint64_t i = 0; i < piece.chunks.count; ++i) {
        const Chunk chunk{piece.chunks.first.index() + i};
        switch (step.kind) {
          case Step::Kind::send:
            send(step, piece, chunk);
            break;
          case Step::Kind::receive:
            receive(step, piece, chunk);
            break;
          case Step::Kind::local:
            local(step, piece, chunk);
            break;
        }
      }
    }
  }

  void send(const Step& step, const Placement::Piece& piece, Chunk chunk) {
    const Place from = at(piece.from, chunk, step.variant);
    for (const Rank peer : step.peers) append_one(block_to(peer), StepType::send, from, from);
  }

  /// A fold over several messages becomes one sum after the other, in the same order.
  void receive(const Step& step, const Placement::Piece& piece, Chunk chunk) {
    const Place to = at(piece.to, chunk, step.variant);
    const auto count = step.peers.size();
    if (!step.own || *step.own == 0 || count == 1) {
      for (std::size_t i = 0; i < count; ++i) {
        if (i == 0 && !step.own) {
          append_one(block_from(step.peers[i]), StepType::receive, to, to);
          continue;
        }
        const Place own = i == 0 ? at(piece.from, chunk, step.own_variant) : to;
        append_one(block_from(step.peers[i]), StepType::receive_reduce_copy, own, to);
      }
      return;
    }
    const Place own = at(piece.from, chunk, step.own_variant);
    const bool in_place = own.buffer == to.buffer && own.offset == to.offset;
    const Place sum = in_place ? temporary(chunk) : to;
    for (std::size_t i = 0; i < count; ++i) {
      if (i == *step.own) add_own(sum, own, to);
      const Place into = i < *step.own ? sum : to;
      append_one(block_from(step.peers[i]),
                 i == 0 ? StepType::receive : StepType::receive_reduce_copy, into, into);
    }
    if (*step.own == count) add_own(sum, own, to);
  }

  /// Makes `to` the sum of the two others, one of which has its place.
  void add_own(Place sum, Place own, Place to) {
    const bool in_place = own.buffer == to.buffer && own.offset == to.offset;
    append_one(local_block(), StepType::reduce, in_place ? sum : own, to);
  }

  Place temporary(Chunk chunk) {
    const auto [found, is_new] =
        scratch_.try_emplace(std::tuple(UINT32_MAX, chunk.index()), next_scratch_);
    if (is_new) ++next_scratch_;
    return {.buffer = 's', .offset = found->second};
  }

  void local(const Step& step, const Placement::Piece& piece, Chunk chunk) {
    const Place to = at(piece.to, chunk, step.variant);
    // The target itself first, if it is among the sources: it must not be overwritten before.
    std::vector<Place> sources;
    for (const Variant each : step.sources) sources.push_back(at(piece.from, chunk, each));
    const auto same = [&](const Place& each) {
      return each.buffer == to.buffer && each.offset == to.offset;
    };
    const auto own = std::find_if(sources.begin(), sources.end(), same);
    if (own != sources.end()) {
      std::rotate(sources.begin(), own, own + 1);
    } else {
      append_one(local_block(), StepType::copy, sources.front(), to);
    }
    for (std::size_t i = 1; i < sources.size(); ++i) {
      append_one(local_block(), StepType::reduce, sources[i], to);
    }
  }

  const Contract& contract_;
  const Program& program_;
  Rank self_;
  Gpu& gpu_;
  Placement placement_;
  std::map<std::tuple<std::uint32_t, std::uint64_t>, std::uint32_t> scratch_;
  std::uint32_t next_scratch_ = 0;
  std::map<std::tuple<std::int32_t, std::int32_t, std::uint32_t>, std::size_t> blocks_;
  std::map<std::uint32_t, std::size_t> local_blocks_;
  std::map<Rank, std::uint32_t> sent_;
  std::map<Rank, std::uint32_t> received_;
  std::uint32_t locals_ = 0;
  std::uint32_t channels_ = 1;
  std::map<Key, Touches> touches_;
  /// For each thread block: the last step of every other one that it has waited for.
  std::vector<std::map<std::int32_t, std::int32_t>> waited_for_;
};

}  // namespace

std::string to_msccl(const Schedule& schedule) {
  const Contract& contract = schedule.contract;
  if (contract.collective == Collective::barrier) exceed("MSCCL has no barrier");
  AlgorithmFile file{.name = schedule.name, .collective = contract.collective};
  file.root = contract.root;
  const std::uint64_t chunks = contract.collective == Collective::alltoall
                                   ? contract.chunks / contract.ranks
                                   : contract.chunks;
  constexpr std::uint64_t most_chunks = 1 << 16;
  if (chunks > most_chunks) exceed("it has more than 65,536 chunks");
  file.chunks = static_cast<std::uint32_t>(chunks);
  file.gpus.resize(contract.ranks);
  for (std::uint32_t r = 0; r < contract.ranks; ++r) {
    Writer writer(schedule, r, file.gpus[r]);
    writer.run();
    file.channels = std::max(file.channels, writer.channels());
  }
  return write_file(file);
}

}  // namespace tutti
