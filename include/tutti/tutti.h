/* The C interface of tutti. It follows NCCL: names, arguments and results are the same, but buffers
 * are in host memory and there is no stream. docs/c-api.md compares the two name by name.
 *
 * Every function except tuttiGetErrorString and tuttiGetLastError returns a tuttiResult_t. If the
 * result is not tuttiSuccess, tuttiGetLastError returns what went wrong and how to correct it. A
 * NULL handle or pointer gives tuttiInvalidArgument, unless NULL is documented as allowed.
 *
 * All ranks of a communicator must call the same collectives in the same order. Sends and receives
 * are ordered only between the two ranks involved. Only one thread at a time may call collectives
 * of a communicator, unless its tuttiConfig_t allows more. Different communicators, including
 * duplicates, are independent of each other.
 */
#ifndef TUTTI_TUTTI_H_
#define TUTTI_TUTTI_H_

#include <stddef.h>
#include <stdint.h>

#include <tutti/export.hpp> /* TUTTI_API. This header is valid C. */

#define TUTTI_MAJOR 0
#define TUTTI_MINOR 1
#define TUTTI_PATCH 0
/* In the format of tuttiGetVersion: 10203 is 1.2.3. */
#define TUTTI_VERSION_CODE (TUTTI_MAJOR * 10000 + TUTTI_MINOR * 100 + TUTTI_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* One rank's membership in a group of ranks that call collectives together. */
typedef struct tuttiComm* tuttiComm_t;
/* An asynchronous call: it runs while the caller does something else. */
typedef struct tuttiWork* tuttiWork_t;
/* A user-defined reduction operation. */
typedef struct tuttiOp* tuttiOp_t;
/* A verified schedule: what each rank sends, receives and reduces in a collective. */
typedef struct tuttiSchedule* tuttiSchedule_t;

/* Results ------------------------------------------------------------------------------------- */

/* A result says what the caller can do next. */
typedef enum {
  tuttiSuccess = 0,
  tuttiInvalidArgument = 1, /* Correct the call; nothing was done. */
  tuttiUnsupported = 2,     /* Use another combination: this one is not implemented. */
  tuttiMismatch = 3,        /* The ranks made different calls: make them call the same thing. */
  tuttiTimedOut = 4,        /* Raise the timeout (TUTTI_TIMEOUT), or find the late rank. */
  tuttiPeerLost = 5,        /* A rank is lost: continue without it, or start again. */
  tuttiAborted = 6,         /* The communicator was aborted: make a new one. */
  tuttiInternal = 7,        /* A bug in tutti: report it. */
  tuttiInProgress = 8,      /* Not an error: the work is not done yet. Wait again. */
  tuttiResultLimit = 0x7fffffff
} tuttiResult_t;

/* Gets the version of the library. It may be newer than this header (TUTTI_VERSION_CODE). */
TUTTI_API tuttiResult_t tuttiGetVersion(int* version);

/* Returns a short description of a result. Never NULL. */
TUTTI_API const char* tuttiGetErrorString(tuttiResult_t result);

/* Returns the message of the last failed call of this thread: the rank, the call and the cure.
 * Empty if no call has failed. Valid until the next failed call of this thread. `comm` is ignored
 * and may be NULL. */
TUTTI_API const char* tuttiGetLastError(tuttiComm_t comm);

/* Elements and operations --------------------------------------------------------------------- */

/* Values below 100 are the same as in NCCL. Values from 100 on are types that NCCL lacks. */
typedef enum {
  tuttiInt8 = 0,
  tuttiChar = 0,
  tuttiUint8 = 1,
  tuttiInt32 = 2,
  tuttiInt = 2,
  tuttiUint32 = 3,
  tuttiInt64 = 4,
  tuttiUint64 = 5,
  tuttiFloat16 = 6, /* IEEE 754 binary16. */
  tuttiHalf = 6,
  tuttiFloat32 = 7,
  tuttiFloat = 7,
  tuttiFloat64 = 8,
  tuttiDouble = 8,
  tuttiBfloat16 = 9, /* The upper half of a float. */
  /* OCP's 8-bit formats, without saturation. */
  tuttiFloat8e4m3 = 10,
  tuttiFloat8e5m2 = 11,
  tuttiInt16 = 100,
  tuttiUint16 = 101,
  tuttiComplex64 = 102,  /* Two floats, the real part first: float _Complex. */
  tuttiComplex128 = 103, /* Two doubles: double _Complex. */
  tuttiDataTypeLimit = 0x7fffffff
} tuttiDataType_t;

