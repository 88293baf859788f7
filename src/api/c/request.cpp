#include "api/c/request.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>

#include <tutti/typed_call.hpp>

#include "api/c/handles.hpp"
#include "api/c/versioned.hpp"
#include "core/buffer_limit.hpp"

static_assert(std::is_same_v<std::size_t, std::uint64_t>, "counts in C are counts in C++");

namespace tutti {
DType dtype_of(tuttiDataType_t type) {
  switch (type) {
    case tuttiInt8:
      return DType::i8;
    case tuttiUint8:
      return DType::u8;
    case tuttiInt32:
      return DType::i32;
    case tuttiUint32:
      return DType::u32;
    case tuttiInt64:
      return DType::i64;
    case tuttiUint64:
      return DType::u64;
    case tuttiFloat16:
      return DType::f16;
    case tuttiFloat32:
      return DType::f32;
    case tuttiFloat64:
      return DType::f64;
    case tuttiBfloat16:
      return DType::bf16;
    case tuttiFloat8e4m3:
      return DType::f8e4m3;
    case tuttiFloat8e5m2:
      return DType::f8e5m2;
    case tuttiInt16:
      return DType::i16;
    case tuttiUint16:
      return DType::u16;
    case tuttiComplex64:
      return DType::complex64;
    case tuttiComplex128:
      return DType::complex128;
    case tuttiDataTypeLimit:
      break;
  }
  throw Error(ErrorCode::invalid_argument,
              "there is no datatype " + std::to_string(static_cast<int>(type)) +
                  "; use 0 (tuttiInt8) to 11 (tuttiFloat8e5m2), or 100 (tuttiInt16) to 103 "
                  "(tuttiComplex128)");
}

Op op_of(tuttiRedOp_t op) {
  switch (op) {
    case tuttiSum:
      return Op::sum;
    case tuttiProd:
      return Op::prod;
    case tuttiMax:
      return Op::max;
    case tuttiMin:
      return Op::min;
    case tuttiAvg:
      return Op::avg;
    case tuttiBand:
      return Op::band;
    case tuttiBor:
      return Op::bor;
    case tuttiBxor:
      return Op::bxor;
    case tuttiRedOpLimit:
      break;
  }
  throw Error(ErrorCode::invalid_argument, "there is no op " +
                                               std::to_string(static_cast<int>(op)) +
                                               "; use 0 (tuttiSum) to 7 (tuttiBxor)");
}

Collective collective_of(tuttiCollective_t collective) {
  static_assert(tuttiCollBroadcast == static_cast<int>(Collective::broadcast) &&
                tuttiCollBarrier == static_cast<int>(Collective::barrier));
  if (collective >= tuttiCollBroadcast && collective <= tuttiCollBarrier) {
    return static_cast<Collective>(collective);
  }
  throw Error(ErrorCode::invalid_argument,
              "there is no collective " + std::to_string(static_cast<int>(collective)) +
                  "; use 0 (tuttiCollBroadcast) to 8 (tuttiCollBarrier)");
}

Reproducible level_of(tuttiReproducible_t level) {
  if (level >= tuttiReproducibleRun && level <= tuttiReproducibleExact) {
    return static_cast<Reproducible>(level);
  }
  throw Error(ErrorCode::invalid_argument,
              "there is no level " + std::to_string(static_cast<int>(level)) +
                  "; use 0 (tuttiReproducibleRun) to 2 (tuttiReproducibleExact)");
}

namespace {

std::span<const std::uint64_t> counts_from(const std::size_t* counts, const char* name,
                                           std::uint32_t ranks) {
  return {&pointed_to(counts, name), ranks};
}

std::size_t bytes_of(std::size_t count, std::size_t element) {
  if (count > most_buffer_bytes / element) {
    throw Error(ErrorCode::invalid_argument,
                std::to_string(count) + " elements do not fit into memory");
  }
  return count * element;
}

}  // namespace

Call call_of(const Request& request, const Communicator& communicator) {
  Call call = TypedCall::begin(request.collective, request.send, request.recv, usual_options);
  call.count = request.count;
  call.root = rank_from(request.root, "root");
  if (request.kind == Request::Kind::custom) {
    const tuttiOp& op = pointed_to(request.custom, "op");
    call.reduction = op.reduction;
    call.element_bytes = op.element_bytes;
    return call;
  }
  call.dtype = dtype_of(request.type);
  call.reduction = op_of(request.op);
  if (request.kind == Request::Kind::plain) return call;
  const bool two_ways = call.collective == Collective::alltoall;
  const std::uint32_t ranks = communicator.size();
  call.counts = counts_from(request.counts, two_ways ? "sendcounts" : "counts", ranks);
  if (two_ways) call.output_counts = counts_from(request.recv_counts, "recvcounts", ranks);
  return call;
}

Call call_of(const tuttiCall_t& given, const Communicator& communicator) {
  constexpr std::size_t first_version = offsetof(tuttiCall_t, shape);
  const tuttiCall_t known = known_part(given, first_version, "call", "TUTTI_CALL_INITIALIZER");
  Call call{.collective = collective_of(known.collective),
            .input = known.sendbuff,
            .output = known.recvbuff,
            .count = known.count,
            .root = rank_from(known.root, "root")};
  if (known.custom != nullptr) {
    call.reduction = known.custom->reduction;
    call.element_bytes = known.custom->element_bytes;
  } else {
    call.dtype = dtype_of(known.datatype);
    call.reduction = op_of(known.op);
  }
  if (known.counts != nullptr) call.counts = {known.counts, communicator.size()};
  if (known.recvcounts != nullptr) call.output_counts = {known.recvcounts, communicator.size()};
  if (known.algorithm != nullptr) call.options.algorithm = known.algorithm;
  if (known.schedule != nullptr) call.options.schedule = &known.schedule->schedule;
  if (known.site != nullptr) call.options.site = known.site;
  call.options.timeout = std::chrono::milliseconds(known.timeout_ms);
  call.options.keep_input = known.keep_input != 0;
  if (known.shape != nullptr) call.options.shape = parse_shape(known.shape);
  call.options.reproducible = level_of(known.reproducible);
  if (known.shards != nullptr) {
    call.shards = std::span(known.shards, known.nshards);
    call.options.reproducible = Reproducible::exact;
  }
  return call;
}

std::uint32_t peer_or_any(int peer) {
  return peer == TUTTI_ANY_RANK ? any_rank : rank_from(peer, "the peer's rank");
}

std::uint32_t tag_or_any(int tag) {
  return tag == TUTTI_ANY_TAG ? any_tag : rank_from(tag, "the tag");
}

tuttiEnvelope_t envelope_of(const Envelope& envelope) {
  return {.rank = static_cast<int>(envelope.rank),
          .tag = static_cast<int>(envelope.tag),
          .bytes = envelope.bytes};
}

PairOfMessages messages_of(const PairRequest& request) {
  const std::size_t element = size_of(dtype_of(request.type));
  PairOfMessages messages;
  if (request.out) {
    messages.out.push_back({.data = request.out->data,
                            .bytes = bytes_of(request.out->count, element),
                            .to = rank_from(request.out->peer, "the peer's rank"),
                            .tag = rank_from(request.tag, "the tag")});
  }
  if (request.in) {
    messages.in.push_back({.data = request.in->data,
                           .bytes = bytes_of(request.in->count, element),
                           .from = request.takes_any
                                       ? peer_or_any(request.in->peer)
                                       : rank_from(request.in->peer, "the peer's rank"),
                           .tag = request.takes_any ? tag_or_any(request.tag) : 0,
                           .may_be_shorter = request.takes_any});
  }
  return messages;
}

}  // namespace tutti
