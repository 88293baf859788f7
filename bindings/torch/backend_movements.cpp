#include <ATen/ATen.h>

#include "backend.hpp"
#include "collective_call.hpp"
#include "conversion.hpp"
#include "failure.hpp"

// Collectives that move data and do not combine it.

namespace tutti_torch {
namespace {

using Tensors = Backend::Tensors;

const Tensors& one_for_each_rank(const std::vector<Tensors>& lists, int size, const char* call) {
  if (lists.size() != 1 || lists.front().size() != static_cast<std::size_t>(size)) {
    refuse(call,
           "a list of one tensor for each of the " + std::to_string(size) + " ranks is expected");
  }
  return lists.front();
}

Tensors together(const Tensors& a, const Tensors& b) {
  Tensors all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

std::vector<std::size_t> in_elements(const std::vector<std::size_t>& counts, std::size_t factor) {
  std::vector<std::size_t> scaled = counts;
  for (std::size_t& each : scaled) each *= factor;
  return scaled;
}

/// Sets the count of a call on blocks: one number if they are equal. `counts` must outlive the
/// call.
void set_counts(tuttiCall_t& call, const std::vector<std::size_t>& counts, bool are_equal) {
  if (are_equal) {
    call.count = counts.front();
  } else {
    call.counts = counts.data();
  }
}

void require_same_length(const at::Tensor& a, const at::Tensor& b, const char* call) {
  if (a.numel() == b.numel()) return;
  refuse(call, "a tensor has " + std::to_string(a.numel()) +
                   " elements where this rank's tensor has " + std::to_string(b.numel()));
}

struct AllGather {
  Tensors outputs;
  at::Tensor input;

  void operator()(tuttiCall_t call, tuttiComm_t comm, Scratch& scratch, const char* name) const {
    const HostTensor in = HostTensor::reading(input, scratch);
    HostBlocks out = HostBlocks::writing(outputs, scratch);
    const Element element = element_of(input.scalar_type());
    const std::vector<std::size_t> counts = in_elements(out.counts(), element.factor);
    call.datatype = element.type;
    call.sendbuff = in.data();
    call.recvbuff = out.data();
    set_counts(call, counts, out.are_equal());
    run(call, comm, name);
    out.store();
  }
};

void check_all_gather(const Tensors& outputs, const at::Tensor& input, int rank, const char* name) {
  check_tensor(input, name);
  for (const at::Tensor& each : outputs) check_result(each, name);
  check_types(together({input}, outputs), name);
  require_same_length(outputs[static_cast<std::size_t>(rank)], input, name);
}

}  // namespace

Backend::WorkPointer Backend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) {
  static constexpr const char* name = "broadcast";
  const at::Tensor& tensor = only_one(tensors, name);
  const int root = root_of(opts.rootRank, name);
  check_tensor(tensor, name);
  if (root != rank_) check_output(tensor, name);
  Launch launch = launch_of(c10d::OpType::BROADCAST, "tutti:broadcast", opts);
  launch.result = tensors;
  HostTensor host = root == rank_ ? HostTensor::reading(tensor, *scratch_)
                                  : HostTensor::writing(tensor, *scratch_);
  const Element element = element_of(tensor.scalar_type());
  tuttiCall_t call = collective_call(tuttiCollBroadcast, launch.timeout);
  call.datatype = element.type;
  call.sendbuff = call.recvbuff = host.data();
  call.count = host.count() * element.factor;
  call.root = root;
  return start(std::move(launch), [host, call, is_root = root == rank_](tuttiComm_t comm) mutable {
    run(call, comm, name);
    if (!is_root) host.store();
  });
}

Backend::WorkPointer Backend::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                        const c10d::AllgatherOptions& opts) {
  static constexpr const char* name = "all_gather";
  const at::Tensor& input = only_one(inputs, name);
  const Tensors& blocks = one_for_each_rank(outputs, size_, name);
  check_all_gather(blocks, input, rank_, name);
  Launch launch = launch_of(c10d::OpType::ALLGATHER, "tutti:all_gather", opts);
  launch.inputs = inputs;
  launch.result = blocks;
  launch.memory = together(blocks, inputs);
  const tuttiCall_t call = collective_call(tuttiCollAllGather, launch.timeout);
  return start(std::move(launch), [all = AllGather{blocks, input}, call, scratch = scratch_](
                                      tuttiComm_t comm) { all(call, comm, *scratch, name); });
}

