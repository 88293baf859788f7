#include "schedule/msccl/step_order.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace tutti::msccl {
namespace {

constexpr std::uint32_t none = UINT32_MAX;

class Ordering {
 public:
  explicit Ordering(const AlgorithmFile& file) : file_(file) {
    for (std::uint32_t g = 0; g < file.gpus.size(); ++g) {
      order_.first_thread.push_back(order_.threads);
      order_.threads += static_cast<std::uint32_t>(file.gpus[g].blocks.size());
      for (std::uint32_t b = 0; b < file.gpus[g].blocks.size(); ++b) {
        first_.push_back(static_cast<std::uint32_t>(names_.size()));
        const auto count = static_cast<std::uint32_t>(file.gpus[g].blocks[b].steps.size());
        for (std::uint32_t s = 0; s < count; ++s) names_.push_back({g, b, s});
      }
    }
    first_.push_back(static_cast<std::uint32_t>(names_.size()));
  }

  [[nodiscard]] StepOrder run() {
    for (std::uint32_t i = 0; i < names_.size(); ++i) check_dependence(i);
    match();
    sort();
    return std::move(order_);
  }

 private:
  [[nodiscard]] const FileStep& step(std::uint32_t i) const {
    const StepName& name = names_[i];
    return file_.gpus[name.gpu].blocks[name.block].steps[name.step];
  }
  [[nodiscard]] const ThreadBlock& block(std::uint32_t i) const {
    return file_.gpus[names_[i].gpu].blocks[names_[i].block];
  }

  void check_dependence(std::uint32_t i) {
    const FileStep& each = step(i);
    const StepName& name = names_[i];
    const auto& blocks = file_.gpus[name.gpu].blocks;
    if (each.waits_for_block == -1) {
      if (each.waits_for_step != -1) refuse(each.line, "deps names a step, but depid is -1");
      waits_for_.push_back(none);
      return;
    }
    if (static_cast<std::size_t>(each.waits_for_block) >= blocks.size()) {
      refuse(each.line, "depid=\"" + std::to_string(each.waits_for_block) + "\": GPU " +
                            std::to_string(name.gpu) + " has no such thread block");
    }
    const ThreadBlock& other = blocks[static_cast<std::size_t>(each.waits_for_block)];
    if (each.waits_for_step < 0 ||
        static_cast<std::size_t>(each.waits_for_step) >= other.steps.size()) {
      refuse(each.line, "deps=\"" + std::to_string(each.waits_for_step) + "\": thread block " +
                            std::to_string(each.waits_for_block) + " has no such step");
    }
    const FileStep& target = other.steps[static_cast<std::size_t>(each.waits_for_step)];
    if (!target.is_waited_for) {
      refuse(each.line, "waits for the step in line " + std::to_string(target.line) +
                            ", whose hasdep is 0: it would wait forever");
    }
    const std::uint32_t thread =
        order_.first_thread[name.gpu] + static_cast<std::uint32_t>(each.waits_for_block);
    waits_for_.push_back(first_[thread] + static_cast<std::uint32_t>(each.waits_for_step));
  }

  /// From, to, channel.
  using Connection = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  struct Ends {
    std::vector<std::uint32_t> sends, receives;
    std::uint32_t sender = none, receiver = none;  // Lines of the thread blocks.
  };
  using Connections = std::map<Connection, Ends>;

  /// At each end of a connection is one thread block.
  [[nodiscard]] Connections claimed_connections() const {
    Connections connections;
    for (std::uint32_t g = 0; g < file_.gpus.size(); ++g) {
      for (const ThreadBlock& each : file_.gpus[g].blocks) {
        const auto claim = [&](std::uint32_t& owner, const char* what, std::int32_t peer) {
          if (owner != none) {
            refuse(each.line, "two thread blocks of GPU " + std::to_string(g) + " " + what +
                                  " GPU " + std::to_string(peer) + " on channel " +
                                  std::to_string(each.channel));
          }
          owner = each.line;
        };
        if (each.to >= 0) {
          claim(connections[{g, static_cast<std::uint32_t>(each.to), each.channel}].sender,
                "send to", each.to);
        }
        if (each.from >= 0) {
          claim(connections[{static_cast<std::uint32_t>(each.from), g, each.channel}].receiver,
                "receive from", each.from);
        }
      }
    }
    return connections;
  }

