#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tutti/collective.hpp>

/// The names that lectures and papers give to algorithms.
namespace tutti {

/// The name in the table of an algorithm of `collective`, without the collective: "rabenseifner" →
/// "halving_doubling", "Recursive-Doubling" → "recursive_doubling". Empty if there is none.
[[nodiscard]] std::string_view table_name(Collective collective, std::string_view word);

/// The full name in the table: "allreduce/rabenseifner" or "ring-allreduce" → "allreduce/ring".
/// A word without a collective is looked up among all of them. Values of parameters stay. No value
/// if the text names no algorithm. Throws invalid_argument, with the possibilities, if it names one
/// of several collectives.
[[nodiscard]] std::optional<std::string> full_name(std::string_view text);

}  // namespace tutti
