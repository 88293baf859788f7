#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <nanobind/stl/string.h>

#include "arguments.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "group.hpp"

namespace tutti::python {
namespace {

/// A started call of Python: see tutti.Work.
struct PythonWork {
  std::shared_ptr<Operation> operation;
  nb::object group;
  nb::object result;

  [[nodiscard]] bool is_done() const { return operation->work.test(); }

  /// The memory of the call is free again.
  void let_go() {
    operation->operands.reset();
    if (group.is_valid() && nb::inst_ready(group)) nb::inst_ptr<Group>(group)->sweep();
  }

  nb::object wait(const nb::object& timeout) {
    const std::int64_t limit = timeout.is_none() ? -1
                               : PyFloat_AsDouble(timeout.ptr()) == 0
                                   ? 0
                                   : milliseconds_of(timeout, "wait");
    Group& owner = *nb::inst_ptr<Group>(group);
    try {
      bool is_over = is_done();
      {
        const Group::Inside inside(owner);
        if (!is_over || limit != 0) is_over = wait_for(operation->work, limit);
        if (is_over) operation->work.wait();
      }
      if (!is_over) {
        PyErr_SetString(PyExc_TimeoutError, "the call is still under way: wait again");
        throw nb::python_error();
      }
    } catch (const PythonFailure& failure) {
      owner.abort(std::string("it was interrupted: ") + failure.what());
      throw;
    } catch (const Error&) {
      let_go();
      set_python_error(owner.peek());
      throw nb::python_error();
    }
    let_go();
    return result;
  }

  nb::object envelope() {
    if (!is_done()) refuse("the receive is still under way: wait for it first");
    const Envelope found = operation->work.envelope();
    return nb::module_::import_("tutti._communicator")
        .attr("Envelope")(found.rank, found.tag, found.bytes);
  }
};

/// A descriptor that becomes readable when calls are done, for event loops. The library writes to
/// it from its own threads, which never need the GIL.
class Bell {
 public:
  Bell() : descriptor_(std::make_shared<Descriptor>()) {}

  [[nodiscard]] int fileno() const { return descriptor_->number; }
  void ring_after(const PythonWork& work) const {
    work.operation->work.then([descriptor = descriptor_](const std::exception_ptr& /*failure*/) {
      const std::uint64_t one = 1;
      (void)!write(descriptor->number, &one, sizeof one);
    });
  }
  void silence() const {
    std::uint64_t rings = 0;
    (void)!read(descriptor_->number, &rings, sizeof rings);
  }

 private:
  struct Descriptor {
    Descriptor() : number(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
      if (number < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    ~Descriptor() { ::close(number); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number;
  };
  std::shared_ptr<Descriptor> descriptor_;
};

}  // namespace

nb::object make_work(std::shared_ptr<Operation> operation, nb::object group, nb::object result) {
  return nb::cast(PythonWork{std::move(operation), std::move(group), std::move(result)});
}

void register_work(nb::module_& module) {
  nb::class_<PythonWork>(module, "Work", "A call that runs while the program does something else.")
      .def("wait", &PythonWork::wait, nb::arg("timeout") = nb::none(),
           "Waits until the call is done and returns its result. Raises its error, or TimeoutError "
           "after `timeout` seconds.")
      .def("done", &PythonWork::is_done, "Whether the call is done, successfully or not.")
      .def("envelope", &PythonWork::envelope, "The envelope of a receive that is done.")
      .def(
          "__await__",
          [](const nb::handle self) {
            return nb::module_::import_("tutti._aio").attr("wait")(self);
          },
          "Waits in asyncio.")
      // Work[...] in annotations.
      .def_static("__class_getitem__", [](nb::handle /*result*/) { return nb::type<PythonWork>(); })
      .def("__repr__", [](const PythonWork& work) {
        return std::string("<tutti.Work: ") + (work.is_done() ? "done" : "under way") + ">";
      });
  nb::class_<Bell>(module, "Bell")
      .def(nb::init<>())
      .def("fileno", &Bell::fileno)
      .def("ring_after", &Bell::ring_after)
      .def("silence", &Bell::silence);
}

}  // namespace tutti::python
