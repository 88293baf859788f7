#pragma once

#include <cstdint>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/schedule/layout.hpp>
#include <tutti/schedule/schedule.hpp>
#include <tutti/schedule/schedule_source.hpp>

namespace tutti {

/// The work of a schedule, counted from its steps. Bytes are counted once, at the sender.
struct Figures {
  std::uint32_t rounds = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;    ///< Sent by all ranks together.
  std::uint64_t reduced = 0;  ///< Bytes added by all ranks together: a fold of k operands adds k−1.
  std::uint64_t most_sent = 0;        ///< By one rank.
  std::uint64_t most_received = 0;    ///< By one rank.
  std::uint64_t most_reduced = 0;     ///< By one rank.
  std::uint64_t most_in_a_round = 0;  ///< Sent by one rank in one round.

  friend bool operator==(const Figures&, const Figures&) = default;
};

/// The work of one rank.
struct RankFigures {
  std::uint64_t messages = 0;  ///< Sent.
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t reduced = 0;
  std::uint64_t most_in_a_round = 0;  ///< Sent.

  friend bool operator==(const RankFigures&, const RankFigures&) = default;
};

/// Counts the program of one rank. Requires: the layout has as many chunks as the schedule.
[[nodiscard]] TUTTI_API RankFigures count(const Program& program, const Layout& layout);

/// Counts a whole schedule, one rank at a time.
[[nodiscard]] TUTTI_API Figures count(const Schedule& schedule, const Layout& layout);
[[nodiscard]] TUTTI_API Figures count(const ScheduleSource& source, const Layout& layout);

}  // namespace tutti
