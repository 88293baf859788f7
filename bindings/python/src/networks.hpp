#pragma once

#include <nanobind/nanobind.h>

#include <tutti/network/network.hpp>

namespace tutti::python {

namespace nb = nanobind;

/// A network of Python: a Network, or its spec or file: "torus:4x4".
[[nodiscard]] Network network_of(nb::handle network);

void register_networks(nb::module_& module);

}  // namespace tutti::python
