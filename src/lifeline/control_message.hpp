#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

/// A message of the control plane: ranks send it when something out of the ordinary happens. It
/// belongs to one communicator and, within it, to one question or one round of an exchange.
struct ControlMessage {
  /// The number is on the wire: append only.
  enum class Kind : std::uint8_t {
    input,          ///< To the proposer: the sender's input. It expects a reply.
    prepare,        ///< From the proposer: phase 1 of a ballot (see Agreement).
    promise,        ///< To the proposer: the sender's knowledge, and its promise for this ballot.
    decide,         ///< From the proposer: the decision.
    leave,          ///< The sender has closed the communicator; the body is a Leave.
    contribution,   ///< To the first rank of an exchange: the sender's contribution.
    contributions,  ///< From that rank: the contributions of all, packed.
    status,         ///< A RankStatus, sent now and then.
    alive,          ///< Reply to an input or an outdated prepare: alive, and the current ballot.
    acknowledge,    ///< Reply to a decision: it has arrived.
    stopped,        ///< The sender takes part in no call after this one; the body is its number.
  };
  static constexpr std::uint8_t last_kind = 10;

  Kind kind = Kind::input;
  std::uint64_t communicator = 0;
  std::uint32_t question = 0;  ///< Number of the question, or of the round of an exchange.
  std::uint32_t ballot = 0;    ///< Paxos ballot number; see Agreement.
  std::string body{};
};

[[nodiscard]] std::string encode(const ControlMessage& message);
/// Returns nothing if `bytes` is not a control message.
[[nodiscard]] std::optional<ControlMessage> decode_control_message(std::string_view bytes);

}  // namespace tutti
