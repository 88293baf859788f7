#pragma once

#include <cstdint>
#include <span>

#include "cost/closed_form/terms.hpp"

/// The times of the algorithms that others are built from, and the closed forms of each collective:
/// see the file of the same name. Times are for p ranks with buffers of n bytes, as for
/// even_layout(). For p = 1 the time is 0 unless stated otherwise.
namespace tutti::formula {

namespace broadcast {
/// Requires: p ≥ 2.
[[nodiscard]] double flat(std::uint64_t p, double n, const Model& model);
[[nodiscard]] double binomial(std::uint64_t p, double n, const Model& model);
[[nodiscard]] double binary_tree(std::uint64_t p, double n, const Model& model);
[[nodiscard]] double chain(std::uint64_t p, double n, const Model& model);
/// Down one of the trees of a double tree.
[[nodiscard]] double inorder_tree(std::uint64_t size, double n, const Model& model);
[[nodiscard]] std::span<const ClosedForm> closed_forms();
}  // namespace broadcast

namespace scatter {
[[nodiscard]] double binomial(std::uint64_t p, double n, const Model& model);
[[nodiscard]] double knomial(const Problem& problem, double n, const Model& model);
[[nodiscard]] std::span<const ClosedForm> closed_forms();
}  // namespace scatter

namespace gather {
[[nodiscard]] double binomial(std::uint64_t p, double n, const Model& model);
[[nodiscard]] std::span<const ClosedForm> closed_forms();
}  // namespace gather

namespace allgather {
/// Requires: p ≥ 2.
[[nodiscard]] double mesh(std::uint64_t p, double n, const Model& model);
[[nodiscard]] double ring(std::uint64_t p, double n, const Model& model);
[[nodiscard]] double bidirectional_ring(std::uint64_t p, double n, const Model& model);
[[nodiscard]] Seconds recursive_doubling(std::uint64_t p, double n, const Model& model);
[[nodiscard]] double bruck(std::uint64_t p, double n, const Model& model);
[[nodiscard]] std::span<const ClosedForm> closed_forms();
}  // namespace allgather

namespace reduce {
/// Requires: p ≥ 2.
[[nodiscard]] double flat(std::uint64_t p, double n, const Model& model);
[[nodiscard]] double binomial(std::uint64_t p, double n, const Model& model);
[[nodiscard]] double binary_tree(std::uint64_t p, double n, const Model& model);
[[nodiscard]] double chain(std::uint64_t p, double n, const Model& model);
/// Up one of the trees of a double tree.
[[nodiscard]] double inorder_tree(std::uint64_t size, double n, const Model& model);
[[nodiscard]] std::span<const ClosedForm> closed_forms();
}  // namespace reduce

namespace reduce_scatter {
/// Requires: p ≥ 2.
[[nodiscard]] double mesh(std::uint64_t p, double n, const Model& model);
[[nodiscard]] double ring(std::uint64_t p, double n, const Model& model);
/// Requires: p ≥ 2.
[[nodiscard]] double bidirectional_ring(std::uint64_t p, double n, const Model& model);
[[nodiscard]] Seconds recursive_halving(std::uint64_t p, double n, const Model& model);
[[nodiscard]] double bruck(std::uint64_t p, double n, const Model& model);
[[nodiscard]] std::span<const ClosedForm> closed_forms();
}  // namespace reduce_scatter

namespace allreduce {
[[nodiscard]] double binomial(std::uint64_t p, double n, const Model& model);
[[nodiscard]] std::span<const ClosedForm> closed_forms();
}  // namespace allreduce

namespace alltoall {
[[nodiscard]] std::span<const ClosedForm> closed_forms();
}  // namespace alltoall

namespace barrier {
[[nodiscard]] std::span<const ClosedForm> closed_forms();
}  // namespace barrier

}  // namespace tutti::formula
