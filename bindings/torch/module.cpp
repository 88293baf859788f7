#include <array>

#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>

#include <tutti/tutti.h>

#include "backend.hpp"
#include "cpu_allocator.hpp"
#include "failure.hpp"

// The Python module. tutti/torch/_extension.py builds it and passes TUTTI_TORCH_MODULE.

namespace tutti_torch {
namespace {

using OptionsClass = py::class_<Backend::Options, c10::intrusive_ptr<Backend::Options>>;

/// Derived from torch's class of options, which Python knows from torch 2.6 on.
OptionsClass declare_options(py::module_& m, const py::object& backend) {
  if (py::hasattr(backend, "Options")) return {m, "Options", backend.attr("Options")};
  OptionsClass declared(m, "Options");
  declared.def_property_readonly("backend",
                                 [](const Backend::Options& self) { return self.backend; });
  return declared;
}

const char* name_of(tuttiResult_t result) {
  switch (result) {
    case tuttiSuccess:
      return "success";
    case tuttiMismatch:
      return "mismatch";
    case tuttiTimedOut:
      return "timed_out";
    case tuttiPeerLost:
      return "peer_lost";
    case tuttiAborted:
      return "aborted";
    default:
      return "internal";
  }
}

Backend::Options& changeable(Backend::Options& options) {
  if (!options.is_in_use) return options;
  refuse("options",
         "a group uses these, and a change would have no effect: make a new group with "
         "copy.copy() of them, changed");
}

constexpr std::array<const char*, 3> levels{"run", "order", "exact"};

tuttiReproducible_t level_of(const std::string& text) {
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (text == levels.at(i)) return static_cast<tuttiReproducible_t>(i);
  }
  refuse("options", "reproducible is \"" + text + "\"; it is \"run\", \"order\" or \"exact\"");
}

}  // namespace
}  // namespace tutti_torch

PYBIND11_MODULE(TUTTI_TORCH_MODULE, m) {
  using tutti_torch::Backend;
  using tutti_torch::changeable;
  using Options = Backend::Options;
  const auto unlocked = py::call_guard<py::gil_scoped_release>();
  const py::module_ c10d = py::module_::import("torch._C._distributed_c10d");

  const py::object base = c10d.attr("Backend");
  tutti_torch::declare_options(m, base)
      .def(py::init([](std::chrono::milliseconds timeout, std::string algorithm,
                       std::string transport, std::string interfaces,
                       const std::string& reproducible) {
             auto options = c10::make_intrusive<Backend::Options>(timeout);
             options->choice = {.algorithm = std::move(algorithm),
                                .transport = std::move(transport),
                                .interfaces = std::move(interfaces),
                                .reproducible = tutti_torch::level_of(reproducible)};
             return options;
           }),
           py::kw_only(), py::arg("timeout") = kBackendDefaultTimeout, py::arg("algorithm") = "",
           py::arg("transport") = "", py::arg("interfaces") = "", py::arg("reproducible") = "run")
      .def_property(
          "algorithm", [](const Options& self) { return self.choice.algorithm; },
          [](Options& self, std::string text) {
            changeable(self).choice.algorithm = std::move(text);
          })
      .def_property(
          "transport", [](const Options& self) { return self.choice.transport; },
          [](Options& self, std::string text) {
            changeable(self).choice.transport = std::move(text);
          })
      .def_property(
          "interfaces", [](const Options& self) { return self.choice.interfaces; },
          [](Options& self, std::string text) {
            changeable(self).choice.interfaces = std::move(text);
          })
      .def_property(
          "reproducible",
          [](const Options& self) {
            return tutti_torch::levels.at(static_cast<std::size_t>(self.choice.reproducible));
          },
          [](Options& self, const std::string& text) {
            changeable(self).choice.reproducible = tutti_torch::level_of(text);
          })
      .def_property(
          "_timeout", [](const Options& self) { return self.timeout; },
          [](Options& self, std::chrono::milliseconds limit) { changeable(self).timeout = limit; })
      .def("__copy__", [](const Options& self) { return self.copy(); })
      .def("__deepcopy__",
           [](const Options& self, const py::dict& /*memo*/) { return self.copy(); });

  py::class_<Backend, c10::intrusive_ptr<Backend>>(m, "Backend", base)
      .def(py::init([](const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                       const c10::intrusive_ptr<Backend::Options>& options) {
             return c10::make_intrusive<Backend>(store, rank, size, options);
           }),
           py::arg("store"), py::arg("rank"), py::arg("size"), py::arg("options"), unlocked)
      .def_property_readonly("options", &Backend::options)
      .def("_set_default_timeout", &Backend::setTimeout, unlocked)
      .def(
          "failure",
          [](const Backend& self) {
            const tutti_torch::Failure why = self.failure();
            return py::make_tuple(tutti_torch::name_of(why.result), why.ranks, why.reason);
          },
          "The kind of failure ('success', 'peer_lost', …), the ranks that caused it, and why.");
  m.def("_leave_all", &Backend::leave_all, unlocked);
  m.def("share_tensors_from", &tutti_torch::share_tensors_from, py::arg("smallest"));
  m.def("stop_sharing_tensors", &tutti_torch::stop_sharing_tensors);
  m.def(
      "empty_cache", [] { (void)tuttiMemTrim(0); }, unlocked);
}
