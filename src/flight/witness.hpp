#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "flight/dump_file.hpp"

namespace tutti {

/// Queries on the dump of one rank. The dump must outlive it.
class Witness {
 public:
  explicit Witness(const FlightDump& dump);

  [[nodiscard]] const FlightDump& dump() const { return *dump_; }
  [[nodiscard]] std::uint32_t rank() const { return dump_->rank; }
  /// The last record; null if there is none.
  [[nodiscard]] const FlightRecord* last() const;
  /// The collective with that number; null if the dump does not contain it.
  [[nodiscard]] const FlightRecord* find(std::uint64_t number) const;
  /// The collectives in the dump, by number.
  [[nodiscard]] const std::map<std::uint64_t, const FlightRecord*>& collectives() const {
    return collectives_;
  }

  /// True if the last call failed, or had run for at least a second at the time of the dump.
  [[nodiscard]] bool is_waiting() const;
  /// True if a crash signal caused the dump: SIGSEGV, SIGBUS, SIGABRT or SIGFPE.
  [[nodiscard]] bool was_hit() const;

  /// In seconds by the wall clock, which can be compared between hosts.
  [[nodiscard]] double begun(const FlightRecord& record) const;
  [[nodiscard]] double ended(const FlightRecord& record) const;
  /// Duration of the call in seconds, until the dump if it is running.
  [[nodiscard]] double seconds_in(const FlightRecord& record) const;
  /// Seconds from the end of the call to the dump; from its begin if it is running.
  [[nodiscard]] double seconds_since(const FlightRecord& record) const;

 private:
  [[nodiscard]] double wall(std::uint64_t steady_ns) const;

  const FlightDump* dump_;
  std::map<std::uint64_t, const FlightRecord*> collectives_;  // By number.
};

/// "rank 3", "ranks 0 to 2 and 7". Requires: ascending order.
[[nodiscard]] std::string rank_list(std::span<const std::uint32_t> ranks);

}  // namespace tutti
