#include <ATen/ATen.h>

#include "backend.hpp"
#include "collective_call.hpp"
#include "conversion.hpp"
#include "failure.hpp"

// Reductions.

namespace tutti_torch {
namespace {

/// The contribution of this rank: the tensor, or a scaled copy for PREMUL_SUM.
at::Tensor contribution(const at::Tensor& tensor, const c10d::ReduceOp& op, const char* call) {
  if (op.op_ != c10d::ReduceOp::PREMUL_SUM) return tensor;
  if (!op.supplement_) refuse(call, "PREMUL_SUM has no factor");
  const auto& supplement = static_cast<const c10d::NCCLPreMulSumSupplement&>(*op.supplement_.get());
  const at::Tensor scaled = supplement.tensor_factor.defined()
                                ? at::mul(tensor, supplement.tensor_factor.to(tensor.device()))
                                : at::mul(tensor, supplement.double_factor);
  return scaled.to(tensor.scalar_type());
}

bool is_scaled(const c10d::ReduceOp& op) { return op.op_ == c10d::ReduceOp::PREMUL_SUM; }

/// Tensors below this size are copied into one buffer and reduced in one call.
constexpr std::size_t worth_a_call = 64 * 1024;

}  // namespace

Backend::WorkPointer Backend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) {
  static constexpr const char* name = "all_reduce";
  const at::Tensor& tensor = only_one(tensors, name);
  if (tensor.defined() && tensor.layout() == at::kSparse) return allreduce_sparse(tensors, opts);
  check_output(tensor, name);
  const Combination how = combination_of(opts.reduceOp, tensor.scalar_type(), name);
  Launch launch = launch_of(c10d::OpType::ALLREDUCE, "tutti:all_reduce", opts);
  launch.result = tensors;
  tuttiCall_t call = collective_call(tuttiCollAllReduce, launch.timeout);
  call.datatype = how.type;
  call.op = how.op;
  if (is_scaled(opts.reduceOp)) {
    return start(std::move(launch),
                 [tensor, op = opts.reduceOp, call, scratch = scratch_](tuttiComm_t comm) mutable {
                   const at::Tensor scaled = contribution(tensor, op, name);
                   HostTensor host = HostTensor::reading(scaled, *scratch);
                   call.sendbuff = call.recvbuff = host.data();
                   call.count = host.count();
                   run(call, comm, name);
                   tensor.copy_(host.host());
                 });
  }
  HostTensor host = HostTensor::reading(tensor, *scratch_);
  call.sendbuff = call.recvbuff = host.data();
  call.count = host.count();
  return start(std::move(launch), [host = std::move(host), call](tuttiComm_t comm) mutable {
    run(call, comm, name);
    host.store();
  });
}

Backend::WorkPointer Backend::allreduce_into(const at::Tensor& output, const at::Tensor& input,
                                             const c10d::AllreduceOptions& opts) {
  static constexpr const char* name = "all_reduce";
  check_tensor(input, name);
  check_output(output, name);
  const Combination how = combination_of(opts.reduceOp, input.scalar_type(), name);
  Launch launch = launch_of(c10d::OpType::ALLREDUCE, "tutti:all_reduce", opts);
  launch.result = {output};
  launch.memory = {input, output};
  tuttiCall_t call = collective_call(tuttiCollAllReduce, launch.timeout);
  call.datatype = how.type;
  call.op = how.op;
  HostTensor from = HostTensor::reading(input, *scratch_);
  HostTensor to = HostTensor::writing(output, *scratch_);
  call.sendbuff = from.data();
  call.recvbuff = to.data();
  call.count = from.count();
  return start(std::move(launch),
               [from = std::move(from), to = std::move(to), call](tuttiComm_t comm) mutable {
                 run(call, comm, name);
                 to.store();
               });
}

Backend::WorkPointer Backend::allreduce_coalesced(Tensors& tensors,
                                                  const c10d::AllreduceCoalescedOptions& opts) {
  static constexpr const char* name = "all_reduce_coalesced";
  Launch launch = launch_of(c10d::OpType::ALLREDUCE_COALESCED, "tutti:all_reduce", opts);
  launch.result = tensors;
  if (tensors.empty()) refuse(name, "the list of tensors is empty");
  // Small tensors of one type form one block each.
  std::vector<Tensors> blocks;
  for (const at::Tensor& each : tensors) {
    check_result(each, name);
    (void)combination_of(opts.reduceOp, each.scalar_type(), name);
    const bool joins = !blocks.empty() &&
                       blocks.back().front().scalar_type() == each.scalar_type() &&
                       blocks.back().back().nbytes() < worth_a_call && each.nbytes() < worth_a_call;
    if (!joins) blocks.emplace_back();
    blocks.back().push_back(each);
  }
  const tuttiCall_t any = collective_call(tuttiCollAllReduce, launch.timeout);
  return start(std::move(launch),
               [blocks, any, op = opts.reduceOp, scratch = scratch_](tuttiComm_t comm) {
                 for (const Tensors& block : blocks) {
                   HostBlocks host = HostBlocks::reading(block, *scratch);
                   if (is_scaled(op)) {
                     at::Tensor flat = host.host();
                     flat.copy_(contribution(flat, op, name));
                   }
                   const Combination how = combination_of(op, host.host().scalar_type(), name);
                   tuttiCall_t call = any;
                   call.datatype = how.type;
                   call.op = how.op;
                   call.sendbuff = call.recvbuff = host.data();
                   call.count = static_cast<std::size_t>(host.host().numel());
                   run(call, comm, name);
                   host.store();
                 }
               });
}