/* The first five values are the same as in NCCL. */
typedef enum {
  tuttiSum = 0,
  tuttiProd = 1,
  tuttiMax = 2,
  tuttiMin = 3,
  tuttiAvg = 4,  /* The sum divided by the number of ranks. Integers round towards zero. */
  tuttiBand = 5, /* Bitwise and, or, exclusive or: integers only. */
  tuttiBor = 6,
  tuttiBxor = 7,
  tuttiRedOpLimit = 0x7fffffff
} tuttiRedOp_t;

/* A user-defined operation: accumulator[i] = op(accumulator[i], contribution[i]) for `count`
 * elements. It must be associative and commutative. Asynchronous calls invoke it from a thread of
 * the library. */
typedef void (*tuttiCombine_t)(void* accumulator, const void* contribution, size_t count,
                               void* context);

/* Creates an operation for tuttiAllReduceWith, tuttiReduceWith and tuttiReduceScatterWith.
 * `element_bytes` is any size. Elements are aligned as in an array, to 8 bytes at most. `context`
 * is passed to every call of `combine`. */
TUTTI_API tuttiResult_t tuttiRedOpCreate(tuttiOp_t* op, tuttiCombine_t combine, void* context,
                                         size_t element_bytes);
/* Calls that were started with the operation still finish. */
TUTTI_API tuttiResult_t tuttiRedOpDestroy(tuttiOp_t op);

/* Communicators ------------------------------------------------------------------------------- */

/* The meeting point of a new communicator, and the key by which its ranks authenticate each other.
 * Null-terminated text. Rank 0 makes it and passes it to the other ranks by any means: a pipe, a
 * file, a variable. It contains "tutti1", a random key, a port and the addresses on which rank 0
 * listens: those of the host's interfaces (TUTTI_SOCKET_IFNAME, TUTTI_PORT_RANGE). Any process that
 * knows it can join, so keep it secret. TUTTI_SECRET, if set, is not part of the id and must be the
 * same on all ranks. */
#define TUTTI_UNIQUE_ID_BYTES 128
typedef struct {
  char internal[TUTTI_UNIQUE_ID_BYTES];
} tuttiUniqueId;

/* Makes an id and starts to listen for the other ranks. The calling process, or a child that it
 * forks, must become rank 0 of the communicator. An id makes one communicator. A process may have
 * several ids at once. */
TUTTI_API tuttiResult_t tuttiGetUniqueId(tuttiUniqueId* id);

/* Joins a communicator of `nranks` ranks as `rank`. Returns when all ranks have joined. If some
 * have not joined within TUTTI_TIMEOUT, fails with an error that names them. Ranks may be
 * processes, threads of one process, or both. */
TUTTI_API tuttiResult_t tuttiCommInitRank(tuttiComm_t* comm, int nranks, tuttiUniqueId id,
                                          int rank);

/* Joins the group in which `tutti run`, torchrun, mpirun, srun or mpiexec started this process.
 * Without a launcher, makes a communicator of one rank. */
TUTTI_API tuttiResult_t tuttiCommInitFromEnvironment(tuttiComm_t* comm);

/* Waits for the calls under way, then frees the communicator. */
TUTTI_API tuttiResult_t tuttiCommDestroy(tuttiComm_t comm);

/* Makes every call of every rank on `comm` fail, both those under way and later ones. `reason`
 * becomes part of the error message and may be NULL. Any thread may call this. Unlike ncclCommAbort
 * it does not free the communicator: call tuttiCommDestroy for that. */
