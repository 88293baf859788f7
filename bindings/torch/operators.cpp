#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/library.h>

#include "prompt_collectives.hpp"

// Collectives as operators of torch's dispatcher: torch.ops.tutti. A model needs neither the calls
// of torch.distributed, which take longer than a short collective, nor works. torch.compile keeps
// them in its graph.

namespace tutti_torch {
namespace {

// Torch passes strings by value.
using Name = std::string;

void all_reduce_(const at::Tensor& tensor, Name op, Name group) {
  all_reduce_promptly_(*c10d::resolve_process_group(group), tensor, op);
}

at::Tensor all_reduce(const at::Tensor& tensor, Name op, Name group) {
  return all_reduce_promptly(*c10d::resolve_process_group(group), tensor, op);
}

at::Tensor all_gather(const at::Tensor& tensor, Name group) {
  return all_gather_promptly(*c10d::resolve_process_group(group), tensor);
}

at::Tensor reduce_scatter(const at::Tensor& tensor, Name op, Name group) {
  return reduce_scatter_promptly(*c10d::resolve_process_group(group), tensor, op);
}

// Without data, for torch.compile -----------------------------------------------------------------

void traced_all_reduce_(const at::Tensor& /*tensor*/, Name op, Name /*group*/) {
  (void)operation_named(op, "all_reduce");
}

at::Tensor traced_all_reduce(const at::Tensor& tensor, Name op, Name /*group*/) {
  (void)operation_named(op, "all_reduce");
  return at::empty_like(tensor, at::MemoryFormat::Contiguous);
}

at::Tensor traced_all_gather(const at::Tensor& tensor, Name group) {
  const int ranks = c10d::resolve_process_group(group)->getSize();
  return at::empty_symint(sizes_of_all(tensor, ranks), tensor.options());
}

at::Tensor traced_reduce_scatter(const at::Tensor& tensor, Name op, Name group) {
  (void)operation_named(op, "reduce_scatter");
  const int ranks = c10d::resolve_process_group(group)->getSize();
  return at::empty_symint(sizes_of_part(tensor, ranks), tensor.options());
}

}  // namespace
}  // namespace tutti_torch

TORCH_LIBRARY(tutti, m) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  m.def("all_reduce_(Tensor(a!) tensor, str op, str group) -> ()", tags);
  m.def("all_reduce(Tensor tensor, str op, str group) -> Tensor", tags);
  m.def("all_gather(Tensor tensor, str group) -> Tensor", tags);
  m.def("reduce_scatter(Tensor tensor, str op, str group) -> Tensor", tags);
}

TORCH_LIBRARY_IMPL(tutti, CompositeExplicitAutograd, m) {
  m.impl("all_reduce_", tutti_torch::all_reduce_);
  m.impl("all_reduce", tutti_torch::all_reduce);
  m.impl("all_gather", tutti_torch::all_gather);
  m.impl("reduce_scatter", tutti_torch::reduce_scatter);
}

TORCH_LIBRARY_IMPL(tutti, Meta, m) {
  m.impl("all_reduce_", tutti_torch::traced_all_reduce_);
  m.impl("all_reduce", tutti_torch::traced_all_reduce);
  m.impl("all_gather", tutti_torch::traced_all_gather);
  m.impl("reduce_scatter", tutti_torch::traced_reduce_scatter);
}
