#include "lifeline/letter.hpp"

#include "fuzz/finding.hpp"
#include "fuzz/tape.hpp"
#include "fuzz/target.hpp"
#include "lifeline/agreement.hpp"
#include "lifeline/inquest.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

void read_as_letter(std::string_view input) {
  const auto letter = decode_letter(input);
  if (letter) require(encode(*letter) == input, "a letter does not round-trip");
}

void read_as_texts(const std::string& text) {
  if (const auto report = read_report(text)) {
    require(read_report(write(*report)).has_value(), "a report does not round-trip");
  }
  if (const auto ruling = read_ruling(text)) {
    require(read_ruling(write(*ruling)).has_value(), "a ruling does not round-trip");
  }
  const std::string standing = write(read_standing(text));
  require(write(read_standing(standing)) == standing, "a standing does not round-trip");
}

/// A member receives arbitrary letters in any order while time passes. Its decision, once made,
/// must not change.
void test_agreement(Tape tape) {
  constexpr std::uint32_t members = 4;
  constexpr std::size_t most_bytes = 24;
  const auto self = tape.byte() % members;
  Agreement agreement(
      self, members,
      {.send = [](std::uint32_t, Letter::Kind, std::uint32_t, const std::string&) {},
       .judge = [](const Agreement::Hearing&) -> std::optional<std::string> { return "agreed"; },
       .stand = [](const std::string& subject) { return subject; }},
      {});
  Agreement::Clock::time_point now{};
  std::optional<std::string> decided;
  while (!tape.at_end()) {
    const std::uint32_t what = tape.byte();
    const std::uint32_t from = what / 16 % members;
    now += 10ms * tape.byte();
    if (what % 8 == 7) {
      agreement.put("mine", "7", now);
    } else if (what % 8 == 6) {
      agreement.tick(now);
    } else if (from == self) {
      continue;
    } else if (what % 8 == 5) {
      agreement.lose(from, now);
    } else {
      const std::uint32_t ballot = tape.word();
      agreement.hear(from, static_cast<Letter::Kind>(what % 8), ballot,
                     std::string(tape.take(tape.byte() % most_bytes)), now);
    }
    if (decided) require(agreement.decision() == decided, "a decision has changed");
    decided = agreement.decision();
  }
}

}  // namespace

void try_letter(std::string_view input) {
  read_as_letter(input);
  read_as_texts(std::string(input));
  test_agreement(Tape(input));
}

}  // namespace tutti::test
