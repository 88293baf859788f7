#include "core/shortened.hpp"

#include "core/quantity.hpp"

namespace tutti {

std::string shortened(std::string_view words, std::size_t most) {
  if (words.size() <= most) return std::string(words);
  const std::string note = "… (" + in_plural(words.size(), "byte") + " in all)";
  const auto is_inner = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; };
  constexpr std::size_t longest_character = 4;
  const std::size_t room = most - note.size();
  std::size_t end = room;
  // Text that is not UTF-8 is cut anywhere.
  while (end + longest_character > room && is_inner(words[end])) --end;
  return std::string(words.substr(0, end)) + note;
}

}  // namespace tutti
