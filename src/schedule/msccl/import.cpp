#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include <tutti/error.hpp>
#include <tutti/schedule/msccl.hpp>

#include "schedule/msccl/algorithm_file.hpp"
#include "schedule/msccl/values.hpp"

namespace tutti {
namespace {

using namespace msccl;

/// Chooses the variant of every value of one chunk on one rank.
///
/// Variant 0 starts as the input and must end as the output. In between it takes every value that
/// comes when the value before it is no longer read, and that is no longer read when the output
/// comes. All other values share variants as long as no two are alive at once.
class VariantChoice {
 public:
  VariantChoice(std::vector<Value>& values, std::vector<ValueId> ids, ValueId input, ValueId output)
      : values_(values), ids_(std::move(ids)), input_(input), output_(output) {
    std::stable_sort(ids_.begin(), ids_.end(),
                     [&](ValueId a, ValueId b) { return values_[a].made < values_[b].made; });
  }

  /// True if the output ends up in another variant and must be copied.
  bool run() {
    std::optional<Moment> busy_until;  // Of variant 0.
    if (input_ != no_value) busy_until = values_[input_].last_read;
    bool output_is_there = output_ == input_ && output_ != no_value;
    for (const ValueId id : ids_) {
      if (id == input_) continue;
      Value& value = values_[id];
      const bool is_free = !busy_until || may_follow(*busy_until, value.made);
      const bool leaves_in_time = id == output_ || output_ == no_value ||
                                  may_follow(value.last_read, values_[output_].made);
      if (is_free && leaves_in_time && !output_is_there) {
        value.variant = 0;
        busy_until = value.last_read;
        output_is_there = id == output_;
      } else {
        value.variant = other_variant(value);
      }
    }
    return output_ != no_value && !output_is_there;
  }

 private:
  /// Messages of a round read before they write; local steps come one after the other. A local step
  /// may read what it overwrites.
  static bool may_follow(const Moment& last_read, const Moment& made) { return last_read <= made; }

  std::uint16_t other_variant(const Value& value) {
    // Unlike variant 0, the others have one place each: a message must not arrive in a place that
    // another message of the round is sent from.
    for (std::size_t i = 0; i < until_.size(); ++i) {
      const bool is_free =
          value.made.phase >= 2 ? until_[i] <= value.made : until_[i].round < value.made.round;
      if (!is_free) continue;
      until_[i] = std::max(value.last_read, value.made);
      return static_cast<std::uint16_t>(i + 1);
    }
    if (until_.size() + 1 > std::numeric_limits<std::uint16_t>::max()) {
      throw Error(ErrorCode::unsupported,
                  "MSCCL XML: a GPU keeps more than 65,535 values of one chunk at once");
    }
    until_.push_back(std::max(value.last_read, value.made));
    return static_cast<std::uint16_t>(until_.size());
  }

  std::vector<Value>& values_;
  std::vector<ValueId> ids_;
  ValueId input_;
  ValueId output_;
  std::vector<Moment> until_;  // For each variant but 0: the last moment at which it is needed.
};

/// Consecutive chunks that one step can name.
class Chunks {
 public:
  void add(std::uint64_t chunk) {
    if (!ranges_.empty() && ranges_.back().end() == Chunk{chunk}) {
      ++ranges_.back().count;
    } else {
      ranges_.emplace_back(Chunk{chunk});
    }
  }
  [[nodiscard]] const std::vector<ChunkRange>& ranges() const { return ranges_; }

 private:
  std::vector<ChunkRange> ranges_;
};

class Import {
 public:
  Import(const AlgorithmFile& file, Values values) : file_(file), values_(std::move(values)) {}

  [[nodiscard]] Schedule run() {
    choose_variants();
    std::uint32_t rounds = 0;
    for (const FileMessage& each : values_.messages) rounds = std::max(rounds, each.round + 1);
    for (const FileLocal& each : values_.locals) rounds = std::max(rounds, each.round + 1);
    if (rounds == 0 && !last_copies_.empty()) rounds = 1;
    Schedule schedule{.name = file_.name, .contract = values_.contract, .programs = {}};
    lists_.resize(values_.contract.ranks);
    for (std::uint32_t i = 0; i < values_.messages.size(); ++i) add_message(values_.messages[i], i);
    for (const FileLocal& each : values_.locals) add_local(each);
    for (const ValueId each : last_copies_) {
      const Value& value = values_.values[each];
      Item& item = add(value.gpu, {rounds - 1, UINT32_MAX});
      item.step.kind = Step::Kind::local;
      item.sources = {Variant{value.variant}};
      item.chunks.add(value.chunk);
    }
    for (auto& list : lists_) schedule.programs.push_back(program(list, rounds));
    return schedule;
  }

 private:
  /// A step of a program, with its place in time.
  struct Item {
    std::uint32_t round = 0;
    std::uint32_t turn = 0;  // Messages: their number. Local steps follow.
    Step step{};
    std::vector<Rank> peers{};
    std::vector<Variant> sources{};
    Chunks chunks{};
  };

