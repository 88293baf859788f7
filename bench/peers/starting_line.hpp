#pragma once

#include <memory>

#include "peers/peer.hpp"

namespace peers {

/// A barrier before each measured call, the same for all libraries: counters in memory that the
/// ranks share. The barriers of some libraries let one rank go much earlier than the others, which
/// shortens the calls that begin there and lengthens those that end there.
class StartingLine {
 public:
  /// Called on all ranks together.
  explicit StartingLine(Peer& peer);
  StartingLine(const StartingLine&) = delete;
  StartingLine& operator=(const StartingLine&) = delete;
  ~StartingLine();

  /// Returns when all ranks have called it.
  void wait();

 private:
  struct Counters;

  Counters* counters_ = nullptr;
  unsigned ranks_;
  unsigned round_ = 0;
  bool is_crowded_;  // More ranks than cores.
};

}  // namespace peers
