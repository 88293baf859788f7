#include <tutti/tutti.h>

#include "api/c/dispatch.hpp"

// The collectives of the C API. Each fills in a Request; run() and start() do the rest.

namespace tutti {
namespace {

Call call_on(tuttiComm_t comm, const Request& request) {
  Call call = call_of(request, communicator_of(comm));
  call.options.reproducible = comm->reproducible;
  return call;
}

tuttiResult_t run(const char* function, tuttiComm_t comm, const Request& request) noexcept {
  return run_call(function, comm, [&] { return call_on(comm, request); });
}

tuttiResult_t start(const char* function, tuttiComm_t comm, tuttiWork_t* work,
                    const Request& request) noexcept {
  return start_call(function, comm, work, [&] { return call_on(comm, request); });
}

// One function for each kind of call, shared by the blocking and the asynchronous version.

Request reduction(Collective collective, const void* send, void* recv, std::size_t count,
                  tuttiDataType_t type, tuttiRedOp_t op, int root = 0) {
  return {.collective = collective,
          .send = send,
          .recv = recv,
          .count = count,
          .type = type,
          .op = op,
          .root = root};
}

Request custom_reduction(Collective collective, const void* send, void* recv, std::size_t count,
                         tuttiOp_t op, int root = 0) {
  return {.collective = collective,
          .send = send,
          .recv = recv,
          .count = count,
          .root = root,
          .kind = Request::Kind::custom,
          .custom = op};
}

Request movement(Collective collective, const void* send, void* recv, std::size_t count,
                 tuttiDataType_t type, int root = 0) {
  return {.collective = collective,
          .send = send,
          .recv = recv,
          .count = count,
          .type = type,
          .root = root};
}

Request counted(Collective collective, const void* send, void* recv, const std::size_t* counts,
                tuttiDataType_t type, int root = 0) {
  return {.collective = collective,
          .send = send,
          .recv = recv,
          .type = type,
          .root = root,
          .kind = Request::Kind::counted,
          .counts = counts};
}

Request counted_reduction(const void* send, void* recv, const std::size_t* counts,
                          tuttiDataType_t type, tuttiRedOp_t op) {
  Request request = counted(Collective::reduce_scatter, send, recv, counts, type);
  request.op = op;
  return request;
}

Request counted_both_ways(const void* send, const std::size_t* send_counts, void* recv,
                          const std::size_t* recv_counts, tuttiDataType_t type) {
  Request request = counted(Collective::alltoall, send, recv, send_counts, type);
  request.recv_counts = recv_counts;
  return request;
}

constexpr auto allreduce = Collective::allreduce;
constexpr auto reduce = Collective::reduce;
constexpr auto reduce_scatter = Collective::reduce_scatter;
constexpr auto broadcast = Collective::broadcast;
constexpr auto allgather = Collective::allgather;
constexpr auto scatter = Collective::scatter;
constexpr auto gather = Collective::gather;
constexpr auto alltoall = Collective::alltoall;
constexpr auto barrier = Collective::barrier;

}  // namespace
}  // namespace tutti

using namespace tutti;

// Reductions ----------------------------------------------------------------------------------

tuttiResult_t tuttiAllReduce(const void* sendbuff, void* recvbuff, size_t count,
                             tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm) {
  return run(__func__, comm, reduction(allreduce, sendbuff, recvbuff, count, datatype, op));
}

tuttiResult_t tuttiAllReduceAsync(const void* sendbuff, void* recvbuff, size_t count,
                                  tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm,
                                  tuttiWork_t* work) {
  return start(__func__, comm, work, reduction(allreduce, sendbuff, recvbuff, count, datatype, op));
}

tuttiResult_t tuttiReduce(const void* sendbuff, void* recvbuff, size_t count,
                          tuttiDataType_t datatype, tuttiRedOp_t op, int root, tuttiComm_t comm) {
  return run(__func__, comm, reduction(reduce, sendbuff, recvbuff, count, datatype, op, root));
}

tuttiResult_t tuttiReduceAsync(const void* sendbuff, void* recvbuff, size_t count,
                               tuttiDataType_t datatype, tuttiRedOp_t op, int root,
                               tuttiComm_t comm, tuttiWork_t* work) {
  return start(__func__, comm, work,
               reduction(reduce, sendbuff, recvbuff, count, datatype, op, root));
}

tuttiResult_t tuttiReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                                 tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm) {
  return run(__func__, comm,
             reduction(reduce_scatter, sendbuff, recvbuff, recvcount, datatype, op));
}

