#pragma once

#include <string>
#include <vector>

#include <tutti/export.hpp>

namespace tutti {

/// How ranks that do not yet know where the others are tell them: an allgather of texts over
/// whatever already joins them, be it a launcher, a file, a store of keys and values or another
/// library. Communicator::create() makes a communicator of it.
///
/// What goes through it is believed, and holds the secrets by which ranks will know each other: it
/// must reach these ranks and nobody else.
///
/// For one thread at a time; all ranks must call it equally often.
class TUTTI_API Exchange {
 public:
  virtual ~Exchange();

  /// The texts of all ranks, in order of rank; they may hold any bytes. Waits for all. Throws what
  /// the caller of create() is to see if somebody does not come.
  [[nodiscard]] virtual std::vector<std::string> all_gather(const std::string& text) = 0;
};

}  // namespace tutti
