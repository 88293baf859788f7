#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti {

/// Longer words tell people nothing more, and would keep all ranks busy.
inline constexpr std::size_t most_words = 4096;

/// The words themselves if they have no more bytes than that; else their beginning, no character of
/// UTF-8 torn, and how many bytes they had, which makes no more than `most` together: "the disk is…
/// (200000000 bytes in all)". Requires: most ≥ 64.
[[nodiscard]] std::string shortened(std::string_view words, std::size_t most = most_words);

}  // namespace tutti
