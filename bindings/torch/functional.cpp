#include <utility>

#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/library.h>

#include "backend.hpp"
#include "prompt_collectives.hpp"

// Torch's functional collectives, which DTensor uses, on groups of tutti. Torch starts them, and
// waits when the result is first used. A thread would have to be woken for that, which takes longer
// than a short collective, and which has no core where every core has a rank. So here they are done
// when they return; to wait for them then does nothing. Groups of other backends keep torch's own
// kernels, which are those for all devices.

namespace tutti_torch {
namespace {

using Stack = torch::jit::Stack;

/// Null if the group, given by its name or in later versions of torch by itself, is not of tutti.
c10::intrusive_ptr<c10d::ProcessGroup> group_of_ours(const c10::IValue& given) {
  c10::intrusive_ptr<c10d::ProcessGroup> group;
  if (given.isString()) group = c10d::resolve_process_group(given.toStringRef());
  if (given.isObject()) group = given.toCustomClass<c10d::ProcessGroup>();
  if (!group || !group->hasBackends()) return nullptr;
  const auto backend = group->getBackend(c10::DeviceType::CPU);
  return dynamic_cast<Backend*>(backend.get()) == nullptr ? nullptr : group;
}

/// A kernel for calls of a group of tutti: `call` gets the group and the arguments.
template <at::Tensor (*call)(c10d::ProcessGroup&, c10::ArrayRef<c10::IValue>)>
void promptly(const c10::OperatorHandle& op, Stack* stack) {
  const std::size_t count = op.schema().arguments().size();
  const auto arguments = torch::jit::last(*stack, count);
  const auto group = group_of_ours(arguments.back());
  if (!group)
    return op.callBoxedForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd, *stack);
  at::Tensor result = call(*group, arguments);
  torch::jit::drop(*stack, count);
  torch::jit::push(*stack, std::move(result));
}

at::Tensor functional_all_reduce(c10d::ProcessGroup& group, c10::ArrayRef<c10::IValue> arguments) {
  return all_reduce_promptly(group, arguments[0].toTensor(), arguments[1].toStringRef());
}

at::Tensor functional_all_reduce_(c10d::ProcessGroup& group, c10::ArrayRef<c10::IValue> arguments) {
  all_reduce_promptly_(group, arguments[0].toTensor(), arguments[1].toStringRef());
  return arguments[0].toTensor();
}

at::Tensor functional_all_gather(c10d::ProcessGroup& group, c10::ArrayRef<c10::IValue> arguments) {
  return all_gather_promptly(group, arguments[0].toTensor());
}

at::Tensor functional_reduce_scatter(c10d::ProcessGroup& group,
                                     c10::ArrayRef<c10::IValue> arguments) {
  return reduce_scatter_promptly(group, arguments[0].toTensor(), arguments[1].toStringRef());
}

}  // namespace
}  // namespace tutti_torch

TORCH_LIBRARY_IMPL(_c10d_functional, CPU, m) {
  using torch::CppFunction;
  namespace own = tutti_torch;
  m.impl("all_reduce",
         CppFunction::makeFromBoxedFunction<&own::promptly<own::functional_all_reduce>>());
  m.impl("all_reduce_",
         CppFunction::makeFromBoxedFunction<&own::promptly<own::functional_all_reduce_>>());
  m.impl("all_gather_into_tensor",
         CppFunction::makeFromBoxedFunction<&own::promptly<own::functional_all_gather>>());
  m.impl("reduce_scatter_tensor",
         CppFunction::makeFromBoxedFunction<&own::promptly<own::functional_reduce_scatter>>());
}
