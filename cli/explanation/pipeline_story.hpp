#pragma once

#include <string>
#include <vector>

namespace tutti::cli {

/// A textbook example of a pipeline, f(x) = x² + 5 in two stages, as text: what each rank
/// computes in each unit of time, and how many units, messages and idle units there are.
[[nodiscard]] std::string pipeline_story(const std::vector<double>& numbers);
/// As JSON.
[[nodiscard]] std::string pipeline_json(const std::vector<double>& numbers);

}  // namespace tutti::cli