tuttiResult_t tuttiReduceScatterAsync(const void* sendbuff, void* recvbuff, size_t recvcount,
                                      tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm,
                                      tuttiWork_t* work) {
  return start(__func__, comm, work,
               reduction(reduce_scatter, sendbuff, recvbuff, recvcount, datatype, op));
}

tuttiResult_t tuttiAllReduceWith(const void* sendbuff, void* recvbuff, size_t count, tuttiOp_t op,
                                 tuttiComm_t comm) {
  return run(__func__, comm, custom_reduction(allreduce, sendbuff, recvbuff, count, op));
}

tuttiResult_t tuttiAllReduceWithAsync(const void* sendbuff, void* recvbuff, size_t count,
                                      tuttiOp_t op, tuttiComm_t comm, tuttiWork_t* work) {
  return start(__func__, comm, work, custom_reduction(allreduce, sendbuff, recvbuff, count, op));
}

tuttiResult_t tuttiReduceWith(const void* sendbuff, void* recvbuff, size_t count, tuttiOp_t op,
                              int root, tuttiComm_t comm) {
  return run(__func__, comm, custom_reduction(reduce, sendbuff, recvbuff, count, op, root));
}

tuttiResult_t tuttiReduceWithAsync(const void* sendbuff, void* recvbuff, size_t count, tuttiOp_t op,
                                   int root, tuttiComm_t comm, tuttiWork_t* work) {
  return start(__func__, comm, work, custom_reduction(reduce, sendbuff, recvbuff, count, op, root));
}

tuttiResult_t tuttiReduceScatterWith(const void* sendbuff, void* recvbuff, size_t recvcount,
                                     tuttiOp_t op, tuttiComm_t comm) {
  return run(__func__, comm, custom_reduction(reduce_scatter, sendbuff, recvbuff, recvcount, op));
}

tuttiResult_t tuttiReduceScatterWithAsync(const void* sendbuff, void* recvbuff, size_t recvcount,
                                          tuttiOp_t op, tuttiComm_t comm, tuttiWork_t* work) {
  return start(__func__, comm, work,
               custom_reduction(reduce_scatter, sendbuff, recvbuff, recvcount, op));
}

// Movements -----------------------------------------------------------------------------------

tuttiResult_t tuttiBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                             tuttiDataType_t datatype, int root, tuttiComm_t comm) {
  return run(__func__, comm, movement(broadcast, sendbuff, recvbuff, count, datatype, root));
}

tuttiResult_t tuttiBroadcastAsync(const void* sendbuff, void* recvbuff, size_t count,
                                  tuttiDataType_t datatype, int root, tuttiComm_t comm,
                                  tuttiWork_t* work) {
  return start(__func__, comm, work,
               movement(broadcast, sendbuff, recvbuff, count, datatype, root));
}

tuttiResult_t tuttiBcast(void* buff, size_t count, tuttiDataType_t datatype, int root,
                         tuttiComm_t comm) {
  return run(__func__, comm, movement(broadcast, buff, buff, count, datatype, root));
}

tuttiResult_t tuttiBcastAsync(void* buff, size_t count, tuttiDataType_t datatype, int root,
                              tuttiComm_t comm, tuttiWork_t* work) {
  return start(__func__, comm, work, movement(broadcast, buff, buff, count, datatype, root));
}

tuttiResult_t tuttiAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                             tuttiDataType_t datatype, tuttiComm_t comm) {
  return run(__func__, comm, movement(allgather, sendbuff, recvbuff, sendcount, datatype));
}

tuttiResult_t tuttiAllGatherAsync(const void* sendbuff, void* recvbuff, size_t sendcount,
                                  tuttiDataType_t datatype, tuttiComm_t comm, tuttiWork_t* work) {
  return start(__func__, comm, work, movement(allgather, sendbuff, recvbuff, sendcount, datatype));
}

tuttiResult_t tuttiScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                           tuttiDataType_t datatype, int root, tuttiComm_t comm) {
  return run(__func__, comm, movement(scatter, sendbuff, recvbuff, recvcount, datatype, root));
}

tuttiResult_t tuttiScatterAsync(const void* sendbuff, void* recvbuff, size_t recvcount,
                                tuttiDataType_t datatype, int root, tuttiComm_t comm,
                                tuttiWork_t* work) {
  return start(__func__, comm, work,
               movement(scatter, sendbuff, recvbuff, recvcount, datatype, root));
}

tuttiResult_t tuttiGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                          tuttiDataType_t datatype, int root, tuttiComm_t comm) {
  return run(__func__, comm, movement(gather, sendbuff, recvbuff, sendcount, datatype, root));
}