Backend::WorkPointer Backend::allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                                  const c10d::AllgatherOptions& opts) {
  static constexpr const char* name = "all_gather_coalesced";
  if (outputs.size() != static_cast<std::size_t>(size_)) {
    refuse(name,
           "a list of tensors for each of the " + std::to_string(size_) + " ranks is expected");
  }
  if (inputs.empty()) refuse(name, "the list of inputs is empty");
  std::vector<AllGather> all;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Tensors blocks;
    for (const Tensors& each : outputs) {
      if (each.size() != inputs.size()) {
        refuse(name, "an output list has " + std::to_string(each.size()) +
                         " tensors, and there are " + std::to_string(inputs.size()) + " inputs");
      }
      blocks.push_back(each[i]);
    }
    check_all_gather(blocks, inputs[i], rank_, name);
    all.push_back({std::move(blocks), inputs[i]});
  }
  Launch launch = launch_of(c10d::OpType::ALLGATHER_COALESCED, "tutti:all_gather", opts);
  launch.inputs = launch.memory = inputs;
  for (const Tensors& each : outputs) {
    launch.result = together(launch.result, each);
    launch.memory = together(launch.memory, each);
  }
  const tuttiCall_t call = collective_call(tuttiCollAllGather, launch.timeout);
  return start(std::move(launch), [all, call, scratch = scratch_](tuttiComm_t comm) {
    for (const AllGather& each : all) each(call, comm, *scratch, name);
  });
}

Backend::WorkPointer Backend::_allgather_base(at::Tensor& output, at::Tensor& input,
                                              const c10d::AllgatherOptions& opts) {
  Tensors outputs{output};
  Tensors inputs{input};
  return allgather_into_tensor_coalesced(outputs, inputs, opts);
}

Backend::WorkPointer Backend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                              const c10d::AllgatherOptions& opts) {
  static constexpr const char* name = "all_gather_into_tensor";
  if (outputs.size() != inputs.size()) {
    refuse(name, std::to_string(outputs.size()) + " outputs and " + std::to_string(inputs.size()) +
                     " inputs");
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_tensor(inputs[i], name);
    check_result(outputs[i], name);
    check_types({inputs[i], outputs[i]}, name);
    if (outputs[i].numel() != inputs[i].numel() * size_) {
      refuse(name, "the output has " + std::to_string(outputs[i].numel()) +
                       " elements; it must have " + std::to_string(size_) +
                       " times as many as the input, which has " +
                       std::to_string(inputs[i].numel()));
    }
  }
  Launch launch = launch_of(c10d::OpType::_ALLGATHER_BASE, "tutti:_all_gather_base", opts);
  launch.inputs = inputs;
  launch.result = outputs;
  launch.memory = together(inputs, outputs);
  const tuttiCall_t any = collective_call(tuttiCollAllGather, launch.timeout);
  return start(std::move(launch), [outputs, inputs, any, scratch = scratch_](tuttiComm_t comm) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const HostTensor in = HostTensor::reading(inputs[i], *scratch);
      HostTensor out = HostTensor::writing(outputs[i], *scratch);
      const Element element = element_of(inputs[i].scalar_type());
      tuttiCall_t call = any;
      call.datatype = element.type;
      call.sendbuff = in.data();
      call.recvbuff = out.data();
      call.count = in.count() * element.factor;
      run(call, comm, name);
      out.store();
    }
  });
}

