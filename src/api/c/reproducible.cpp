#include <memory>

#include <tutti/tutti.h>

#include "api/c/dispatch.hpp"

// Levels of reproducibility and reductions of shards in C.

namespace tutti {
namespace {

/// The arguments of a reduction of shards.
struct ShardRequest {
  Collective collective;
  const void* const* shards;
  std::size_t shard_count;
  void* recv;
  std::size_t count;
  tuttiDataType_t type;
  tuttiRedOp_t op;
  int root = 0;
};

Call call_of(const ShardRequest& request) {
  if (request.shard_count > 0) (void)pointed_to(request.shards, "shards");
  return {.collective = request.collective,
          .output = request.recv,
          .shards = std::span(request.shards, request.shard_count),
          .count = request.count,
          .dtype = dtype_of(request.type),
          .reduction = op_of(request.op),
          .root = rank_from(request.root, "root"),
          .options = {.reproducible = Reproducible::exact}};
}

tuttiResult_t run(const char* function, tuttiComm_t comm, const ShardRequest& request) noexcept {
  return run_call(function, comm, [&] { return call_of(request); });
}

tuttiResult_t start(const char* function, tuttiComm_t comm, tuttiWork_t* work,
                    const ShardRequest& request) noexcept {
  return start_call(function, comm, work, [&] { return call_of(request); });
}

}  // namespace
}  // namespace tutti

using namespace tutti;

tuttiResult_t tuttiCommSetReproducible(tuttiComm_t comm, tuttiReproducible_t level) {
  return guarded(__func__, [&] { pointed_to(comm, "comm").reproducible = level_of(level); });
}

tuttiResult_t tuttiAllReduceShards(const void* const* shards, size_t nshards, void* recvbuff,
                                   size_t count, tuttiDataType_t datatype, tuttiRedOp_t op,
                                   tuttiComm_t comm) {
  return run(__func__, comm,
             {Collective::allreduce, shards, nshards, recvbuff, count, datatype, op});
}

tuttiResult_t tuttiAllReduceShardsAsync(const void* const* shards, size_t nshards, void* recvbuff,
                                        size_t count, tuttiDataType_t datatype, tuttiRedOp_t op,
                                        tuttiComm_t comm, tuttiWork_t* work) {
  return start(__func__, comm, work,
               {Collective::allreduce, shards, nshards, recvbuff, count, datatype, op});
}

tuttiResult_t tuttiReduceShards(const void* const* shards, size_t nshards, void* recvbuff,
                                size_t count, tuttiDataType_t datatype, tuttiRedOp_t op, int root,
                                tuttiComm_t comm) {
  return run(__func__, comm,
             {Collective::reduce, shards, nshards, recvbuff, count, datatype, op, root});
}

tuttiResult_t tuttiReduceShardsAsync(const void* const* shards, size_t nshards, void* recvbuff,
                                     size_t count, tuttiDataType_t datatype, tuttiRedOp_t op,
                                     int root, tuttiComm_t comm, tuttiWork_t* work) {
  return start(__func__, comm, work,
               {Collective::reduce, shards, nshards, recvbuff, count, datatype, op, root});
}

tuttiResult_t tuttiReduceScatterShards(const void* const* shards, size_t nshards, void* recvbuff,
                                       size_t recvcount, tuttiDataType_t datatype, tuttiRedOp_t op,
                                       tuttiComm_t comm) {
  return run(__func__, comm,
             {Collective::reduce_scatter, shards, nshards, recvbuff, recvcount, datatype, op});
}

tuttiResult_t tuttiReduceScatterShardsAsync(const void* const* shards, size_t nshards,
                                            void* recvbuff, size_t recvcount,
                                            tuttiDataType_t datatype, tuttiRedOp_t op,
                                            tuttiComm_t comm, tuttiWork_t* work) {
  return start(__func__, comm, work,
               {Collective::reduce_scatter, shards, nshards, recvbuff, recvcount, datatype, op});
}
