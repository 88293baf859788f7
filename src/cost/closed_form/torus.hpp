#pragma once

#include "cost/closed_form/terms.hpp"

/// Rings along each dimension of a torus, in one or two directions: problem.values[0].
namespace tutti::formula {

[[nodiscard]] Figures torus_allgather_figures(const Problem& problem, std::uint64_t n);
[[nodiscard]] Figures torus_reduce_scatter_figures(const Problem& problem, std::uint64_t n);
[[nodiscard]] Figures torus_allreduce_figures(const Problem& problem, std::uint64_t n);

[[nodiscard]] double torus_allgather(const Problem& problem, double n, const Model& model);
[[nodiscard]] double torus_reduce_scatter(const Problem& problem, double n, const Model& model);
[[nodiscard]] double torus_allreduce(const Problem& problem, double n, const Model& model);

}  // namespace tutti::formula