Backend::WorkPointer Backend::reduce(Tensors& tensors, const c10d::ReduceOptions& opts) {
  static constexpr const char* name = "reduce";
  const at::Tensor& tensor = only_one(tensors, name);
  const int root = root_of(opts.rootRank, name);
  check_tensor(tensor, name);
  if (root == rank_) check_output(tensor, name);
  const Combination how = combination_of(opts.reduceOp, tensor.scalar_type(), name);
  Launch launch = launch_of(c10d::OpType::REDUCE, "tutti:reduce", opts);
  launch.result = tensors;
  tuttiCall_t call = collective_call(tuttiCollReduce, launch.timeout);
  call.datatype = how.type;
  call.op = how.op;
  call.root = root;
  return start(std::move(launch), [tensor, op = opts.reduceOp, call, is_root = root == rank_,
                                   scratch = scratch_](tuttiComm_t comm) mutable {
    const at::Tensor own = contribution(tensor, op, name);
    HostTensor host = HostTensor::reading(own, *scratch);
    call.sendbuff = call.recvbuff = host.data();
    call.count = host.count();
    run(call, comm, name);
    if (is_root && (host.is_copy() || is_scaled(op))) tensor.copy_(host.host());
  });
}

Backend::WorkPointer Backend::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                             const c10d::ReduceScatterOptions& opts) {
  static constexpr const char* name = "reduce_scatter";
  const at::Tensor& output = only_one(outputs, name);
  if (inputs.size() != 1 || inputs.front().size() != static_cast<std::size_t>(size_)) {
    refuse(name,
           "the input is a list of one tensor for each of the " + std::to_string(size_) + " ranks");
  }
  const Tensors& blocks = inputs.front();
  check_result(output, name);
  for (const at::Tensor& each : blocks) check_tensor(each, name);
  check_types(blocks, name);
  check_types({output, blocks.front()}, name);
  if (blocks[static_cast<std::size_t>(rank_)].numel() != output.numel()) {
    refuse(name, "the output has " + std::to_string(output.numel()) + " elements, and input " +
                     std::to_string(rank_) + " has " +
                     std::to_string(blocks[static_cast<std::size_t>(rank_)].numel()));
  }
  const Combination how = combination_of(opts.reduceOp, output.scalar_type(), name);
  Launch launch = launch_of(c10d::OpType::REDUCE_SCATTER, "tutti:reduce_scatter", opts);
  launch.inputs = launch.memory = blocks;
  launch.memory.push_back(output);
  launch.result = outputs;
  tuttiCall_t call = collective_call(tuttiCollReduceScatter, launch.timeout);
  call.datatype = how.type;
  call.op = how.op;
  return start(std::move(launch), [blocks, output, op = opts.reduceOp, call,
                                   scratch = scratch_](tuttiComm_t comm) mutable {
    const HostBlocks in = HostBlocks::reading(blocks, *scratch);
    const at::Tensor own = contribution(in.host(), op, name);
    HostTensor out = HostTensor::writing(output, *scratch);
    call.sendbuff = own.numel() > 0 ? own.data_ptr() : in.data();
    call.recvbuff = out.data();
    if (in.are_equal()) {
      call.count = in.counts().front();
    } else {
      call.counts = in.counts().data();
    }
    run(call, comm, name);
    out.store();
  });
}

Backend::WorkPointer Backend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                   const c10d::ReduceScatterOptions& opts) {
  Tensors outputs{output};
  Tensors inputs{input};
  return reduce_scatter_tensor_coalesced(outputs, inputs, opts);
}

Backend::WorkPointer Backend::reduce_scatter_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& opts) {
  static constexpr const char* name = "reduce_scatter_tensor";
  if (outputs.size() != inputs.size()) {
    refuse(name, std::to_string(outputs.size()) + " outputs and " + std::to_string(inputs.size()) +
                     " inputs");
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    check_result(outputs[i], name);
    check_tensor(inputs[i], name);
    check_types({outputs[i], inputs[i]}, name);
    (void)combination_of(opts.reduceOp, inputs[i].scalar_type(), name);
    if (inputs[i].numel() != outputs[i].numel() * size_) {
      refuse(name, "the input has " + std::to_string(inputs[i].numel()) +
                       " elements; it must have " + std::to_string(size_) +
                       " times as many as the output, which has " +
                       std::to_string(outputs[i].numel()));
    }
  }
  Launch launch = launch_of(c10d::OpType::_REDUCE_SCATTER_BASE, "tutti:_reduce_scatter_base", opts);
  launch.inputs = launch.memory = inputs;
  launch.memory.insert(launch.memory.end(), outputs.begin(), outputs.end());
  launch.result = outputs;
  const tuttiCall_t any = collective_call(tuttiCollReduceScatter, launch.timeout);
  return start(std::move(launch), [outputs, inputs, any, op = opts.reduceOp,
                                   scratch = scratch_](tuttiComm_t comm) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const HostTensor in = HostTensor::reading(contribution(inputs[i], op, name), *scratch);
      HostTensor out = HostTensor::writing(outputs[i], *scratch);
      const Combination how = combination_of(op, inputs[i].scalar_type(), name);
      tuttiCall_t call = any;
      call.datatype = how.type;
      call.op = how.op;
      call.sendbuff = in.data();
      call.recvbuff = out.data();
      call.count = out.count();
      run(call, comm, name);
      out.store();
    }
  });
}

}  // namespace tutti_torch