tuttiResult_t tuttiGatherAsync(const void* sendbuff, void* recvbuff, size_t sendcount,
                               tuttiDataType_t datatype, int root, tuttiComm_t comm,
                               tuttiWork_t* work) {
  return start(__func__, comm, work,
               movement(gather, sendbuff, recvbuff, sendcount, datatype, root));
}

tuttiResult_t tuttiAllToAll(const void* sendbuff, void* recvbuff, size_t count,
                            tuttiDataType_t datatype, tuttiComm_t comm) {
  return run(__func__, comm, movement(alltoall, sendbuff, recvbuff, count, datatype));
}

tuttiResult_t tuttiAllToAllAsync(const void* sendbuff, void* recvbuff, size_t count,
                                 tuttiDataType_t datatype, tuttiComm_t comm, tuttiWork_t* work) {
  return start(__func__, comm, work, movement(alltoall, sendbuff, recvbuff, count, datatype));
}

tuttiResult_t tuttiBarrier(tuttiComm_t comm) {
  return run(__func__, comm, Request{.collective = barrier});
}

tuttiResult_t tuttiBarrierAsync(tuttiComm_t comm, tuttiWork_t* work) {
  return start(__func__, comm, work, Request{.collective = barrier});
}

// Blocks of different lengths -----------------------------------------------------------------

tuttiResult_t tuttiAllGatherV(const void* sendbuff, void* recvbuff, const size_t* counts,
                              tuttiDataType_t datatype, tuttiComm_t comm) {
  return run(__func__, comm, counted(allgather, sendbuff, recvbuff, counts, datatype));
}

tuttiResult_t tuttiAllGatherVAsync(const void* sendbuff, void* recvbuff, const size_t* counts,
                                   tuttiDataType_t datatype, tuttiComm_t comm, tuttiWork_t* work) {
  return start(__func__, comm, work, counted(allgather, sendbuff, recvbuff, counts, datatype));
}

tuttiResult_t tuttiReduceScatterV(const void* sendbuff, void* recvbuff, const size_t* counts,
                                  tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm) {
  return run(__func__, comm, counted_reduction(sendbuff, recvbuff, counts, datatype, op));
}

tuttiResult_t tuttiReduceScatterVAsync(const void* sendbuff, void* recvbuff, const size_t* counts,
                                       tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm,
                                       tuttiWork_t* work) {
  return start(__func__, comm, work, counted_reduction(sendbuff, recvbuff, counts, datatype, op));
}

tuttiResult_t tuttiScatterV(const void* sendbuff, void* recvbuff, const size_t* counts,
                            tuttiDataType_t datatype, int root, tuttiComm_t comm) {
  return run(__func__, comm, counted(scatter, sendbuff, recvbuff, counts, datatype, root));
}

tuttiResult_t tuttiScatterVAsync(const void* sendbuff, void* recvbuff, const size_t* counts,
                                 tuttiDataType_t datatype, int root, tuttiComm_t comm,
                                 tuttiWork_t* work) {
  return start(__func__, comm, work, counted(scatter, sendbuff, recvbuff, counts, datatype, root));
}

tuttiResult_t tuttiGatherV(const void* sendbuff, void* recvbuff, const size_t* counts,
                           tuttiDataType_t datatype, int root, tuttiComm_t comm) {
  return run(__func__, comm, counted(gather, sendbuff, recvbuff, counts, datatype, root));
}

tuttiResult_t tuttiGatherVAsync(const void* sendbuff, void* recvbuff, const size_t* counts,
                                tuttiDataType_t datatype, int root, tuttiComm_t comm,
                                tuttiWork_t* work) {
  return start(__func__, comm, work, counted(gather, sendbuff, recvbuff, counts, datatype, root));
}

tuttiResult_t tuttiAllToAllV(const void* sendbuff, const size_t* sendcounts, void* recvbuff,
                             const size_t* recvcounts, tuttiDataType_t datatype, tuttiComm_t comm) {
  return run(__func__, comm,
             counted_both_ways(sendbuff, sendcounts, recvbuff, recvcounts, datatype));
}

tuttiResult_t tuttiAllToAllVAsync(const void* sendbuff, const size_t* sendcounts, void* recvbuff,
                                  const size_t* recvcounts, tuttiDataType_t datatype,
                                  tuttiComm_t comm, tuttiWork_t* work) {
  return start(__func__, comm, work,
               counted_both_ways(sendbuff, sendcounts, recvbuff, recvcounts, datatype));
}
