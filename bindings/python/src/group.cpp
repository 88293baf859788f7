#include "group.hpp"

#include <algorithm>
#include <set>
#include <thread>

#include "errors.hpp"
#include "gil.hpp"

namespace tutti::python {
namespace {

/// All communicators of this process. Used with the GIL.
std::set<Group*>& groups() {
  static auto* const all = new std::set<Group*>;
  return *all;
}

bool& is_shut_down() {
  static bool is = false;
  return is;
}

}  // namespace

CommunicatorOptions with_signals(CommunicatorOptions options) {
  options.while_waiting = check_signals;
  return options;
}

bool wait_for(const Work& work, std::int64_t milliseconds) {
  if (work.test()) {
    work.wait();
    return true;
  }
  const WithoutGil released;
  while (true) {
    const std::int64_t longest = milliseconds_between_signals;
    const std::int64_t now = milliseconds < 0 ? longest : std::min(longest, milliseconds);
    if (work.wait_for(std::chrono::milliseconds(now))) return true;
    check_signals();
    if (milliseconds < 0) continue;
    milliseconds -= now;
    if (milliseconds <= 0) return false;
  }
}

void wait_behind_others(Group& group, const Work& work) {
  try {
    (void)wait_for(work, -1);
  } catch (const PythonFailure& failure) {
    group.abort(std::string("it was interrupted: ") + failure.what());
    throw;
  }
}

Group& group_of(nb::handle communicator) {
  if (!nb::inst_ready(communicator)) refuse("this communicator was not made: call tutti.init()");
  return *nb::inst_ptr<Group>(communicator);
}

void add_methods(nb::handle type, std::span<PyMethodDef> methods) {
  for (PyMethodDef& each : methods) {
    const nb::object descriptor =
        nb::steal(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &each));
    nb::setattr(type, each.ml_name, descriptor);
  }
}

Group::Group(Communicator communicator)
    : communicator_(std::make_shared<Communicator>(std::move(communicator))) {
  groups().insert(this);
}

Group::~Group() {
  groups().erase(this);
  if (!communicator_) return;
  {
    const WithoutGil released;
    communicator_.reset();  // Completes the started calls.
  }
  pending_.clear();
}

std::shared_ptr<Communicator> Group::open() const {
  if (communicator_ && !is_shut_down()) return communicator_;
  throw Error(ErrorCode::aborted, is_shut_down() ? "the interpreter is exiting: make no calls"
                                                 : "this communicator is closed: make a new one");
}

void Group::keep(std::shared_ptr<Operation> operation) {
  sweep();
  pending_.push_back(std::move(operation));
}

void Group::sweep() {
  // Collectives are done in order, but messages are not.
  std::erase_if(pending_, [](const std::shared_ptr<Operation>& each) { return each->work.test(); });
}

bool Group::finish(std::int64_t milliseconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(milliseconds);
  while (has_pending()) {
    const std::shared_ptr<Operation> first = pending_.front();
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (milliseconds >= 0 && left.count() <= 0) return false;
    try {
      (void)wait_for(first->work, milliseconds < 0 ? -1 : left.count());
    } catch (const Error&) {  // Its Work says so.
    }
  }
  return true;
}

void Group::close() {
  if (!communicator_) return;
  (void)finish(-1);
  std::shared_ptr<Communicator> last = std::move(communicator_);
  const WithoutGil released;
  last.reset();
}

void Group::abort(const std::string& reason) {
  const std::shared_ptr<Communicator> communicator = open();
  const WithoutGil released;
  communicator->abort(reason);
}

void shut_down(const std::string& reason, std::int64_t patience_milliseconds) {
  is_shut_down() = true;
  const std::set<Group*> all = groups();
  for (Group* const group : all) {
    if (group->is_closed()) continue;
    try {
      const bool ends_well =
          reason.empty() && group->inside() == 0 && group->finish(patience_milliseconds);
      if (ends_well) continue;
      const WithoutGil released;
      const_cast<Communicator*>(group->peek())
          ->abort(reason.empty() ? "its interpreter exits during a call" : reason);
    } catch (const std::exception&) {  // In a forked child, or after an earlier failure.
    }
  }
  // After an abort every call ends. Threads that made one must leave it before the interpreter ends
  // them, because the end of a thread inside C++ would end the process.
  constexpr int most_naps = 400;
  for (int nap = 0; nap < most_naps; ++nap) {
    const bool is_busy = std::any_of(all.begin(), all.end(), [](const Group* each) {
      return groups().contains(const_cast<Group*>(each)) && each->inside() > 0;
    });
    if (!is_busy) break;
    const WithoutGil released;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (Group* const group : all) {
    if (!groups().contains(group) || group->inside() > 0) continue;
    try {
      group->close();
    } catch (const std::exception&) {
    }
  }
}

}  // namespace tutti::python
