#include "bucketer.hpp"

#include <bit>
#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <thread>

#include <nanobind/stl/string.h>

#include <tutti/bucketer.hpp>

#include "array.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "group.hpp"
#include "reduction.hpp"

namespace tutti::python {
namespace {

class PythonBucketer;

/// All of this process. Used with the GIL.
std::set<PythonBucketer*>& bucketers() {
  static auto* const all = new std::set<PythonBucketer*>;
  return *all;
}

/// A Bucketer with the memory of its tensors.
class PythonBucketer {
 public:
  /// `tensors` holds arrays, or tuples (count, dtype) for tensors that live in their bucket.
  PythonBucketer(nb::handle communicator, const nb::list& tensors, const nb::object& op,
                 std::uint64_t bucket_bytes, std::uint64_t first_bucket_bytes,
                 const std::string& algorithm, const std::string& reproducible)
      : owner_(nb::borrow(communicator)) {
    std::vector<Tensor> declared;
    for (const nb::handle each : tensors) declared.push_back(declare(each));
    BucketOptions options{.bucket_bytes = bucket_bytes, .first_bucket_bytes = first_bucket_bytes};
    if (nb::isinstance<nb::str>(op)) {
      options.reduction = parse_op(nb::cast<std::string>(op));
    } else {
      throw WrongType("Bucketer: op must be a name, such as 'avg'");
    }
    options.call.algorithm = algorithm;
    options.call.reproducible = parse_reproducible(reproducible);
    Group& group = group_of(communicator);
    const std::shared_ptr<Communicator> opened = group.open();
    const Group::Inside inside(group);
    {
      const WithoutGil released;
      bucketer_.emplace(*opened, declared, options);
    }
    bucketers().insert(this);  // Not before: if the constructor throws, no destructor erases it.
  }
  ~PythonBucketer() {
    bucketers().erase(this);
    close();
  }
  /// Waits for the allreduces under way.
  void close() {
    const WithoutGil released;
    bucketer_.reset();
  }
  PythonBucketer(const PythonBucketer&) = delete;
  PythonBucketer& operator=(const PythonBucketer&) = delete;

  template <class F>
  void call(F f) {
    Group& group = group_of(owner_);
    const std::shared_ptr<Communicator> opened = group.open();
    const Group::Inside inside(group);
    Bucketer& bucketer = inner();
    try {
      const WithoutGil released;
      f(bucketer);
    } catch (const Error&) {
      set_python_error(opened.get());
      throw nb::python_error();
    }
  }
  void ready(std::size_t tensor) {
    call([&](Bucketer& bucketer) { bucketer.ready(tensor); });
    ++ready_;
  }
  void finish() {
    call([&](Bucketer& bucketer) {
      // Otherwise finish() says which tensors are not ready, and does not wait.
      if (ready_ == bytes_.size()) await_all(bucketer);
      bucketer.finish();
    });
    ready_ = 0;
  }
  [[nodiscard]] Bucketer& inner() {
    if (!bucketer_) throw Error(ErrorCode::aborted, "the interpreter is exiting: make no calls");
    return *bucketer_;
  }
  /// The address of a tensor that lives in its bucket, and its length in bytes.
  [[nodiscard]] nb::tuple memory(std::size_t tensor) {
    if (tensor >= bytes_.size()) refuse("Bucketer: there is no tensor " + std::to_string(tensor));
    return nb::make_tuple(std::bit_cast<std::uintptr_t>(inner().data(tensor)), bytes_[tensor]);
  }

 private:
  /// A Bucketer cannot be interrupted, so this waits for it in short sleeps, and runs signal
  /// handlers.
  static void await_all(const Bucketer& bucketer) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::microseconds nap{20};
    const std::chrono::milliseconds between(milliseconds_between_signals);
    Clock::time_point checked = Clock::now();
    for (std::size_t tensor = 0; tensor < bucketer.tensors(); ++tensor) {
      while (!bucketer.test(tensor)) {
        std::this_thread::sleep_for(nap);
        if (Clock::now() < checked + between) continue;
        checked = Clock::now();
        check_signals();
      }
    }
  }

  Tensor declare(nb::handle each) {
    Tensor tensor;
    if (nb::isinstance<nb::tuple>(each)) {
      tensor.count = nb::cast<std::uint64_t>(each[0]);
      tensor.dtype = dtype_named(nb::cast<std::string>(each[1]));
    } else {
      Array& array = arrays_.emplace_back();
      array.acquire(each, "Bucketer", Access::write);
      (void)reduction_of(nb::handle(), array, "Bucketer");
      tensor = {.data = array.data(), .count = array.count(), .dtype = *array.dtype()};
    }
    bytes_.push_back(tensor.bytes());
    return tensor;
  }

  nb::object owner_;
  std::deque<Array> arrays_;
  std::vector<std::uint64_t> bytes_;
  std::size_t ready_ = 0;  // In this step.
  std::optional<Bucketer> bucketer_;
};

}  // namespace

void register_bucketer(nb::module_& module) {
  nb::class_<PythonBucketer>(module, "Bucketer")
      .def(nb::init<nb::handle, const nb::list&, const nb::object&, std::uint64_t, std::uint64_t,
                    const std::string&, const std::string&>())
      .def("ready", &PythonBucketer::ready)
      .def("test",
           [](PythonBucketer& self, std::size_t tensor) { return self.inner().test(tensor); })
      .def("wait",
           [](PythonBucketer& self, std::size_t tensor) {
             self.call([&](Bucketer& bucketer) { bucketer.wait(tensor); });
           })
      .def("finish", &PythonBucketer::finish)
      .def("memory", &PythonBucketer::memory)
      .def("state", [](PythonBucketer& self) { return std::string(name(self.inner().state())); })
      .def("tensors", [](PythonBucketer& self) { return self.inner().tensors(); })
      .def("buckets", [](PythonBucketer& self) { return self.inner().buckets(); })
      .def("bucket_of",
           [](PythonBucketer& self, std::size_t tensor) { return self.inner().bucket_of(tensor); })
      .def("counters",
           [](PythonBucketer& self) {
             const BucketerCounters& counters = self.inner().counters();
             return nb::make_tuple(counters.steps, counters.allreduces, counters.bytes_copied_in,
                                   counters.bytes_copied_out);
           })
      .def("traffic", [](PythonBucketer& self) { return tuple_of(self.inner().traffic()); })
      .def("description", [](PythonBucketer& self) { return self.inner().description(); });
  module.def("close_bucketers", [] {
    const std::set<PythonBucketer*> all = bucketers();
    for (PythonBucketer* const each : all) each->close();
  });
}

}  // namespace tutti::python
