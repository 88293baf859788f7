#pragma once

#include <chrono>
#include <memory>

#include <tutti/export.hpp>

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

  class State;
  explicit Work(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace tutti