TUTTI_API tuttiResult_t tuttiCommAbort(tuttiComm_t comm, const char* reason);

TUTTI_API tuttiResult_t tuttiCommCount(tuttiComm_t comm, int* count);
TUTTI_API tuttiResult_t tuttiCommUserRank(tuttiComm_t comm, int* rank);

/* Ranks of the same colour form a new communicator, ordered by key and then by rank. A rank whose
 * colour is TUTTI_SPLIT_NOCOLOR gets NULL; its `newcomm` may be NULL. All ranks must call this. */
#define TUTTI_SPLIT_NOCOLOR (-1)
TUTTI_API tuttiResult_t tuttiCommSplit(tuttiComm_t comm, int color, int key, tuttiComm_t* newcomm);

/* Makes another communicator of the same ranks. Its calls are independent of those on `comm`. All
 * ranks must call this. */
TUTTI_API tuttiResult_t tuttiCommDuplicate(tuttiComm_t comm, tuttiComm_t* newcomm);

/* After a call on `comm` has failed: makes a communicator of the surviving ranks, in the same
 * order. All survivors must call this. If `comm` has not failed, returns tuttiInvalidArgument, and
 * `comm` can be used as before. */
TUTTI_API tuttiResult_t tuttiCommShrink(tuttiComm_t comm, tuttiComm_t* newcomm);

/* Adds the processes that wait in tuttiCommJoin. `at` is the address on which the process of rank 0
 * listens for them: "127.0.0.1:29600". Gives NULL if no process waits. All ranks must call this. */
TUTTI_API tuttiResult_t tuttiCommGrow(tuttiComm_t comm, const char* at, tuttiComm_t* newcomm);
/* Connects to the address `at` of a group and waits until tuttiCommGrow adds this process, which
 * needs the secret of the group. */
TUTTI_API tuttiResult_t tuttiCommJoin(const char* at, int64_t timeout_ms, tuttiComm_t* newcomm);

/* The traffic of this rank in collectives on `comm` so far. Sends and receives are not counted. */
typedef struct {
  uint64_t calls;
  uint64_t bytes_sent;
  uint64_t bytes_received;
  uint64_t messages_sent; /* Steps of the schedules, as `tutti cost` counts them. */
  uint64_t messages_received;
} tuttiCounters_t;
/* No call may be under way on `comm`. */
TUTTI_API tuttiResult_t tuttiCommCounters(tuttiComm_t comm, tuttiCounters_t* counters);

/* Work ---------------------------------------------------------------------------------------- */

/* Every call below that moves data also exists with a name that ends in Async. It starts the call,
 * returns at once and gives a handle. Calls run in the order in which they were made, including the
 * blocking ones. Buffers must stay valid and unchanged until the work is done. Arrays of counts may
 * be freed when the Async call returns. */

/* Sets *done to 1 if the work is done, whether it succeeded or failed. */
TUTTI_API tuttiResult_t tuttiWorkTest(tuttiWork_t work, int* done);
/* Waits until the work is done and returns its result. Waits at most `timeout_ms`, or without limit
 * if negative. Returns tuttiInProgress if the time is over first. */
TUTTI_API tuttiResult_t tuttiWorkWait(tuttiWork_t work, int64_t timeout_ms);
/* Frees the handle; the call itself continues. Every handle must be destroyed once, also after its
 * communicator was destroyed. */
TUTTI_API tuttiResult_t tuttiWorkDestroy(tuttiWork_t work);

/* Collectives --------------------------------------------------------------------------------- */

/* `count` is a number of elements: of the whole buffer for broadcast, reduce and allreduce, of one
 * block for the others. A call may be in place: sendbuff equals recvbuff or, for collectives on
 * blocks, the smaller buffer is this rank's block of the larger one. Otherwise the buffers must not
 * overlap. */

