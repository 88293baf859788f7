#pragma once

#include <string>
#include <vector>

#include "cli/measure/regret.hpp"

namespace tutti::cli {

/// The rows as a table, a summary of the regrets, and the errors of the predictions.
[[nodiscard]] std::string regret_table(const std::vector<measure::RegretRow>& rows);

}  // namespace tutti::cli