  void choose_variants() {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<ValueId>> by_chunk;
    for (ValueId id = 0; id < values_.values.size(); ++id) {
      by_chunk[{values_.values[id].gpu, values_.values[id].chunk}].push_back(id);
    }
    std::map<std::pair<std::uint32_t, std::uint64_t>, ValueId> inputs;
    std::map<std::pair<std::uint32_t, std::uint64_t>, ValueId> outputs;
    const auto note = [&](const std::vector<std::vector<ValueId>>& lists, auto& into) {
      for (std::uint32_t g = 0; g < lists.size(); ++g) {
        for (const ValueId id : lists[g]) into[{g, values_.values[id].chunk}] = id;
      }
    };
    note(values_.inputs, inputs);
    note(values_.outputs, outputs);
    for (auto& [key, ids] : by_chunk) {
      const auto input = inputs.find(key);
      const auto output = outputs.find(key);
      const ValueId in = input == inputs.end() ? no_value : input->second;
      const ValueId out = output == outputs.end() ? no_value : output->second;
      if (VariantChoice(values_.values, std::move(ids), in, out).run()) last_copies_.push_back(out);
    }
  }

  Item& add(std::uint32_t gpu, std::pair<std::uint32_t, std::uint32_t> when) {
    Item& item = lists_[gpu].emplace_back();
    item.round = when.first;
    item.turn = when.second;
    item.step.round = when.first;
    return item;
  }

  /// Parts with the same variants travel together.
  void add_message(const FileMessage& message, std::uint32_t turn) {
    for (std::size_t i = 0; i < message.parts.size();) {
      const auto variants = [&](const Part& part) {
        const auto of = [&](ValueId id) {
          return id == no_value ? -1 : static_cast<int>(values_.values[id].variant);
        };
        return std::tuple(of(part.sent), of(part.own), of(part.made), own_first(part));
      };
      Chunks chunks;
      const Part& head = message.parts[i];
      for (; i < message.parts.size() && variants(message.parts[i]) == variants(head); ++i) {
        chunks.add(values_.values[message.parts[i].sent].chunk);
      }
      Item& send = add(message.from, {message.round, turn});
      send.step.kind = Step::Kind::send;
      send.step.variant = Variant{values_.values[head.sent].variant};
      send.peers = {message.to};
      send.chunks = chunks;
      Item& receive = add(message.to, {message.round, turn});
      receive.step.kind = Step::Kind::receive;
      receive.step.variant = Variant{values_.values[head.made].variant};
      receive.peers = {message.from};
      receive.chunks = chunks;
      if (head.own != no_value) {
        receive.step.own = own_first(head) ? 0 : 1;
        receive.step.own_variant = Variant{values_.values[head.own].variant};
      }
    }
  }

  /// A sum of two is the same in either order; that of the lowest rank comes first, so that ranks
  /// which add the same two values do it alike.
  [[nodiscard]] bool own_first(const Part& part) const {
    return part.own != no_value && values_.values[part.own].first < values_.values[part.sent].first;
  }

  void add_local(const FileLocal& local) {
    for (const LocalPart& part : local.parts) {
      const Value& made = values_.values[part.made];
      const Value& source = values_.values[part.source];
      std::vector<Variant> sources{Variant{source.variant}};
      if (part.other != no_value) {
        const Value& other = values_.values[part.other];
        const bool first = other.first <= source.first;
        sources.insert(first ? sources.begin() : sources.end(), Variant{other.variant});
      } else if (made.variant == source.variant) {
        continue;
      }
      Item& item = add(local.gpu, {local.round, local.phase});
      item.step.kind = Step::Kind::local;
      item.step.variant = Variant{made.variant};
      item.sources = std::move(sources);
      item.chunks.add(made.chunk);
    }
  }

  static Program program(std::vector<Item>& items, std::uint32_t rounds) {
    // Messages before local steps. Sends before receives: a send passes on what was there before
    // the round.
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
      const auto place = [](const Item& item) {
        const int kind = item.step.kind == Step::Kind::send      ? 0
                         : item.step.kind == Step::Kind::receive ? 1
                                                                 : 2;
        return std::tuple(item.round, kind, item.turn);
      };
      return place(a) < place(b);
    });
    Program program(rounds);
    for (Item& each : items) {
      each.step.peers = each.peers;
      each.step.sources = each.sources;
      each.step.chunks = each.chunks.ranges();
      program.append(each.step);
    }
    return program;
  }

  const AlgorithmFile& file_;
  Values values_;
  std::vector<std::vector<Item>> lists_;  // For each rank.
  std::vector<ValueId> last_copies_;
};

}  // namespace

Schedule schedule_from_msccl(std::string_view xml) {
  const AlgorithmFile file = read_file(xml);
  return Import(file, values_of(file)).run();
}

}  // namespace tutti