Backend::WorkPointer Backend::gather(std::vector<Tensors>& outputs, Tensors& inputs,
                                     const c10d::GatherOptions& opts) {
  static constexpr const char* name = "gather";
  const at::Tensor& input = only_one(inputs, name);
  const int root = root_of(opts.rootRank, name);
  Tensors blocks;
  if (root == rank_) {
    blocks = one_for_each_rank(outputs, size_, name);
    check_all_gather(blocks, input, rank_, name);
    for (const at::Tensor& each : blocks) require_same_length(each, input, name);
  } else if (!outputs.empty() && !outputs.front().empty()) {
    refuse(name, "only the destination rank may pass a list of outputs");
  }
  check_tensor(input, name);
  Launch launch = launch_of(c10d::OpType::GATHER, "tutti:gather", opts);
  launch.inputs = inputs;
  launch.result = blocks;
  launch.memory = together(inputs, blocks);
  const Element element = element_of(input.scalar_type());
  tuttiCall_t call = collective_call(tuttiCollGather, launch.timeout);
  call.datatype = element.type;
  call.root = root;
  call.count = static_cast<std::size_t>(input.numel()) * element.factor;
  return start(std::move(launch),
               [blocks, input, call, scratch = scratch_](tuttiComm_t comm) mutable {
                 const HostTensor in = HostTensor::reading(input, *scratch);
                 HostBlocks out = HostBlocks::writing(blocks, *scratch);
                 call.sendbuff = in.data();
                 call.recvbuff = out.data();
                 run(call, comm, name);
                 out.store();
               });
}

Backend::WorkPointer Backend::gather_into_tensor(at::Tensor& output, at::Tensor& input,
                                                 const c10d::GatherOptions& opts) {
  std::vector<Tensors> outputs;
  Tensors inputs{input};
  if (root_of(opts.rootRank, "gather_into_tensor") == rank_) {
    check_result(output, "gather_into_tensor");
    if (!output.is_contiguous() || output.numel() != input.numel() * size_) {
      refuse("gather_into_tensor", "the output must be contiguous and have " +
                                       std::to_string(size_) +
                                       " times as many elements as the input");
    }
    outputs.push_back(output.detach().view(-1).tensor_split(size_));
  }
  return gather(outputs, inputs, opts);
}

Backend::WorkPointer Backend::scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                      const c10d::ScatterOptions& opts) {
  static constexpr const char* name = "scatter";
  const at::Tensor& output = only_one(outputs, name);
  const int root = root_of(opts.rootRank, name);
  check_output(output, name);
  Tensors blocks;
  if (root == rank_) {
    blocks = one_for_each_rank(inputs, size_, name);
    for (const at::Tensor& each : blocks) {
      check_tensor(each, name);
      require_same_length(each, output, name);
    }
    check_types(together({output}, blocks), name);
  } else if (!inputs.empty() && !inputs.front().empty()) {
    refuse(name, "only the source rank may pass a list of inputs");
  }
  Launch launch = launch_of(c10d::OpType::SCATTER, "tutti:scatter", opts);
  launch.inputs = blocks;
  launch.result = outputs;
  launch.memory = together(outputs, blocks);
  const Element element = element_of(output.scalar_type());
  tuttiCall_t call = collective_call(tuttiCollScatter, launch.timeout);
  call.datatype = element.type;
  call.root = root;
  call.count = static_cast<std::size_t>(output.numel()) * element.factor;
  return start(std::move(launch),
               [blocks, output, call, scratch = scratch_](tuttiComm_t comm) mutable {
                 const HostBlocks in = HostBlocks::reading(blocks, *scratch);
                 HostTensor out = HostTensor::writing(output, *scratch);
                 call.sendbuff = in.data();
                 call.recvbuff = out.data();
                 run(call, comm, name);
                 out.store();
               });
}

