#include "verify/races.hpp"

namespace tutti {
namespace {

/// The last read and write of some bytes.
struct Touched {
  static constexpr std::uint32_t never = ~std::uint32_t{0};

  std::uint32_t read_round = never;
  std::uint32_t read_step = never;
  std::uint32_t write_round = never;
  std::uint32_t write_step = never;
};

/// Bytes as a step names them.
struct Named {
  Buffer buffer;
  Chunk chunk;
  Variant variant{};
};

class RaceCheck {
 public:
  RaceCheck(const Memory& memory, Rank self, Findings& findings)
      : memory_(memory), self_(self), findings_(findings), touched_(memory.size()) {}

  void read(const Named& what, std::uint32_t round, std::uint32_t step) {
    Touched& bytes = touched_[place(what)];
    if (bytes.write_round == round && bytes.write_step != step) {
      report(what, round, step, bytes.write_step, "reads", "writes");
    }
    bytes.read_round = round;
    bytes.read_step = step;
  }

  void write(const Named& what, std::uint32_t round, std::uint32_t step) {
    Touched& bytes = touched_[place(what)];
    if (bytes.write_round == round && bytes.write_step != step) {
      report(what, round, step, bytes.write_step, "writes", "writes");
    }
    if (bytes.read_round == round && bytes.read_step != step) {
      report(what, round, step, bytes.read_step, "writes", "reads");
    }
    bytes.write_round = round;
    bytes.write_step = step;
  }

  /// Records a local step. It runs after all earlier steps of its round, so it cannot race.
  void touch_in_turn(const Named& what, std::uint32_t round, std::uint32_t step, bool writes) {
    Touched& bytes = touched_[place(what)];
    (writes ? bytes.write_round : bytes.read_round) = round;
    (writes ? bytes.write_step : bytes.read_step) = step;
  }

  [[nodiscard]] std::size_t place(const Named& what) const {
    return memory_(what.buffer, what.chunk, what.variant);
  }

  /// A copy that may run at any time must not share bytes with any step.
  void copy_any_time(const Placement::Copy& copy, Chunk chunk) {
    const Touched& source = touched_[memory_(copy.from, chunk)];
    const Touched& target = touched_[memory_(copy.to, chunk)];
    if (source.write_round == Touched::never && target.write_round == Touched::never &&
        target.read_round == Touched::never) {
      return;
    }
    findings_.add(Violation::Kind::race, {.rank = self_, .chunk = chunk},
                  "the copy from " + std::string(name(copy.from)) + " to " +
                      std::string(name(copy.to)) + " touches bytes that a step writes");
  }

 private:
  void report(const Named& what, std::uint32_t round, std::uint32_t step, std::uint32_t other,
              const char* does, const char* other_does) {
    const std::string bytes = what.variant == Variant{}
                                  ? "the " + std::string(name(what.buffer))
                                  : "variant " + std::to_string(what.variant.index());
    findings_.add(Violation::Kind::race,
                  {.rank = self_, .round = round, .step = step, .chunk = what.chunk},
                  std::string(does) + " " + bytes + " that step " + std::to_string(other) +
                      " of the same round " + other_does);
  }

  const Memory& memory_;
  Rank self_;
  Findings& findings_;
  std::vector<Touched> touched_;
};

}  // namespace

void check_races(const Program& program, const Placement& placement, const Memory& memory,
                 Rank self, Findings& findings) {
  RaceCheck check(memory, self, findings);
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    const Step step = program[i];
    for (const Placement::Piece& piece : placement.pieces(i)) {
      for (std::uint64_t j = 0; j < piece.chunks.count; ++j) {
        const Chunk chunk{piece.chunks.first.index() + j};
        const Named made{.buffer = piece.to, .chunk = chunk, .variant = step.variant};
        step.for_each_read([&](Variant variant) {
          const Named what{.buffer = piece.from, .chunk = chunk, .variant = variant};
          if (step.kind == Step::Kind::local) {
            check.touch_in_turn(what, step.round, i, false);
            return;
          }
          // A fold in place works element by element, so this read is part of the write.
          const bool is_part = step.makes() && check.place(what) == check.place(made);
          if (!is_part) check.read(what, step.round, i);
        });
        if (step.kind == Step::Kind::receive) check.write(made, step.round, i);
        if (step.kind == Step::Kind::local) check.touch_in_turn(made, step.round, i, true);
      }
    }
  }
  for (const Placement::Copy& copy : placement.aside()) {
    for (std::uint64_t j = 0; j < copy.chunks.count; ++j) {
      check.copy_any_time(copy, Chunk{copy.chunks.first.index() + j});
    }
  }
}

}  // namespace tutti
