#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "peers/peer.hpp"

namespace peers {

/// Forwards the lines of rank 0's standard input to all ranks, which sleep until one arrives.
///
/// In a library, waiting ranks would spin and take cores from the program that is being measured.
/// So lines go through named pipes, on which ranks sleep.
class Relay {
 public:
  /// Called on all ranks together.
  explicit Relay(Peer& peer);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();

  /// Reads the next line, without its line end; false when rank 0's input, or rank 0 itself, has
  /// ended.
  [[nodiscard]] bool next(std::string& line);

 private:
  std::FILE* source_ = nullptr;
  std::vector<std::FILE*> copies_;
};

}  // namespace peers
