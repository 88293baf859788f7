#include "core/packed_texts.hpp"

#include <charconv>

namespace tutti {

std::string pack(const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) packed += std::to_string(text.size()) + ":" + text;
  return packed;
}

std::optional<std::vector<std::string>> unpack(const std::string& packed) {
  std::vector<std::string> texts;
  const char* const end = packed.data() + packed.size();
  for (const char* at = packed.data(); at != end;) {
    std::size_t length = 0;
    const auto [colon, failure] = std::from_chars(at, end, length);
    if (failure != std::errc() || colon == end || *colon != ':' ||
        length > static_cast<std::size_t>(end - colon - 1)) {
      return std::nullopt;
    }
    texts.emplace_back(colon + 1, length);
    at = colon + 1 + length;
  }
  return texts;
}

}  // namespace tutti
