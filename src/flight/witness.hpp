#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "flight/dump_file.hpp"

namespace tutti {

/// What the dump of one rank has to say. The dump must outlive it.
class Witness {
 public:
  explicit Witness(const FlightDump& dump);

  [[nodiscard]] const FlightDump& dump() const { return *dump_; }
  [[nodiscard]] std::uint32_t rank() const { return dump_->rank; }
  /// Null if it made no call.
  [[nodiscard]] const FlightRecord* last() const;
  /// The collective of that number; null if it made none, or so long ago that it is forgotten.
  [[nodiscard]] const FlightRecord* find(std::uint64_t number) const;
  /// Those that are not forgotten, by number.
  [[nodiscard]] const std::map<std::uint64_t, const FlightRecord*>& collectives() const {
    return collectives_;
  }

  /// Whether its last call failed, or took so long at the time of the dump that something is wrong.
  [[nodiscard]] bool is_waiting() const;
  [[nodiscard]] bool was_hit() const;  ///< By a signal that tells of a defect of the program.

  /// By the wall clock, which is the one that hosts share.
  [[nodiscard]] double begun(const FlightRecord& record) const;
  [[nodiscard]] double ended(const FlightRecord& record) const;
  /// Seconds that the call took, or has taken until the dump.
  [[nodiscard]] double seconds_in(const FlightRecord& record) const;
  /// Seconds from the end of the call to the dump; of one that runs, from its begin.
  [[nodiscard]] double seconds_since(const FlightRecord& record) const;

 private:
  [[nodiscard]] double wall(std::uint64_t steady_ns) const;

  const FlightDump* dump_;
  std::map<std::uint64_t, const FlightRecord*> collectives_;  // By number.
};

/// "rank 3", "ranks 0 to 2 and 7". Requires: in order.
[[nodiscard]] std::string rank_list(std::span<const std::uint32_t> ranks);

}  // namespace tutti
