#pragma once

#include <nanobind/nanobind.h>

#include <tutti/communicator_options.hpp>

namespace tutti::python {

namespace nb = nanobind;

/// The options of a communicator from a dict with the names of CommunicatorOptions. None stands for
/// the default. Throws a TypeError for an unknown name.
[[nodiscard]] CommunicatorOptions options_of(const nb::dict& given);

}  // namespace tutti::python
