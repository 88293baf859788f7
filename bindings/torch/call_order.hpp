#pragma once

#include <chrono>
#include <deque>
#include <list>
#include <memory>

#include <c10/util/intrusive_ptr.h>

#include "work.hpp"

namespace tutti_torch {

/// The callbacks of one work, as the origin of calls.
struct Origin {
  std::weak_ptr<Origin> made_in{};  ///< The origin of the work itself.
};

/// The calls of this thread are of this origin until the end of the scope. None: of the program.
class AsOrigin {
 public:
  explicit AsOrigin(std::shared_ptr<Origin> origin);
  AsOrigin(const AsOrigin&) = delete;
  AsOrigin& operator=(const AsOrigin&) = delete;
  ~AsOrigin();

 private:
  std::shared_ptr<Origin> before_;
};

/// The order of the works of one group. Not synchronised.
///
/// It is the one of a program whose works are done at once, so that callbacks run where they are
/// attached: the works that the callbacks of a work queue come before the next work of the program.
/// So all ranks have the same order, whenever callbacks run.
///
/// Each origin has a frame, and frames are a stack: the works of the last one come first, and while
/// its callbacks run, the others wait. But callbacks may wait for something that a later work
/// brings about: those that go some seconds without a work of their own no longer hold up others.
class CallOrder {
 public:
  using Work = c10::intrusive_ptr<CollectiveWork>;
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool is_empty() const;
  /// Whether a work may run now.
  [[nodiscard]] bool is_ready() { return turn() != nullptr; }
  /// Until when works are held up by callbacks, if they are.
  [[nodiscard]] Clock::time_point hold_end() const;

  /// Appends a call of this thread.
  void push(Work work);
  /// Removes the work that runs next. Requires is_ready().
  [[nodiscard]] Work pop();
  /// Whether a call of this thread would run next, and now.
  [[nodiscard]] bool is_turn_of_caller();

  /// A call of this thread is done, without push().
  void note_call() { renew(frame_of_caller()); }
  /// A work is done.
  void note_end(const CollectiveWork& work);
  /// The callbacks of a work that is done begin. Returns the origin of their calls.
  [[nodiscard]] std::shared_ptr<Origin> open(const CollectiveWork& work);
  /// They are done.
  void close(const std::shared_ptr<Origin>& origin);
  /// For a thread that waits for more than its own works. If it is in a callback, later works need
  /// not wait for the end of that.
  void let_go();

 private:
  struct Frame {
    std::shared_ptr<Origin> origin{};  // None: the program.
    Clock::time_point overdue{};       // When it no longer holds up the frames before it.
    bool is_open = false;              // Its callbacks are not done.
    std::deque<Work> works{};
  };

  /// The frame whose work runs next, if one may run now. `caller` counts as if it had one.
  [[nodiscard]] Frame* turn(const Frame* caller = nullptr);
  [[nodiscard]] Frame* frame_of(const std::shared_ptr<Origin>& origin);
  [[nodiscard]] Frame& frame_of_caller();
  static void renew(Frame& frame);
  void drop_ended_frames();

  std::list<Frame> frames_{1};  // The first one, of the program, stays.
};

}  // namespace tutti_torch
