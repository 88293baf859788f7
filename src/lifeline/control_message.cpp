#include "lifeline/control_message.hpp"

namespace tutti {
namespace {

constexpr std::size_t head_bytes = 1 + 8 + 4 + 4;

/// Little-endian.
template <class T>
void append(std::string& bytes, T number) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes += static_cast<char>(static_cast<std::uint8_t>(number >> (8 * i)));
  }
}

template <class T>
T take(std::string_view& bytes) {
  T number = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    number |= static_cast<T>(static_cast<T>(static_cast<std::uint8_t>(bytes[i])) << (8 * i));
  }
  bytes.remove_prefix(sizeof(T));
  return number;
}

}  // namespace

std::string encode(const ControlMessage& message) {
  std::string bytes;
  bytes.reserve(head_bytes + message.body.size());
  append(bytes, static_cast<std::uint8_t>(message.kind));
  append(bytes, message.communicator);
  append(bytes, message.question);
  append(bytes, message.ballot);
  return bytes + message.body;
}

std::optional<ControlMessage> decode_control_message(std::string_view bytes) {
  if (bytes.size() < head_bytes) return std::nullopt;
  const auto kind = take<std::uint8_t>(bytes);
  if (kind > ControlMessage::last_kind) return std::nullopt;
  ControlMessage message{.kind = static_cast<ControlMessage::Kind>(kind)};
  message.communicator = take<std::uint64_t>(bytes);
  message.question = take<std::uint32_t>(bytes);
  message.ballot = take<std::uint32_t>(bytes);
  message.body = bytes;
  return message;
}

}  // namespace tutti
