#pragma once

#include <cstddef>
#include <string>

#include <tutti/schedule/schedule.hpp>

#include "render/numbers.hpp"
#include "render/paint.hpp"

namespace tutti::render {

/// What is known about the algorithm of a schedule; empty for a schedule from a file.
struct StorySubject {
  std::string summary{};  ///< Algorithm::summary.
  std::string order{};    ///< Algorithm::order.
  /// Shows numbers instead of symbols, if not null.
  const Numbers* numbers = nullptr;
  /// Columns of the terminal: wider tables are folded. 0: any number.
  std::size_t columns = 0;
};

/// Explains a schedule as text, round by round: the messages, and the chunks that each rank holds
/// after them. Requires: the schedule is verified.
[[nodiscard]] std::string story(const Schedule& schedule, const StorySubject& subject,
                                const Paint& paint);

}  // namespace tutti::render
