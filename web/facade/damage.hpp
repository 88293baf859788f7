#pragma once

#include <string>
#include <vector>

#include <tutti/schedule/schedule.hpp>

#include "core/json.hpp"

namespace tutti::web {

/// One message of a schedule: the `to_place`-th peer of a send, and the matching place in a
/// receive.
struct MessageEnd {
  Rank rank{};
  std::size_t step = 0;
  std::size_t place = 0;
};
struct MessageEnds {
  MessageEnd send{};
  MessageEnd receive{};
};

/// All messages of a schedule whose sends and receives match, by round, then by sender. The index
/// of a message is its number in damages and pictures.
[[nodiscard]] std::vector<MessageEnds> numbered_messages(const Schedule& schedule);

/// A change that makes a schedule wrong, or not.
struct Damage {
  enum class Kind : std::uint8_t {
    drop,           ///< Neither sent nor received.
    drop_send,      ///< The receiver waits in vain.
    drop_receive,   ///< Sent, but nobody receives it.
    retarget,       ///< Sent to rank `value`, which receives it.
    retarget_send,  ///< Sent to rank `value`, which does not expect it.
    rename,         ///< Received as chunk `value`.
    resend,         ///< Sent and received once more, a round later.
    delay,          ///< Both ends one round later.
    delay_receive,  ///< Received one round later.
  };

  Kind kind = Kind::drop;
  std::size_t message = 0;
  std::uint64_t value = 0;
};

/// The word of a kind in JSON: "drop_send".
[[nodiscard]] std::string_view name(Damage::Kind kind);

/// "damage": a list of {"kind", "message", "value"}.
[[nodiscard]] std::vector<Damage> read_damage(const JsonReader& arguments);

/// The schedule with all these changes. Throws invalid_argument for a message that it does not
/// have.
[[nodiscard]] Schedule damaged(const Schedule& schedule, const std::vector<Damage>& damages);

}  // namespace tutti::web
