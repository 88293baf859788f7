#pragma once

#include <string>
#include <vector>

#include <tutti/export.hpp>

namespace tutti {

/// The bootstrap exchange: ranks use it to tell each other their addresses. It is an allgather of
/// strings over any channel that already connects the ranks: a launcher, a file, a key-value store
/// or another library. Communicator::create() makes a communicator from it.
///
/// The exchange is trusted. It carries the secrets with which ranks authenticate each other, so its
/// data must reach these ranks only.
///
/// Not thread-safe. All ranks must call it the same number of times.
class TUTTI_API Exchange {
 public:
  virtual ~Exchange();

  /// Returns the texts of all ranks, one for each, in order of rank; create() throws
  /// invalid_argument for another number. Texts may hold any bytes. Waits for all ranks. If a rank
  /// does not arrive, throws the error that the caller of create() sees.
  [[nodiscard]] virtual std::vector<std::string> all_gather(const std::string& text) = 0;
};

}  // namespace tutti
