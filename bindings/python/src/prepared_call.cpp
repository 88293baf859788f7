#include <utility>

#include <nanobind/stl/string.h>

#include "errors.hpp"
#include "gil.hpp"
#include "group.hpp"

namespace tutti::python {
namespace {

/// A prepared call of Python: see tutti.PreparedCall.
struct PythonPreparedCall {
  PreparedCall call;
  std::shared_ptr<Operands> operands;
  nb::object group;
  nb::object result;

  [[nodiscard]] nb::object run() {
    Group& owner = *nb::inst_ptr<Group>(group);
    const Group::Inside inside(owner);
    try {
      // So that closing the group in another thread does not destroy it during the call.
      const std::shared_ptr<Communicator> communicator = owner.open();
      if (owner.has_pending()) {
        wait_behind_others(owner, started(owner)->work);
      } else {
        const WithoutGil released;
        call.run();
      }
    } catch (const Error&) {
      set_python_error(owner.peek());
      throw nb::python_error();
    }
    return result;
  }

  [[nodiscard]] nb::object start() {
    Group& owner = *nb::inst_ptr<Group>(group);
    const Group::Inside inside(owner);
    try {
      const std::shared_ptr<Communicator> communicator = owner.open();
      return make_work(started(owner), group, result);
    } catch (const Error&) {
      set_python_error(owner.peek());
      throw nb::python_error();
    }
  }

 private:
  /// The operation keeps the operands, since this object may be gone before the call is done.
  [[nodiscard]] std::shared_ptr<Operation> started(Group& owner) {
    auto operation = std::make_shared<Operation>();
    operation->operands = operands;
    {
      const WithoutGil released;
      operation->work = call.start();
    }
    owner.keep(operation);
    return operation;
  }
};

}  // namespace

nb::object make_prepared(PreparedCall call, std::shared_ptr<Operands> operands, nb::object group,
                         nb::object result) {
  return nb::cast(PythonPreparedCall{std::move(call), std::move(operands), std::move(group),
                                     std::move(result)});
}

void register_prepared_call(nb::module_& module) {
  nb::class_<PythonPreparedCall>(module, "PreparedCall",
                                 "A collective that is made many times with the same arrays.")
      .def("run", &PythonPreparedCall::run, "Makes the call. Returns what the plain call returns.")
      .def("start", &PythonPreparedCall::start, "Starts the call. Returns a Work.")
      .def_static("__class_getitem__",
                  [](nb::handle /*result*/) { return nb::type<PythonPreparedCall>(); });
}

}  // namespace tutti::python