  void add_steps(Connections& connections) const {
    for (std::uint32_t i = 0; i < names_.size(); ++i) {
      const StepTraits& does = traits(step(i).type);
      const ThreadBlock& in = block(i);
      const std::uint32_t self = names_[i].gpu;
      if (does.sends) {
        if (in.to < 0) refuse(step(i).line, "sends, but its thread block has send=\"-1\"");
        connections[{self, static_cast<std::uint32_t>(in.to), in.channel}].sends.push_back(i);
      }
      if (does.receives) {
        if (in.from < 0) refuse(step(i).line, "receives, but its thread block has recv=\"-1\"");
        connections[{static_cast<std::uint32_t>(in.from), self, in.channel}].receives.push_back(i);
      }
    }
  }

  /// The k-th send over a connection meets its k-th receive.
  void match() {
    Connections connections = claimed_connections();
    add_steps(connections);
    received_.assign(names_.size(), StepOrder::no_message);
    sent_.assign(names_.size(), StepOrder::no_message);
    for (const auto& [connection, ends] : connections) {
      const std::size_t both = std::min(ends.sends.size(), ends.receives.size());
      if (ends.sends.size() != ends.receives.size()) {
        const bool more = ends.sends.size() > both;
        refuse(step(more ? ends.sends[both] : ends.receives[both]).line,
               more ? "nothing receives what this step sends"
                    : "nothing sends what this step receives");
      }
      for (std::size_t k = 0; k < both; ++k) {
        if (step(ends.sends[k]).count != step(ends.receives[k]).count) {
          refuse(step(ends.receives[k]).line,
                 "receives " + std::to_string(step(ends.receives[k]).count) + " chunks, but line " +
                     std::to_string(step(ends.sends[k]).line) + " sends " +
                     std::to_string(step(ends.sends[k]).count));
        }
        sent_[ends.sends[k]] = order_.messages;
        received_[ends.receives[k]] = order_.messages;
        sender_.push_back(ends.sends[k]);
        ++order_.messages;
      }
    }
  }

  void sort() {
    std::vector<std::uint32_t> waits(names_.size(), 0);
    std::vector<std::vector<std::uint32_t>> next(names_.size());
    const auto after = [&](std::uint32_t earlier, std::uint32_t later) {
      next[earlier].push_back(later);
      ++waits[later];
    };
    for (std::uint32_t i = 0; i < names_.size(); ++i) {
      if (names_[i].step > 0) after(i - 1, i);
      if (waits_for_[i] != none) after(waits_for_[i], i);
      if (received_[i] != StepOrder::no_message) after(sender_[received_[i]], i);
    }
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < names_.size(); ++i) {
      if (waits[i] == 0) open.push_back(i);
    }
    for (std::size_t k = 0; k < open.size(); ++k) {
      const std::uint32_t i = open[k];
      order_.entries.push_back({.name = names_[i],
                                .thread = order_.first_thread[names_[i].gpu] + names_[i].block,
                                .message = received_[i],
                                .sends = sent_[i]});
      for (const std::uint32_t each : next[i]) {
        if (--waits[each] == 0) open.push_back(each);
      }
    }
    if (open.size() == names_.size()) return;
    for (std::uint32_t i = 0; i < names_.size(); ++i) {
      if (waits[i] > 0)
        refuse(step(i).line, "deadlock: this step waits for steps that wait for each other");
    }
  }

  const AlgorithmFile& file_;
  StepOrder order_;
  std::vector<StepName> names_;
  std::vector<std::uint32_t> first_;  // For each thread block, the index of its first step.
  std::vector<std::uint32_t> waits_for_;
  std::vector<std::uint32_t> received_;
  std::vector<std::uint32_t> sent_;
  std::vector<std::uint32_t> sender_;  // For each message, the step that sends it.
};

}  // namespace

StepOrder order_steps(const AlgorithmFile& file) { return Ordering(file).run(); }

}  // namespace tutti::msccl
