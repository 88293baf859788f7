#pragma once

#include <nanobind/nanobind.h>

#include <tutti/reduction.hpp>

#include "array.hpp"

namespace tutti::python {

/// The reduction that `op` names, or that it computes if it is a function of two arrays. Throws
/// invalid_argument if it does not apply to the elements. Null: sum.
[[nodiscard]] Reduction reduction_of(nb::handle op, const Array& array, const char* call);

}  // namespace tutti::python
