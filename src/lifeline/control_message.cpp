#include "lifeline/control_message.hpp"

#include <cstring>

namespace tutti {
namespace {

constexpr std::size_t head_bytes = 1 + 8 + 4 + 4;

/// The low bytes first.
template <class T>
void append(std::string& text, T number) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    text += static_cast<char>(static_cast<std::uint8_t>(number >> (8 * i)));
  }
}

template <class T>
T take(std::string_view& text) {
  T number = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    number |= static_cast<T>(static_cast<T>(static_cast<std::uint8_t>(text[i])) << (8 * i));
  }
  text.remove_prefix(sizeof(T));
  return number;
}

}  // namespace

std::string encode(const ControlMessage& letter) {
  std::string text;
  text.reserve(head_bytes + letter.body.size());
  append(text, static_cast<std::uint8_t>(letter.kind));
  append(text, letter.council);
  append(text, letter.question);
  append(text, letter.ballot);
  return text + letter.body;
}

std::optional<ControlMessage> decode_control_message(std::string_view text) {
  if (text.size() < head_bytes) return std::nullopt;
  const auto kind = take<std::uint8_t>(text);
  if (kind > ControlMessage::last_kind) return std::nullopt;
  ControlMessage letter{.kind = static_cast<ControlMessage::Kind>(kind)};
  letter.council = take<std::uint64_t>(text);
  letter.question = take<std::uint32_t>(text);
  letter.ballot = take<std::uint32_t>(text);
  letter.body = text;
  return letter;
}

}  // namespace tutti
