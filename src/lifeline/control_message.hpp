#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

/// What members of a group tell each other when something is out of the ordinary. It belongs to one
/// communicator and, there, to one question that is to be agreed on.
struct ControlMessage {
  enum class Kind : std::uint8_t {
    input,          ///< To the chair: what I have to say to this question. It needs an answer.
    prepare,        ///< From the chair: I preside; what do you know?
    promise,        ///< To the chair: this.
    decide,         ///< From the chair: this is the answer.
    leave,          ///< I have closed this communicator, after so many calls.
    contribution,   ///< To the first of some members: my card in this round of an exchange.
    contributions,  ///< From it: everybody's.
    status,         ///< What I am doing, now and then.
    alive,  ///< The reply to an input or an outdated query: I am alive, and this chair presides.
    acknowledge,  ///< The reply to a decision: I know it.
  };
  static constexpr std::uint8_t last_kind = 9;

  Kind kind = Kind::input;
  std::uint64_t council = 0;   ///< Which communicator.
  std::uint32_t question = 0;  ///< Which question, or round of an exchange.
  std::uint32_t ballot = 0;    ///< Which chair; later ones have higher numbers.
  std::string body{};
};

[[nodiscard]] std::string encode(const ControlMessage& letter);
/// None for what is no letter.
[[nodiscard]] std::optional<ControlMessage> decode_control_message(std::string_view text);

}  // namespace tutti
