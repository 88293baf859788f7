#pragma once

#include <string>
#include <vector>

namespace tutti {

/// How ranks that do not yet know where the others are tell them: all of them put a card on the
/// table, and each takes home a copy of all.
///
/// For one thread at a time; all ranks must call it equally often.
class Exchange {
 public:
  virtual ~Exchange() = default;

  /// The cards of all ranks, in order of rank. Throws timed_out that names the ranks that are
  /// missing, or peer_lost.
  [[nodiscard]] virtual std::vector<std::string> all(const std::string& card) = 0;
};

}  // namespace tutti
