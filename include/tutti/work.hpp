#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include <tutti/export.hpp>
#include <tutti/message.hpp>

namespace tutti {

/// An asynchronous call: it runs while the caller does something else. Its buffers must stay valid
/// and unchanged until it is done. Destroying a Work does not stop the call.
class TUTTI_API Work {
 public:
  /// Work that is already done.
  Work();

  /// True if the call is done, whether it succeeded or failed.
  [[nodiscard]] bool test() const;
  /// Waits until the call is done. Throws its error if it failed.
  void wait() const;
  /// Waits until the call is done or the time is over. Returns true if it is done. Throws its error
  /// if it failed.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds time) const;

  /// Calls `f` once when the call is done: with null, or with its error. `f` runs in a thread of
  /// the library. It may call communicators and may block. An exception that it throws terminates
  /// the program. Several callbacks run in the order of registration.
  void then(std::function<void(std::exception_ptr)> f) const;

  /// The envelope of a receive that is done.
  [[nodiscard]] Envelope envelope() const;
  /// The envelopes of several receives that were started together, in the order of the request.
  [[nodiscard]] std::vector<Envelope> envelopes() const;

  class TUTTI_HIDDEN State;
  explicit Work(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace tutti
