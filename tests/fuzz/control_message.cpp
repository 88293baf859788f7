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
  if (message)
    require(encode(*message) == input, "a control message is another when it is written again");
}

void read_as_texts(const std::string& text) {
  if (const auto report = read_report(text)) {
    require(read_report(write(*report)).has_value(), "a report is none when it is read again");
  }
  if (const auto verdict = read_agreed_verdict(text)) {
    require(read_agreed_verdict(write(*verdict)).has_value(),
            "a verdict is none when it is read again");
  }
  const std::string status = write(read_rank_status(text));
  require(write(read_rank_status(status)) == status, "a status is another when read again");
}

/// A member hears anything at all from others, in any order, and time passes. What it has decided
/// stays.
void receive_anything(Tape tape) {
  constexpr std::uint32_t members = 4;
  constexpr std::size_t most_said = 24;
  const auto self = tape.byte() % members;
  Agreement agreement(
      self, members,
      {.send = [](std::uint32_t, ControlMessage::Kind, std::uint32_t, const std::string&) {},
       .decide = [](const Agreement::Evidence&) -> std::optional<std::string> {
         return "decision";
       },
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
                        std::string(tape.take(tape.byte() % most_said)), now);
    }
    if (decided) require(agreement.decision() == decided, "a decision has changed");
    decided = agreement.decision();
  }
}

}  // namespace

void try_control_message(std::string_view input) {
  read_as_message(input);
  read_as_texts(std::string(input));
  receive_anything(Tape(input));
}

}  // namespace tutti::test
