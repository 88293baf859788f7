#include "web/facade/damage.hpp"

#include <algorithm>
#include <array>

#include <tutti/error.hpp>

#include "core/json_value.hpp"
#include "schedule/messages.hpp"

namespace tutti::web {
namespace {

constexpr std::array<std::string_view, 9> kind_names{
    "drop",   "drop_send", "drop_receive", "retarget",      "retarget_send",
    "rename", "resend",    "delay",        "delay_receive",
};

/// A step that owns what Step refers to.
struct LooseStep {
  Step::Kind kind = Step::Kind::send;
  Variant variant{};
  std::uint32_t round = 0;
  std::vector<Rank> peers{};
  std::optional<std::uint32_t> own{};
  Variant own_variant{};
  std::vector<ChunkRange> chunks{};
  std::vector<Variant> sources{};
  bool removed = false;

  explicit LooseStep(const Step& step)
      : kind(step.kind),
        variant(step.variant),
        round(step.round),
        peers(step.peers.begin(), step.peers.end()),
        own(step.own),
        own_variant(step.own_variant),
        chunks(step.chunks.begin(), step.chunks.end()),
        sources(step.sources.begin(), step.sources.end()) {}

  [[nodiscard]] Step view() const {
    return {.kind = kind,
            .variant = variant,
            .round = round,
            .peers = peers,
            .own = own,
            .own_variant = own_variant,
            .chunks = chunks,
            .sources = sources};
  }

  /// Removes the first occurrence of a peer, and the step with its last one.
  void remove(Rank peer) {
    const auto found = std::find(peers.begin(), peers.end(), peer);
    if (found == peers.end()) return;
    if (own && *own > static_cast<std::uint32_t>(found - peers.begin())) --*own;
    peers.erase(found);
    if (peers.empty()) removed = true;
  }
};

using LooseProgram = std::vector<LooseStep>;

/// The programs of a schedule, to be changed. Steps keep their numbers until the end.
class Workbench {
 public:
  explicit Workbench(const Schedule& schedule)
      : schedule_(schedule), messages_(numbered_messages(schedule)) {
    for (const Program& program : schedule.programs) {
      LooseProgram& loose = programs_.emplace_back();
      for (const Step step : program) loose.emplace_back(step);
    }
    added_.resize(programs_.size());
  }

  void apply(const Damage& damage) {
    if (damage.message >= messages_.size()) {
      throw Error(ErrorCode::invalid_argument,
                  "there is no message " + std::to_string(damage.message) + "; the last one is " +
                      std::to_string(messages_.size() - 1));
    }
    const MessageEnds& ends = messages_[damage.message];
    LooseStep& send = at(ends.send);
    LooseStep& receive = at(ends.receive);
    const Rank from = ends.send.rank;
    const Rank to = ends.receive.rank;
    const Rank other{static_cast<std::uint32_t>(damage.value)};
    using Kind = Damage::Kind;
    switch (damage.kind) {
      case Kind::drop:
        send.remove(to);
        receive.remove(from);
        break;
      case Kind::drop_send:
        send.remove(to);
        break;
      case Kind::drop_receive:
        receive.remove(from);
        break;
      case Kind::retarget:
        require_rank(other);
        add_step(other, receive, from);
        receive.remove(from);
        std::replace(send.peers.begin(), send.peers.end(), to, other);
        break;
      case Kind::retarget_send:
        require_rank(other);
        std::replace(send.peers.begin(), send.peers.end(), to, other);
        break;
      case Kind::rename:
        receive.chunks = {ChunkRange(Chunk{damage.value}, receive.view().chunk_count())};
        break;
      case Kind::resend:
        repeat(from, send, to);
        repeat(to, receive, from);
        break;
      case Kind::delay:
        ++send.round;
        ++receive.round;
        break;
      case Kind::delay_receive:
        ++receive.round;
        break;
    }
  }

