#pragma once

#include <string>

#include <tutti/schedule/schedule.hpp>

#include "render/numbers.hpp"

namespace tutti::cli {

/// What every rank holds after each round, as numbers: {"algorithm", "ranks", "chunks", "rounds":
/// [{"round", "held"}], "output"}. `held` has a list for each rank and chunk, `output` what the
/// collective promises each rank.
[[nodiscard]] std::string numbers_json(const Schedule& schedule, const render::Numbers& numbers);

}  // namespace tutti::cli
