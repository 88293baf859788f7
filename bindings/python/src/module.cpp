#include <string>

#include <nanobind/nanobind.h>

#include <tutti/message.hpp>

#include "bucketer.hpp"
#include "errors.hpp"
#include "group.hpp"
#include "memory.hpp"
#include "networks.hpp"
#include "numpy_memory.hpp"
#include "schedules.hpp"

NB_MODULE(_core, module) {
  namespace python = tutti::python;
  // Objects that live until the interpreter exits, such as a communicator of a script, are no
  // leaks.
  nanobind::set_leak_warnings(false);
  module.attr("any_rank") = tutti::any_rank;
  module.attr("any_tag") = tutti::any_tag;
  python::register_errors(module);
  python::register_work(module);
  python::register_prepared_call(module);
  python::register_group(module);
  python::register_bucketer(module);
  python::register_memory(module);
  python::register_numpy_memory(module);
  python::register_networks(module);
  python::register_programs(module);
  python::register_schedules(module);
}
