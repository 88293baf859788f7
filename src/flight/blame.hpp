#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flight/dump_file.hpp"
#include "flight/witness.hpp"

namespace tutti {

/// What the dumps of a communicator's ranks tell together.
struct Blame {
  enum class Verdict {
    fine,
    mismatch,  ///< Ranks called different things.
    hit,       ///< A signal hit some for what they did.
    missing,   ///< Some left no dump.
    behind,    ///< Others wait in a call that these have not begun.
    stuck,     ///< All are in one call, and it does not end.
    slow,      ///< All goes on, but others wait for this one again and again.
  };

  std::uint64_t communicator = 0;
  std::string name{};
  std::uint32_t ranks = 1;
  Verdict verdict = Verdict::fine;
  std::vector<std::uint32_t> accused{};  ///< In order.
  std::optional<std::uint64_t> call{};   ///< In which it shows.
  std::string text{};                    ///< A paragraph for people.
  std::vector<Witness> witnesses{};      ///< By rank.
};

[[nodiscard]] std::string_view name(Blame::Verdict verdict);

/// Reads what happened from the dumps, one verdict for each communicator in them. Of two dumps of
/// one rank the later is heard. The dumps must outlive what is returned.
[[nodiscard]] std::vector<Blame> blame(std::span<const FlightDump> dumps);

}  // namespace tutti
