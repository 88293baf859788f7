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
  /// Of this thread.
  [[nodiscard]] static CallGroup& own();

  [[nodiscard]] bool is_open() const { return depth_ > 0; }
  void open() { ++depth_; }
  /// A collective that was begun.
  void add(Work work) { works_.push_back(std::move(work)); }
  /// Messages to be begun with all others. The envelope of what is received goes to `envelope`,
  /// which may be null.
  void add(Communicator& communicator, const PairOfMessages& messages, tuttiEnvelope_t* envelope);
  /// The last begins the messages, waits for all, and throws what the first that failed has thrown.
  void close();

 private:
  struct Messages {
    Communicator* communicator;
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    std::vector<tuttiEnvelope_t*> envelopes;  // Of each of `in`.
  };

  std::size_t depth_ = 0;
  std::vector<Messages> messages_;
  std::vector<Work> works_;
};

}  // namespace tutti
