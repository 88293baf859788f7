#include <map>
#include <tuple>

#include <tutti/error.hpp>
#include <tutti/schedule/trace.hpp>
#include <tutti/schedule/verify.hpp>

#include "verify/order.hpp"
#include "verify/symbolic_run.hpp"

namespace tutti {
namespace {

const Schedule& verified(const Schedule& schedule) {
  const Verification verdict = verify(schedule, Aliasing::out_of_place);
  if (verdict.ok()) return schedule;
  throw Error(ErrorCode::invalid_argument,
              "'" + schedule.name + "' fails verification: " + verdict.violations.front().message);
}

}  // namespace

class Trace::Run {
 public:
  explicit Run(const Schedule& schedule)
      : schedule_(verified(schedule)),
        messages_(schedule),
        symbolic_(schedule, messages_, Aliasing::out_of_place),
        events_(order_by_round(schedule)) {
    const Contract& contract = schedule.contract;
    for (std::uint32_t r = 0; r < contract.ranks; ++r) {
      std::vector<Symbol>& held = held_.emplace_back(contract.chunks, Symbols::nothing);
      const ChunkSeries input = contract.input(r);
      for (std::uint64_t i = 0; i < input.count; ++i) {
        held[input[i].index()] = symbolic_.at(r, Buffer::input, input[i]);
      }
    }
  }

  void advance() {
    Findings none;
    for (; next_ < events_.size() && round_of(events_[next_]) == round_; ++next_) {
      const Event& event = events_[next_];
      const Variant variant = schedule_.program(event.rank)[event.step].variant;
      symbolic_.make(event.rank, event.step, none);
      for (const Placement::Piece& piece : symbolic_.placement(event.rank).pieces(event.step)) {
        for (std::uint64_t i = 0; i < piece.chunks.count; ++i) {
          const Chunk chunk{piece.chunks.first.index() + i};
          place(event.rank, chunk, variant) = symbolic_.at(event.rank, piece.to, chunk, variant);
        }
      }
    }
    ++round_;
  }

  [[nodiscard]] std::uint32_t round() const { return round_; }
  [[nodiscard]] Symbol held(Rank rank, Chunk chunk, Variant variant) const {
    if (variant == Variant{}) return held_[rank][chunk.index()];
    const auto found = beside_.find({rank, chunk, variant});
    return found == beside_.end() ? Symbols::nothing : found->second;
  }
  [[nodiscard]] const Symbols& symbols() const { return symbolic_.symbols(); }

 private:
  [[nodiscard]] std::uint32_t round_of(const Event& event) const {
    return schedule_.program(event.rank)[event.step].round;
  }

  Symbol& place(Rank rank, Chunk chunk, Variant variant) {
    return variant == Variant{} ? held_[rank][chunk.index()] : beside_[{rank, chunk, variant}];
  }

  const Schedule& schedule_;
  Messages messages_;
  SymbolicRun symbolic_;
  std::vector<Event> events_;
  std::vector<std::vector<Symbol>> held_;
  std::map<std::tuple<Rank, Chunk, Variant>, Symbol> beside_;  // Other variants.
  std::size_t next_ = 0;
  std::uint32_t round_ = 0;
};

Trace::Trace(const Schedule& schedule) : run_(std::make_unique<Run>(schedule)) {}
Trace::~Trace() = default;
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(Trace&&) noexcept = default;

std::uint32_t Trace::round() const { return run_->round(); }
void Trace::advance() { run_->advance(); }
Symbol Trace::held(Rank rank, Chunk chunk, Variant variant) const {
  return run_->held(rank, chunk, variant);
}
const Symbols& Trace::symbols() const { return run_->symbols(); }

}  // namespace tutti
