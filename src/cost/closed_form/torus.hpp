#pragma once

#include "cost/closed_form/terms.hpp"

namespace tutti::formula {

[[nodiscard]] Figures torus_figures(const Shape& shape, std::uint64_t n);
[[nodiscard]] double torus(const Shape& shape, double n, const Model& model);

}  // namespace tutti::formula
