#include "lifeline/control_message.hpp"

#include "fuzz/finding.hpp"
#include "fuzz/tape.hpp"
#include "fuzz/target.hpp"
#include "lifeline/agreement.hpp"
#include "lifeline/failure_inquiry.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

void read_as_message(std::string_view input) {
  const auto message = decode_control_message(input);
  if (message) require(encode(*message) == input, "a control message does not round-trip");
}

void read_as_texts(const std::string& text) {
  if (const auto report = read_report(text)) {
    require(read_report(write(*report)).has_value(), "a report does not round-trip");
  }
  if (const auto verdict = read_agreed_verdict(text)) {
    require(read_agreed_verdict(write(*verdict)).has_value(), "a verdict does not round-trip");
  }
  const std::string status = write(read_rank_status(text));
  require(write(read_rank_status(status)) == status, "a status does not round-trip");
}

/// A member receives arbitrary messages in any order while time passes. Its decision, once made,
/// must not change.
void test_agreement(Tape tape) {
  constexpr std::uint32_t members = 4;
  constexpr std::size_t most_bytes = 24;
  const auto self = tape.byte() % members;
  Agreement agreement(
      self, members,
      {.send = [](const auto&...) {},
       .decide = [](const Agreement::Evidence&) -> std::optional<std::string> { return "agreed"; },
       .describe = [](const std::string& subject) { return subject; }},
      {});
  Agreement::Clock::time_point now{};
  std::optional<std::string> decided;
  while (!tape.at_end()) {
    const std::uint32_t what = tape.byte();
    const std::uint32_t from = what / 16 % members;
    now += 10ms * tape.byte();
    if (what % 8 == 7) {
      agreement.submit("mine", "7", now);
    } else if (what % 8 == 6) {
      agreement.tick(now);
    } else if (from == self) {
      continue;
    } else if (what % 8 == 5) {
      agreement.lose(from, now);
    } else {
      const std::uint32_t ballot = tape.word();
      agreement.receive(from, static_cast<ControlMessage::Kind>(what % 8), ballot,
                        std::string(tape.take(tape.byte() % most_bytes)), now);
    }
    if (decided) require(agreement.decision() == decided, "a decision has changed");
    decided = agreement.decision();
  }
}

}  // namespace

void try_control_message(std::string_view input) {
  read_as_message(input);
  read_as_texts(std::string(input));
  test_agreement(Tape(input));
}

}  // namespace tutti::test
