#pragma once

#include <nanobind/nanobind.h>

namespace tutti::python {

void register_numpy_memory(nanobind::module_& module);

}  // namespace tutti::python
