#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/message.hpp>

namespace tutti {

/// A call that goes on while the caller does something else. Its buffers must stay as they are
/// until it is done. Letting go of a Work does not stop the call.
class TUTTI_API Work {
 public:
  /// Work that is done already.
  Work();

  /// Whether it is done, well or not.
  [[nodiscard]] bool test() const;
  /// Waits until it is done, and throws what went wrong, if anything did.
  void wait() const;
  /// Waits until it is done or the time is over; returns whether it is done. Throws what went
  /// wrong.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds time) const;

  /// Calls `f` once, when it is done: with null, or with what went wrong. It is called in a thread
  /// of tutti's, where it may call communicators and need not hurry; what it throws ends the
  /// program. Several are called in their order.
  void then(std::function<void(std::exception_ptr)> f) const;

  /// Of a receive that is done: who has sent what was received, by which tag, and how long it was.
  [[nodiscard]] Envelope envelope() const;
  /// Of several receives that were begun together, in the order in which they were asked for.
  [[nodiscard]] std::vector<Envelope> envelopes() const;

  class TUTTI_HIDDEN State;
  explicit Work(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace tutti