  [[nodiscard]] Schedule schedule() const {
    std::uint32_t rounds = schedule_.rounds();
    for (const auto* const programs : {&programs_, &added_}) {
      for (const LooseProgram& program : *programs) {
        for (const LooseStep& step : program) rounds = std::max(rounds, step.round + 1);
      }
    }
    Schedule result{
        .name = schedule_.name + ", damaged", .contract = schedule_.contract, .programs = {}};
    for (std::size_t r = 0; r < programs_.size(); ++r) {
      LooseProgram steps = programs_[r];
      steps.insert(steps.end(), added_[r].begin(), added_[r].end());
      // Within a round messages come before local steps.
      std::stable_sort(steps.begin(), steps.end(), [](const LooseStep& a, const LooseStep& b) {
        const auto key = [](const LooseStep& step) {
          return std::pair(step.round, step.kind == Step::Kind::local);
        };
        return key(a) < key(b);
      });
      Program program(rounds);
      for (const LooseStep& step : steps) {
        if (!step.removed) program.append(step.view());
      }
      result.programs.push_back(std::move(program));
    }
    return result;
  }

 private:
  [[nodiscard]] LooseStep& at(const MessageEnd& end) { return programs_[end.rank][end.step]; }

  void require_rank(Rank rank) const {
    if (rank < programs_.size()) return;
    throw Error(ErrorCode::invalid_argument, "there is no rank " + std::to_string(rank));
  }

  void add_step(Rank rank, const LooseStep& like, Rank from) {
    LooseStep step = like;
    step.peers = {from};
    if (step.own) step.own = 0;
    added_[rank].push_back(std::move(step));
  }

  /// One end of the message again, one round later.
  void repeat(Rank rank, const LooseStep& like, Rank peer) {
    add_step(rank, like, peer);
    ++added_[rank].back().round;
  }

  const Schedule& schedule_;
  std::vector<MessageEnds> messages_;
  std::vector<LooseProgram> programs_;
  std::vector<LooseProgram> added_;  // Steps that a rank did not have.
};

}  // namespace

std::string_view name(Damage::Kind kind) { return kind_names.at(static_cast<std::size_t>(kind)); }

std::vector<MessageEnds> numbered_messages(const Schedule& schedule) {
  const Messages pairs(schedule);
  std::vector<std::vector<MessageEnds>> rounds(schedule.rounds());
  for (std::uint32_t r = 0; r < schedule.programs.size(); ++r) {
    const Program& program = schedule.programs[r];
    for (std::size_t s = 0; s < program.size(); ++s) {
      const Step step = program[s];
      if (step.kind != Step::Kind::send) continue;
      const std::span<const std::uint32_t> met = pairs.counterparts(r, s);
      for (std::size_t k = 0; k < met.size(); ++k) {
        rounds[step.round].push_back(
            {.send = {.rank = r, .step = s, .place = k},
             .receive = {.rank = step.peers[k], .step = met[k], .place = 0}});
      }
    }
  }
  std::vector<MessageEnds> all;
  for (const std::vector<MessageEnds>& round : rounds) {
    all.insert(all.end(), round.begin(), round.end());
  }
  return all;
}

std::vector<Damage> read_damage(const JsonReader& arguments) {
  std::vector<Damage> damages;
  for (const JsonReader& each : arguments.value("damage", std::vector<JsonReader>())) {
    const std::string word = each.value("kind", "drop");
    const auto* const found = std::find(kind_names.begin(), kind_names.end(), word);
    if (found == kind_names.end()) {
      throw Error(ErrorCode::invalid_argument, "there is no damage '" + word + "'");
    }
    damages.push_back({.kind = static_cast<Damage::Kind>(found - kind_names.begin()),
                       .message = each.value<std::size_t>("message", 0),
                       .value = each.value<std::uint64_t>("value", 0)});
  }
  return damages;
}

Schedule damaged(const Schedule& schedule, const std::vector<Damage>& damages) {
  Workbench bench(schedule);
  for (const Damage& each : damages) bench.apply(each);
  return bench.schedule();
}

}  // namespace tutti::web