namespace {

/// Numbers of elements from numbers of rows; equal parts if `splits` is empty.
std::vector<std::size_t> split_counts(const at::Tensor& tensor, const std::vector<int64_t>& splits,
                                      int size, std::size_t factor, const char* side,
                                      const char* name) {
  const auto ranks = static_cast<std::size_t>(size);
  const int64_t rows = tensor.dim() > 0 ? tensor.size(0) : 0;
  if (splits.empty()) {
    if (rows % size != 0) {
      refuse(name, std::string("the first dimension of the ") + side + " is " +
                       std::to_string(rows) + ", which is not divisible by " +
                       std::to_string(size) + " ranks: pass split sizes");
    }
    return std::vector<std::size_t>(ranks,
                                    static_cast<std::size_t>(tensor.numel() / size) * factor);
  }
  if (splits.size() != ranks) {
    refuse(name, std::to_string(splits.size()) + " split sizes of the " + side + " for " +
                     std::to_string(size) + " ranks");
  }
  int64_t sum = 0;
  for (const int64_t each : splits) {
    if (each < 0) refuse(name, std::string("a split size of the ") + side + " is negative");
    sum += each;
  }
  if (sum != rows) {
    refuse(name, std::string("the split sizes of the ") + side + " add up to " +
                     std::to_string(sum) + "; its first dimension is " + std::to_string(rows));
  }
  const std::size_t row = rows == 0 ? 0 : static_cast<std::size_t>(tensor.numel() / rows) * factor;
  std::vector<std::size_t> counts;
  for (const int64_t each : splits) counts.push_back(static_cast<std::size_t>(each) * row);
  return counts;
}

}  // namespace

Backend::WorkPointer Backend::alltoall_base(at::Tensor& output, at::Tensor& input,
                                            std::vector<int64_t>& output_splits,
                                            std::vector<int64_t>& input_splits,
                                            const c10d::AllToAllOptions& opts) {
  static constexpr const char* name = "all_to_all_single";
  check_tensor(input, name);
  check_output(output, name);
  check_types({input, output}, name);
  const Element element = element_of(input.scalar_type());
  const auto sends = split_counts(input, input_splits, size_, element.factor, "input", name);
  const auto receives = split_counts(output, output_splits, size_, element.factor, "output", name);
  Launch launch = launch_of(c10d::OpType::ALLTOALL_BASE, "tutti:all_to_all", opts);
  launch.inputs = {input};
  launch.result = {output};
  launch.memory = {input, output};
  tuttiCall_t call = collective_call(tuttiCollAllToAll, launch.timeout);
  call.datatype = element.type;
  // One rank may have equal parts where others do not, so all give counts if any splits.
  const bool are_equal = output_splits.empty() && input_splits.empty();
  return start(std::move(launch), [output, input, sends, receives, call, are_equal,
                                   scratch = scratch_](tuttiComm_t comm) mutable {
    const HostTensor in = HostTensor::reading(input, *scratch);
    HostTensor out = HostTensor::writing(output, *scratch);
    call.sendbuff = in.data();
    call.recvbuff = out.data();
    if (are_equal) {
      call.count = sends.front();
    } else {
      call.counts = sends.data();
      call.recvcounts = receives.data();
    }
    run(call, comm, name);
    out.store();
  });
}

Backend::WorkPointer Backend::alltoall(Tensors& outputs, Tensors& inputs,
                                       const c10d::AllToAllOptions& opts) {
  static constexpr const char* name = "all_to_all";
  const auto ranks = static_cast<std::size_t>(size_);
  if (outputs.size() != ranks || inputs.size() != ranks) {
    refuse(name,
           "lists of one tensor for each of the " + std::to_string(size_) + " ranks are expected");
  }
  for (const at::Tensor& each : inputs) check_tensor(each, name);
  for (const at::Tensor& each : outputs) check_result(each, name);
  check_types(together(inputs, outputs), name);
  Launch launch = launch_of(c10d::OpType::ALLTOALL, "tutti:all_to_all", opts);
  launch.inputs = inputs;
  launch.result = outputs;
  launch.memory = together(inputs, outputs);
  const Element element = element_of(inputs.front().scalar_type());
  tuttiCall_t call = collective_call(tuttiCollAllToAll, launch.timeout);
  call.datatype = element.type;
  return start(std::move(launch), [outputs, inputs, call, factor = element.factor,
                                   scratch = scratch_](tuttiComm_t comm) mutable {
    const HostBlocks in = HostBlocks::reading(inputs, *scratch);
    HostBlocks out = HostBlocks::writing(outputs, *scratch);
    const auto sends = in_elements(in.counts(), factor);
    const auto receives = in_elements(out.counts(), factor);
    call.sendbuff = in.data();
    call.recvbuff = out.data();
    call.counts = sends.data();
    call.recvcounts = receives.data();
    run(call, comm, name);
    out.store();
  });
}

}  // namespace tutti_torch
