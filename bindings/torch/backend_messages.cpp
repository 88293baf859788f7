#include "backend.hpp"
#include "failure.hpp"
#include "message_work.hpp"

// Point-to-point messages. They go as bytes: a receive checks the length.

namespace tutti_torch {
namespace {

const at::Tensor& message_of(const std::vector<at::Tensor>& tensors, const char* call) {
  const at::Tensor& tensor = only_one(tensors, call);
  check_tensor(tensor, call);
  return tensor;
}

void check_tag(int tag, const char* call) {
  if (tag < 0) refuse(call, "the tag is " + std::to_string(tag) + "; it must not be negative");
}

}  // namespace

Backend::WorkPointer Backend::send(Tensors& tensors, int to, int tag) {
  const at::Tensor& tensor = message_of(tensors, "send");
  check_tag(tag, "send");
  (void)root_of(to, "send");
  await_devices(tensors);
  const WorkLabel label{.rank = rank_,
                        .type = c10d::OpType::SEND,
                        .title = "tutti:send",
                        .sequence = sequence_,
                        .timeout = timeout_of(c10d::kUnsetTimeout)};
  MessageWork::Parts parts{.communicator = communicator(),
                           .host = HostTensor::reading(tensor, *scratch_),
                           .tensor = tensor,
                           .memory = StorageLock(tensors),
                           .lane = lane_->state()};
  tuttiWork_t work = nullptr;
  require_success(tuttiSendTagAsync(parts.host.data(), parts.host.host().nbytes(), tuttiUint8, to,
                                    tag, parts.communicator->handle(), &work),
                  "send");
  return keep_if_coalescing(c10::make_intrusive<MessageWork>(label, work, std::move(parts)));
}

Backend::WorkPointer Backend::receive(Tensors& tensors, int from, int tag, c10d::OpType type,
                                      const char* title) {
  const WorkLabel label{.rank = rank_,
                        .type = type,
                        .title = title,
                        .sequence = sequence_,
                        .timeout = timeout_of(c10d::kUnsetTimeout)};
  const at::Tensor& tensor = message_of(tensors, "recv");
  check_output(tensor, "recv");
  check_tag(tag, "recv");
  await_devices(tensors);
  MessageWork::Parts parts{.communicator = communicator(),
                           .host = HostTensor::writing(tensor, *scratch_),
                           .tensor = tensor,
                           .memory = StorageLock(tensors),
                           .lane = lane_->state(),
                           .receives = true};
  tuttiWork_t work = nullptr;
  require_success(tuttiRecvTagAsync(parts.host.data(), parts.host.host().nbytes(), tuttiUint8, from,
                                    tag, parts.communicator->handle(), &work),
                  "recv");
  return keep_if_coalescing(c10::make_intrusive<MessageWork>(label, work, std::move(parts)));
}

Backend::WorkPointer Backend::recv(Tensors& tensors, int from, int tag) {
  (void)root_of(from, "recv");
  return receive(tensors, from, tag, c10d::OpType::RECV, "tutti:recv");
}

Backend::WorkPointer Backend::recvAnysource(Tensors& tensors, int tag) {
  return receive(tensors, TUTTI_ANY_RANK, tag, c10d::OpType::RECVANYSOURCE, "tutti:recvAnySource");
}

}  // namespace tutti_torch
