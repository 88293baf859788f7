#include "prompt_collectives.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "backend.hpp"
#include "failure.hpp"

namespace tutti_torch {
namespace {

/// The options of a call that is waited for.
template <class Options>
Options prompt() {
  Options options;
  if constexpr (requires { options.asyncOp; }) options.asyncOp = false;
  return options;
}

void wait(const c10::intrusive_ptr<c10d::Work>& work) {
  if (work) work->wait();
}

c10::intrusive_ptr<c10d::Backend> backend_for(c10d::ProcessGroup& group, const at::Tensor& tensor) {
  return group.getBackend(tensor.device().type());
}

}  // namespace

c10d::ReduceOp operation_named(const std::string& name, const char* call) {
  using Op = c10d::ReduceOp::RedOpType;
  static constexpr std::array<std::pair<std::string_view, Op>, 8> names{{
      {"sum", Op::SUM},
      {"avg", Op::AVG},
      {"product", Op::PRODUCT},
      {"min", Op::MIN},
      {"max", Op::MAX},
      {"band", Op::BAND},
      {"bor", Op::BOR},
      {"bxor", Op::BXOR},
  }};
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const auto& each) { return each.first == name; });
  if (found != names.end()) return found->second;
  refuse(call,
         "the operation is \"" + name + "\"; it is sum, avg, product, min, max, band, bor or bxor");
}

Sizes sizes_of_all(const at::Tensor& tensor, int ranks) {
  const c10::SymIntArrayRef own = tensor.sym_sizes();
  Sizes sizes(own.begin(), own.end());
  if (sizes.empty()) sizes.emplace_back(1);
  sizes.front() = sizes.front() * ranks;
  return sizes;
}

Sizes sizes_of_part(const at::Tensor& tensor, int ranks) {
  const c10::SymIntArrayRef all = tensor.sym_sizes();
  Sizes sizes(all.begin(), all.end());
  if (sizes.empty() || sizes.front() % ranks != 0) {
    refuse("reduce_scatter", "the first dimension of the tensor " + c10::str(all) +
                                 " cannot be divided among " + std::to_string(ranks) + " ranks");
  }
  sizes.front() = sizes.front() / ranks;
  return sizes;
}

void all_reduce_promptly_(c10d::ProcessGroup& group, const at::Tensor& tensor,
                          const std::string& op) {
  auto options = prompt<c10d::AllreduceOptions>();
  options.reduceOp = operation_named(op, "all_reduce");
  std::vector<at::Tensor> tensors{tensor};
  wait(backend_for(group, tensor)->allreduce(tensors, options));
}

at::Tensor all_reduce_promptly(c10d::ProcessGroup& group, const at::Tensor& tensor,
                               const std::string& op) {
  auto options = prompt<c10d::AllreduceOptions>();
  options.reduceOp = operation_named(op, "all_reduce");
  const auto backend = backend_for(group, tensor);
  at::Tensor result = at::empty_like(tensor, at::MemoryFormat::Contiguous);
  if (auto* const ours = dynamic_cast<Backend*>(backend.get())) {
    wait(ours->allreduce_into(result, tensor, options));
  } else {
    std::vector<at::Tensor> results{result.copy_(tensor)};
    wait(backend->allreduce(results, options));
  }
  return result;
}

at::Tensor all_gather_promptly(c10d::ProcessGroup& group, const at::Tensor& tensor) {
  at::Tensor input = tensor;
  at::Tensor output = at::empty_symint(sizes_of_all(tensor, group.getSize()), tensor.options());
  wait(
      backend_for(group, tensor)->_allgather_base(output, input, prompt<c10d::AllgatherOptions>()));
  return output;
}

at::Tensor reduce_scatter_promptly(c10d::ProcessGroup& group, const at::Tensor& tensor,
                                   const std::string& op) {
  auto options = prompt<c10d::ReduceScatterOptions>();
  options.reduceOp = operation_named(op, "reduce_scatter");
  at::Tensor input = tensor;
  at::Tensor output = at::empty_symint(sizes_of_part(tensor, group.getSize()), tensor.options());
  wait(backend_for(group, tensor)->_reduce_scatter_base(output, input, options));
  return output;
}

}  // namespace tutti_torch
