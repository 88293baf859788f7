#pragma once

#include <string>

#include <tutti/schedule/algorithm.hpp>

namespace tutti::cli {

/// The idea of an algorithm, when it wins, its bound and its formulas: {"algorithm", "summary",
/// "idea", "why", "bound", "order", "formula": {"rounds", "bytes", "most_in_a_round", "seconds"}}.
/// `order` is empty if it adds nothing; `formula` is null if it has no closed form.
[[nodiscard]] std::string reason_json(const Algorithm& algorithm);

}  // namespace tutti::cli
