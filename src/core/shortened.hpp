#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti {

/// The limit for messages. More text does not help a reader, and every rank has to pass it on.
inline constexpr std::size_t most_words = 4096;

/// Truncates `words` to `most` bytes without splitting a UTF-8 character. A truncated text ends
/// with its original length, which is included in `most`: "the disk is… (200000000 bytes in all)".
/// Requires: most ≥ 64.
[[nodiscard]] std::string shortened(std::string_view words, std::size_t most = most_words);

}  // namespace tutti
