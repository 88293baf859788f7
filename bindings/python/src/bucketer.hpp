#pragma once

#include <nanobind/nanobind.h>

namespace tutti::python {

void register_bucketer(nanobind::module_& module);

}  // namespace tutti::python
