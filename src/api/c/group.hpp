#pragma once

#include <cstddef>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/tutti.h>

#include "api/c/request.hpp"

namespace tutti {

/// The calls that a thread makes between tuttiGroupStart and tuttiGroupEnd.
class CallGroup {
 public:
  /// The group of this thread.
  [[nodiscard]] static CallGroup& own();

  [[nodiscard]] bool is_open() const { return depth_ > 0; }
  void open() { ++depth_; }
  /// Adds a collective that was started.
  void add(Work work) { works_.push_back(std::move(work)); }
  /// Adds messages, which close() starts together. `envelope` gets the envelope of the received
  /// message and may be null.
  void add(Communicator& communicator, const PairOfMessages& messages, tuttiEnvelope_t* envelope);
  /// The outermost close() starts the messages, waits for all calls, and throws the error of the
  /// first that failed.
  void close();

 private:
  struct Messages {
    Communicator* communicator;
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    std::vector<tuttiEnvelope_t*> envelopes;  // One for each of `in`.
  };

  std::size_t depth_ = 0;
  std::vector<Messages> messages_;
  std::vector<Work> works_;
};

}  // namespace tutti
