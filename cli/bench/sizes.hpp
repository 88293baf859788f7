#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::cli {

/// The sizes that `tutti bench` measures, in bytes of the larger buffer.
struct BenchSizes {
  std::uint64_t least = 8;
  std::uint64_t most = std::uint64_t{64} << 20;
  std::uint64_t factor = 4;             ///< Between a size and the next.
  std::optional<std::uint64_t> step{};  ///< Added to a size instead, if given.
  std::vector<std::uint64_t> listed{};  ///< Only these, in order, if there are any.

  /// In order of size. Throws invalid_argument if there is none, or too many.
  [[nodiscard]] std::vector<std::uint64_t> all() const;
  [[nodiscard]] std::uint64_t smallest() const { return listed.empty() ? least : listed.front(); }
  [[nodiscard]] std::uint64_t largest() const { return listed.empty() ? most : listed.back(); }
  /// As nccl-tests prints it: "4(factor)", "1024(bytes)"; "0(list)" for listed sizes.
  [[nodiscard]] std::string step_text() const;
};

}  // namespace tutti::cli
