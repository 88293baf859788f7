#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include <tutti/communicator.hpp>

#include "array.hpp"

namespace tutti::python {

/// What a call uses until it is done.
struct Operands {
  Array input;
  Array output;
  std::vector<std::uint64_t> counts{};
  std::vector<std::uint64_t> output_counts{};
  /// Objects that keep the memory of others from being resized.
  std::vector<nb::object> pins{};
};

/// An asynchronous call with its memory.
struct Operation {
  Work work{};
  std::shared_ptr<Operands> operands{};
};

/// The communicator of a Python object. All members are used with the GIL, except where noted.
class Group {
 public:
  explicit Group(Communicator communicator);
  /// Leaves the group. Works in a forked child, where it does nothing.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// For one call. Throws aborted if it is closed. Shared, so that close() in another thread does
  /// not destroy it during the call.
  [[nodiscard]] std::shared_ptr<Communicator> open() const;
  [[nodiscard]] const Communicator* peek() const { return communicator_.get(); }
  [[nodiscard]] bool is_closed() const { return communicator_ == nullptr; }

  /// Keeps the memory of an asynchronous call until it is done, whether or not Python keeps its
  /// Work.
  void keep(std::shared_ptr<Operation> operation);
  /// Frees the memory of the calls that are done.
  void sweep();
  [[nodiscard]] bool has_pending() {
    if (!pending_.empty()) sweep();
    return !pending_.empty();
  }
  /// Waits for the asynchronous calls, at most so long. Returns whether all are done. Their errors
  /// are those of their Work. Releases the GIL; throws PythonFailure for Ctrl-C.
  bool finish(std::int64_t milliseconds);
  /// Waits for the asynchronous calls, then leaves the group.
  void close();
  void abort(const std::string& reason);

  /// Counts the calls that other threads make, for shutdown(). Used with the GIL.
  class Inside {
   public:
    explicit Inside(Group& group) : group_(group) { ++group_.inside_; }
    ~Inside() { --group_.inside_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Group& group_;
  };
  [[nodiscard]] int inside() const { return inside_.load(); }

 private:
  std::shared_ptr<Communicator> communicator_;
  std::deque<std::shared_ptr<Operation>> pending_;
  std::atomic<int> inside_{0};
};

/// Waits for a work, with the GIL released, and runs signal handlers meanwhile. Returns false if
/// the time is over first; negative: no limit. Throws the error of the work.
bool wait_for(const Work& work, std::int64_t milliseconds);

/// For a call that must wait until asynchronous ones before it are done, so that it runs in a
/// thread of the library. That cannot run signal handlers; this can, and aborts the group if one
/// throws.
void wait_behind_others(Group& group, const Work& work);

/// Options whose while_waiting runs Python's signal handlers.
[[nodiscard]] CommunicatorOptions with_signals(CommunicatorOptions options);

/// When the interpreter exits: ends all calls and leaves all groups, because no thread may use the
/// memory of Python objects afterwards. Calls get `patience` to finish, then they are aborted.
void shut_down(const std::string& reason, std::int64_t patience_milliseconds);

/// The group of a Python communicator. Throws if its __init__() was not called.
[[nodiscard]] Group& group_of(nb::handle communicator);
/// (calls, waits, a tuple for each peer): what Counters of the package is made from.
[[nodiscard]] nb::tuple tuple_of(const Counters& counters);
/// Adds methods in CPython's vectorcall form to a class. The definitions must live forever.
void add_methods(nb::handle type, std::span<PyMethodDef> methods);

void register_group(nb::module_& module);
void register_collectives(nb::handle type);
void register_messages(nb::handle type);
void register_work(nb::module_& module);
void register_prepared_call(nb::module_& module);

/// The Python object of a started call: a Work.
[[nodiscard]] nb::object make_work(std::shared_ptr<Operation> operation, nb::object group,
                                   nb::object result);
/// The Python object of a prepared call: a PreparedCall.
[[nodiscard]] nb::object make_prepared(PreparedCall call, std::shared_ptr<Operands> operands,
                                       nb::object group, nb::object result);

}  // namespace tutti::python
