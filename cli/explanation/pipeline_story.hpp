#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tutti::cli {

/// The lectures' example of a pipeline, f(x) = x² + 5 in two stages, counted: what each rank
/// computes in each unit of time, and how many units, messages and idle units there are.
struct PipelineCount {
  std::size_t units = 0;          ///< With the pipeline: m + p − 1.
  std::size_t one_by_one = 0;     ///< If each number passes both stages before the next: m·p.
  std::size_t messages = 0;       ///< From stage 0 to stage 1.
  std::size_t idle = 0;           ///< Units of all ranks in which they wait.
  std::vector<double> results{};  ///< f(x) of every number.
};

[[nodiscard]] PipelineCount count_pipeline(const std::vector<double>& numbers);

/// As text.
[[nodiscard]] std::string pipeline_story(const std::vector<double>& numbers);
/// As JSON.
[[nodiscard]] std::string pipeline_json(const std::vector<double>& numbers);

}  // namespace tutti::cli
