#pragma once

#include <string>

#include <ATen/core/Tensor.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/SmallVector.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

namespace tutti_torch {

/// Collectives on a group of any backend that are done when they return. The operations have the
/// names that torch's functional collectives give them: "sum", "avg".
void all_reduce_promptly_(c10d::ProcessGroup& group, const at::Tensor& tensor,
                          const std::string& op);
[[nodiscard]] at::Tensor all_reduce_promptly(c10d::ProcessGroup& group, const at::Tensor& tensor,
                                             const std::string& op);
/// Of the tensors of all ranks, one after the other along the first dimension.
[[nodiscard]] at::Tensor all_gather_promptly(c10d::ProcessGroup& group, const at::Tensor& tensor);
/// Each rank gets its part of the first dimension.
[[nodiscard]] at::Tensor reduce_scatter_promptly(c10d::ProcessGroup& group,
                                                 const at::Tensor& tensor, const std::string& op);

/// Throws ValueError if there is no operation of that name.
[[nodiscard]] c10d::ReduceOp operation_named(const std::string& name, const char* call);

using Sizes = c10::SmallVector<c10::SymInt, 5>;
/// Of the results of all_gather and reduce_scatter.
[[nodiscard]] Sizes sizes_of_all(const at::Tensor& tensor, int ranks);
[[nodiscard]] Sizes sizes_of_part(const at::Tensor& tensor, int ranks);

}  // namespace tutti_torch