/* Every rank gets the reduction of all ranks' data. */
TUTTI_API tuttiResult_t tuttiAllReduce(const void* sendbuff, void* recvbuff, size_t count,
                                       tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiAllReduceAsync(const void* sendbuff, void* recvbuff, size_t count,
                                            tuttiDataType_t datatype, tuttiRedOp_t op,
                                            tuttiComm_t comm, tuttiWork_t* work);

/* The root gets the reduction of all ranks' data. recvbuff is ignored on other ranks. */
TUTTI_API tuttiResult_t tuttiReduce(const void* sendbuff, void* recvbuff, size_t count,
                                    tuttiDataType_t datatype, tuttiRedOp_t op, int root,
                                    tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiReduceAsync(const void* sendbuff, void* recvbuff, size_t count,
                                         tuttiDataType_t datatype, tuttiRedOp_t op, int root,
                                         tuttiComm_t comm, tuttiWork_t* work);

/* Rank r gets block r of the reduction. */
TUTTI_API tuttiResult_t tuttiReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                                           tuttiDataType_t datatype, tuttiRedOp_t op,
                                           tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiReduceScatterAsync(const void* sendbuff, void* recvbuff,
                                                size_t recvcount, tuttiDataType_t datatype,
                                                tuttiRedOp_t op, tuttiComm_t comm,
                                                tuttiWork_t* work);

/* The same three with a user-defined operation. The operation defines the element size. */
TUTTI_API tuttiResult_t tuttiAllReduceWith(const void* sendbuff, void* recvbuff, size_t count,
                                           tuttiOp_t op, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiAllReduceWithAsync(const void* sendbuff, void* recvbuff, size_t count,
                                                tuttiOp_t op, tuttiComm_t comm, tuttiWork_t* work);
TUTTI_API tuttiResult_t tuttiReduceWith(const void* sendbuff, void* recvbuff, size_t count,
                                        tuttiOp_t op, int root, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiReduceWithAsync(const void* sendbuff, void* recvbuff, size_t count,
                                             tuttiOp_t op, int root, tuttiComm_t comm,
                                             tuttiWork_t* work);
TUTTI_API tuttiResult_t tuttiReduceScatterWith(const void* sendbuff, void* recvbuff,
                                               size_t recvcount, tuttiOp_t op, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiReduceScatterWithAsync(const void* sendbuff, void* recvbuff,
                                                    size_t recvcount, tuttiOp_t op,
                                                    tuttiComm_t comm, tuttiWork_t* work);

/* How reproducible the bits of a reduction are. Each level includes the one before it. See
 * docs/determinism.md. */
typedef enum {
  tuttiReproducibleRun = 0,   /* Same bits on all ranks, and in every run of the same calls. */
  tuttiReproducibleOrder = 1, /* Also for every algorithm, transport and bucket, in place or not. */
  tuttiReproducibleExact = 2, /* Also for every order of contributions and number of ranks. */
  tuttiReproducibleLimit = 0x7fffffff
} tuttiReproducible_t;
/* Sets the level for later reductions on `comm`. All ranks must set the same level. Communicators
 * made from `comm` start with tuttiReproducibleRun. */
TUTTI_API tuttiResult_t tuttiCommSetReproducible(tuttiComm_t comm, tuttiReproducible_t level);

/* Reductions in which a rank contributes `nshards` shards, which may be 0. Each has `count`
 * elements (nranks * recvcount for ReduceScatter). The same shards give the same bits for every
 * distribution over ranks (tuttiReproducibleExact). tuttiAvg divides by the number of shards. All
 * ranks must call this. */
TUTTI_API tuttiResult_t tuttiAllReduceShards(const void* const* shards, size_t nshards,
                                             void* recvbuff, size_t count, tuttiDataType_t datatype,
                                             tuttiRedOp_t op, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiAllReduceShardsAsync(const void* const* shards, size_t nshards,
                                                  void* recvbuff, size_t count,
                                                  tuttiDataType_t datatype, tuttiRedOp_t op,
                                                  tuttiComm_t comm, tuttiWork_t* work);
TUTTI_API tuttiResult_t tuttiReduceShards(const void* const* shards, size_t nshards, void* recvbuff,
                                          size_t count, tuttiDataType_t datatype, tuttiRedOp_t op,
                                          int root, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiReduceShardsAsync(const void* const* shards, size_t nshards,
                                               void* recvbuff, size_t count,
                                               tuttiDataType_t datatype, tuttiRedOp_t op, int root,
                                               tuttiComm_t comm, tuttiWork_t* work);
TUTTI_API tuttiResult_t tuttiReduceScatterShards(const void* const* shards, size_t nshards,
                                                 void* recvbuff, size_t recvcount,
                                                 tuttiDataType_t datatype, tuttiRedOp_t op,
                                                 tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiReduceScatterShardsAsync(const void* const* shards, size_t nshards,
                                                      void* recvbuff, size_t recvcount,
                                                      tuttiDataType_t datatype, tuttiRedOp_t op,
                                                      tuttiComm_t comm, tuttiWork_t* work);

/* Every rank gets the root's data. sendbuff is ignored on other ranks. */
TUTTI_API tuttiResult_t tuttiBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                                       tuttiDataType_t datatype, int root, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiBroadcastAsync(const void* sendbuff, void* recvbuff, size_t count,
                                            tuttiDataType_t datatype, int root, tuttiComm_t comm,
                                            tuttiWork_t* work);
/* In place. */
TUTTI_API tuttiResult_t tuttiBcast(void* buff, size_t count, tuttiDataType_t datatype, int root,
                                   tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiBcastAsync(void* buff, size_t count, tuttiDataType_t datatype,
                                        int root, tuttiComm_t comm, tuttiWork_t* work);

/* Every rank gets the blocks of all ranks, in rank order. */
TUTTI_API tuttiResult_t tuttiAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                                       tuttiDataType_t datatype, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiAllGatherAsync(const void* sendbuff, void* recvbuff, size_t sendcount,
                                            tuttiDataType_t datatype, tuttiComm_t comm,
                                            tuttiWork_t* work);

/* Rank r gets block r of the root. sendbuff is ignored on other ranks. */
TUTTI_API tuttiResult_t tuttiScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                                     tuttiDataType_t datatype, int root, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiScatterAsync(const void* sendbuff, void* recvbuff, size_t recvcount,
                                          tuttiDataType_t datatype, int root, tuttiComm_t comm,
                                          tuttiWork_t* work);

/* The root gets the blocks of all ranks, in rank order. recvbuff is ignored on other ranks. */
TUTTI_API tuttiResult_t tuttiGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                                    tuttiDataType_t datatype, int root, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiGatherAsync(const void* sendbuff, void* recvbuff, size_t sendcount,
                                         tuttiDataType_t datatype, int root, tuttiComm_t comm,
                                         tuttiWork_t* work);

/* Block d of rank s becomes block s of rank d. */
TUTTI_API tuttiResult_t tuttiAllToAll(const void* sendbuff, void* recvbuff, size_t count,
                                      tuttiDataType_t datatype, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiAllToAllAsync(const void* sendbuff, void* recvbuff, size_t count,
                                           tuttiDataType_t datatype, tuttiComm_t comm,
                                           tuttiWork_t* work);

/* Returns after all ranks have called it. */
TUTTI_API tuttiResult_t tuttiBarrier(tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiBarrierAsync(tuttiComm_t comm, tuttiWork_t* work);

/* Blocks of different lengths ----------------------------------------------------------------- */

/* The block of rank r has counts[r] elements. `counts` must be the same on all ranks. Blocks are
 * contiguous, in rank order. */

TUTTI_API tuttiResult_t tuttiAllGatherV(const void* sendbuff, void* recvbuff, const size_t* counts,
                                        tuttiDataType_t datatype, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiAllGatherVAsync(const void* sendbuff, void* recvbuff,
                                             const size_t* counts, tuttiDataType_t datatype,
                                             tuttiComm_t comm, tuttiWork_t* work);
TUTTI_API tuttiResult_t tuttiReduceScatterV(const void* sendbuff, void* recvbuff,
                                            const size_t* counts, tuttiDataType_t datatype,
                                            tuttiRedOp_t op, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiReduceScatterVAsync(const void* sendbuff, void* recvbuff,
                                                 const size_t* counts, tuttiDataType_t datatype,
                                                 tuttiRedOp_t op, tuttiComm_t comm,
                                                 tuttiWork_t* work);
TUTTI_API tuttiResult_t tuttiScatterV(const void* sendbuff, void* recvbuff, const size_t* counts,
                                      tuttiDataType_t datatype, int root, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiScatterVAsync(const void* sendbuff, void* recvbuff,
                                           const size_t* counts, tuttiDataType_t datatype, int root,
                                           tuttiComm_t comm, tuttiWork_t* work);
TUTTI_API tuttiResult_t tuttiGatherV(const void* sendbuff, void* recvbuff, const size_t* counts,
                                     tuttiDataType_t datatype, int root, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiGatherVAsync(const void* sendbuff, void* recvbuff,
                                          const size_t* counts, tuttiDataType_t datatype, int root,
                                          tuttiComm_t comm, tuttiWork_t* work);
/* Sends sendcounts[d] elements to rank d and receives recvcounts[s] elements from rank s. */
TUTTI_API tuttiResult_t tuttiAllToAllV(const void* sendbuff, const size_t* sendcounts,
                                       void* recvbuff, const size_t* recvcounts,
                                       tuttiDataType_t datatype, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiAllToAllVAsync(const void* sendbuff, const size_t* sendcounts,
                                            void* recvbuff, const size_t* recvcounts,
                                            tuttiDataType_t datatype, tuttiComm_t comm,
                                            tuttiWork_t* work);

/* Schedules ----------------------------------------------------------------------------------- */

/* Reads a schedule in JSON (docs/schedule-json.md) from a null-terminated string or from a file,
 * and verifies it. A schedule that violates the contract of its collective gives
 * tuttiInvalidArgument; tuttiGetLastError lists the first violations. All ranks must read the same
 * schedule. */
TUTTI_API tuttiResult_t tuttiScheduleFromJson(tuttiSchedule_t* schedule, const char* json);
TUTTI_API tuttiResult_t tuttiScheduleLoad(tuttiSchedule_t* schedule, const char* path);
/* Gets a hash of the schedule's content. Names do not change it. */
TUTTI_API tuttiResult_t tuttiScheduleHash(tuttiSchedule_t schedule, uint64_t* hash);
/* Calls that were started with the schedule still finish. */
TUTTI_API tuttiResult_t tuttiScheduleDestroy(tuttiSchedule_t schedule);

/* Any collective, with options ---------------------------------------------------------------- */

typedef enum {
  tuttiCollBroadcast = 0,
  tuttiCollScatter = 1,
  tuttiCollGather = 2,
  tuttiCollAllGather = 3,
  tuttiCollReduce = 4,
  tuttiCollAllReduce = 5,
  tuttiCollReduceScatter = 6,
  tuttiCollAllToAll = 7,
  tuttiCollBarrier = 8,
  tuttiCollectiveLimit = 0x7fffffff
} tuttiCollective_t;

/* Makes a schedule for a network, verified: a broadcast, reduce, allgather, reduce_scatter or
 * allreduce of about `bytes` bytes, for as many ranks as the network has. `network` is a spec such
 * as "torus:8x8" or the path of a file (docs/networks.md). Only broadcast and reduce use `root`.
 * The search takes up to a minute (docs/synthesis.md): let one rank do it, or do it once with
 * `tutti synth`. */
TUTTI_API tuttiResult_t tuttiScheduleSynthesize(tuttiSchedule_t* schedule,
                                                tuttiCollective_t collective, const char* network,
                                                int root, uint64_t bytes);

/* A collective with all its options. Start from TUTTI_CALL_INITIALIZER and set the members that
 * differ:
 *
 *   tuttiCall_t call = TUTTI_CALL_INITIALIZER;
 *   call.collective = tuttiCollAllReduce;
 *   call.sendbuff = call.recvbuff = data;
 *   call.count = 1024;
 *   call.datatype = tuttiFloat;
 *   call.schedule = schedule;
 *   tuttiRun(&call, comm);
 *
 * Later versions add members at the end. Programs built with an earlier version continue to work.
 */
typedef struct {
  size_t size; /* sizeof(tuttiCall_t). It tells the library the version of the caller's header. */
  tuttiCollective_t collective;
  const void* sendbuff;
  void* recvbuff;
  size_t count;             /* As in the functions above. */
  const size_t* counts;     /* In place of count: block lengths. For alltoall: sendcounts. */
  const size_t* recvcounts; /* For alltoall with counts only. */
  tuttiDataType_t datatype;
  tuttiRedOp_t op;
  tuttiOp_t custom; /* A user-defined operation in place of datatype and op, or NULL. */
  int root;
  /* Options. Zero and NULL mean the default. */
  const char* algorithm;     /* "allreduce/ring". Must be the same on all ranks. */
  tuttiSchedule_t schedule;  /* In place of algorithm. All ranks must pass the same content. */
  int64_t timeout_ms;        /* How long to wait for the other ranks. */
  const char* site;          /* The place in the program, for error messages: "step 12". */
  int keep_input;            /* Nonzero: sendbuff is unchanged if the call fails. */
  const char* shape;         /* How the ranks are grouped into nodes: "8x4". */
  const void* const* shards; /* In place of sendbuff: see tuttiAllReduceShards. A rank without */
  size_t nshards;            /* shards sets nshards to 0 and shards to any address but NULL. */
  tuttiReproducible_t reproducible; /* If stricter than that of the communicator. */
} tuttiCall_t;

#define TUTTI_CALL_INITIALIZER                                                                    \
  {                                                                                               \
    sizeof(tuttiCall_t), tuttiCollBarrier, NULL, NULL, 0, NULL, NULL, tuttiUint8, tuttiSum, NULL, \
        0, NULL, NULL, 0, NULL, 0, NULL, NULL, 0, tuttiReproducibleRun                            \
  }

TUTTI_API tuttiResult_t tuttiRun(const tuttiCall_t* call, tuttiComm_t comm);
/* Starts the call. The buffers must stay valid until the work is done. Everything else that `call`
 * points to may be freed when this returns. */
TUTTI_API tuttiResult_t tuttiStart(const tuttiCall_t* call, tuttiComm_t comm, tuttiWork_t* work);

/* Point to point ------------------------------------------------------------------------------ */

/* Returns when sendbuff may be changed again. That may be before or after `peer` receives. */
TUTTI_API tuttiResult_t tuttiSend(const void* sendbuff, size_t count, tuttiDataType_t datatype,
                                  int peer, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiSendAsync(const void* sendbuff, size_t count, tuttiDataType_t datatype,
                                       int peer, tuttiComm_t comm, tuttiWork_t* work);
/* `count` must equal the number of elements sent. */
TUTTI_API tuttiResult_t tuttiRecv(void* recvbuff, size_t count, tuttiDataType_t datatype, int peer,
                                  tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiRecvAsync(void* recvbuff, size_t count, tuttiDataType_t datatype,
                                       int peer, tuttiComm_t comm, tuttiWork_t* work);
/* Sends and receives at the same time, with one peer or two. In NCCL: a group of a send and a
 * receive. */
TUTTI_API tuttiResult_t tuttiSendRecv(const void* sendbuff, size_t sendcount, int to,
                                      void* recvbuff, size_t recvcount, int from,
                                      tuttiDataType_t datatype, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiSendRecvAsync(const void* sendbuff, size_t sendcount, int to,
                                           void* recvbuff, size_t recvcount, int from,
                                           tuttiDataType_t datatype, tuttiComm_t comm,
                                           tuttiWork_t* work);

#ifdef __cplusplus
}
#endif

/* More functions, by subject. Each header may be included alone. */
#include <tutti/c/config.h>
#include <tutti/c/memory.h>
#include <tutti/c/messages.h>
#include <tutti/c/prepared.h>

#endif
