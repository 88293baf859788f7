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

/// The diagnosis of one communicator from the dumps of its ranks.
struct Blame {
  enum class Verdict {
    fine,
    mismatch,  ///< Ranks made different calls.
    hit,       ///< Some ranks crashed: SIGSEGV, SIGBUS, SIGABRT or SIGFPE.
    missing,   ///< Some ranks left no dump.
    behind,    ///< Other ranks wait in a call that these ranks have not begun.
    stuck,     ///< All ranks are in one call, and it does not end.
    slow,      ///< A straggler: the other ranks repeatedly wait for one rank.
  };

  std::uint64_t communicator = 0;
  std::string name{};
  std::uint32_t ranks = 1;
  Verdict verdict = Verdict::fine;
  std::vector<std::uint32_t> accused{};  ///< The ranks at fault, in ascending order.
  std::optional<std::uint64_t> call{};   ///< The number of the call that failed or hangs.
  std::string text{};                    ///< An explanation, one paragraph.
  std::vector<Witness> witnesses{};      ///< By rank.
};

[[nodiscard]] std::string_view name(Blame::Verdict verdict);

/// Diagnoses each communicator in the dumps. If a rank has several dumps, the latest counts. The
/// dumps must outlive the result.
[[nodiscard]] std::vector<Blame> blame(std::span<const FlightDump> dumps);

}  // namespace tutti
