#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "peers/peer.hpp"

namespace peers {

/// Hands the lines of rank 0's standard input to all ranks, which sleep until one comes.
///
/// A library would let its ranks spin while they wait, and steal the cores from whoever is being
/// measured meanwhile; so lines travel through named pipes, in which the kernel lets them sleep.
class Relay {
 public:
  /// On all ranks together.
  explicit Relay(Peer& peer);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();

  /// The next line, without its end; false when rank 0's input has ended, or rank 0 has.
  [[nodiscard]] bool next(std::string& line);

 private:
  std::FILE* source_ = nullptr;
  std::vector<std::FILE*> copies_;
};

}  // namespace peers
