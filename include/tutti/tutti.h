/* tutti in C, in the shape of NCCL: what a call is named, takes and gives back is as there, with
 * host memory instead of a device's and no stream. docs/c-api.md puts the names side by side.
 *
 * Every function but tuttiGetErrorString and tuttiGetLastError returns a tuttiResult_t. On anything
 * but tuttiSuccess, tuttiGetLastError tells what went wrong and what to do about it. A handle or a
 * pointer that must not be NULL and is gives tuttiInvalidArgument.
 *
 * All ranks of a communicator make the same collectives in the same order; sends and receives count
 * only between the two ranks. One thread at a time may call collectives of a communicator, unless
 * its tuttiConfig_t says otherwise; different communicators, duplicates included, are independent
 * of each other.
 */
#ifndef TUTTI_TUTTI_H_
#define TUTTI_TUTTI_H_

#include <stddef.h>
#include <stdint.h>

#include <tutti/export.hpp> /* TUTTI_API: nothing that C cannot read. */

#define TUTTI_MAJOR 0
#define TUTTI_MINOR 1
#define TUTTI_PATCH 0
/* As tuttiGetVersion gives it: 10203 is 1.2.3. */
#define TUTTI_VERSION_CODE (TUTTI_MAJOR * 10000 + TUTTI_MINOR * 100 + TUTTI_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* One rank's membership in a group of ranks that call collectives together. */
typedef struct tuttiComm* tuttiComm_t;
/* A call that goes on while the caller does something else. */
typedef struct tuttiWork* tuttiWork_t;
/* An operation of the caller's. */
typedef struct tuttiOp* tuttiOp_t;
/* A schedule that was proved right: what each rank sends, receives and adds in a collective. */
typedef struct tuttiSchedule* tuttiSchedule_t;

/* Results ------------------------------------------------------------------------------------- */

/* What the caller can do about it. */
typedef enum {
  tuttiSuccess = 0,
  tuttiInvalidArgument = 1, /* Correct the call; nothing was done. */
  tuttiUnsupported = 2,     /* Ask for something else: this combination has no implementation. */
  tuttiMismatch = 3,        /* Ranks disagree about the call: make them call the same thing. */
  tuttiTimedOut = 4,        /* Wait longer (TUTTI_TIMEOUT), or find out who is late. */
  tuttiPeerLost = 5,        /* Go on without the peer, or start again. */
  tuttiAborted = 6,         /* The communicator was given up: make a new one. */
  tuttiInternal = 7,        /* A defect of tutti: report it. */
  tuttiInProgress = 8,      /* No error: the work is not done yet. Wait again. */
  tuttiResultLimit = 0x7fffffff
} tuttiResult_t;

/* The version of the library, which may be newer than this header: see TUTTI_VERSION_CODE. */
TUTTI_API tuttiResult_t tuttiGetVersion(int* version);

/* What a result means, in a few words. Never NULL. */
TUTTI_API const char* tuttiGetErrorString(tuttiResult_t result);

/* What went wrong when a call of this thread last failed: who, in which call, and the cure. Empty
 * if none has. Stays until the next call of this thread that fails. `comm` is not looked at, and
 * may be NULL. */
TUTTI_API const char* tuttiGetLastError(tuttiComm_t comm);

/* Elements and operations --------------------------------------------------------------------- */

/* Up to 99 the numbers are NCCL's; from 100 on are types that NCCL does not have. */
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
  tuttiInt16 = 100,
  tuttiUint16 = 101,
  tuttiComplex64 = 102,  /* Two floats, the real part first: float _Complex. */
  tuttiComplex128 = 103, /* Two doubles: double _Complex. */
  tuttiDataTypeLimit = 0x7fffffff
} tuttiDataType_t;

/* The first five numbers are NCCL's. */
typedef enum {
  tuttiSum = 0,
  tuttiProd = 1,
  tuttiMax = 2,
  tuttiMin = 3,
  tuttiAvg = 4,  /* The sum divided by the number of ranks, towards zero for integers. */
  tuttiBand = 5, /* Bitwise and, or, exclusive or: for integers. */
  tuttiBor = 6,
  tuttiBxor = 7,
  tuttiRedOpLimit = 0x7fffffff
} tuttiRedOp_t;

/* An operation of the caller's: accumulator[i] = accumulator[i] + contribution[i] for `count`
 * elements, with whatever + is to mean. It must be associative and commutative, and is called from
 * a thread of tutti's where the call is asynchronous. */
typedef void (*tuttiCombine_t)(void* accumulator, const void* contribution, size_t count,
                               void* context);

/* Elements have 1, 2, 4, 8, 16, 32 or 64 bytes. `context` is handed to every call of `combine`. It
 * goes into tuttiAllReduceWith, tuttiReduceWith and tuttiReduceScatterWith. */
TUTTI_API tuttiResult_t tuttiRedOpCreate(tuttiOp_t* op, tuttiCombine_t combine, void* context,
                                         size_t element_bytes);
/* Calls that were begun go on with it. */
TUTTI_API tuttiResult_t tuttiRedOpDestroy(tuttiOp_t op);

/* Communicators ------------------------------------------------------------------------------- */

/* Where the ranks of a communicator meet, and by which they know each other: text with a zero at
 * its end. One rank makes it and hands it to the others by any means: a pipe, a file, a variable.
 * It holds "tutti1", a random key, a port and the addresses at which rank 0 listens: those of this
 * host's interfaces (TUTTI_SOCKET_IFNAME, TUTTI_PORT_RANGE). Whoever knows it can join: keep it to
 * the ranks. Where TUTTI_SECRET is set, it must be the same for all ranks, and is not part of it.
 */
#define TUTTI_UNIQUE_ID_BYTES 128
typedef struct {
  char internal[TUTTI_UNIQUE_ID_BYTES];
} tuttiUniqueId;

/* Makes an id and begins to listen for those who will use it. The process that calls this (or a
 * child that it forks) must become rank 0 of the communicator. An id makes one communicator; a
 * process may have several ids at once. */
TUTTI_API tuttiResult_t tuttiGetUniqueId(tuttiUniqueId* id);

/* Joins the communicator of `nranks` ranks as `rank`, and returns when all have: within
 * TUTTI_TIMEOUT, or with an error that names who is missing. Ranks may be processes, threads of one
 * process, or both. */
TUTTI_API tuttiResult_t tuttiCommInitRank(tuttiComm_t* comm, int nranks, tuttiUniqueId id,
                                          int rank);

/* The group that this process was started in by `tutti run`, torchrun, mpirun, srun or mpiexec; a
 * communicator of one if it was not. */
TUTTI_API tuttiResult_t tuttiCommInitFromEnvironment(tuttiComm_t* comm);

/* Finishes what was begun, and frees the communicator. */
TUTTI_API tuttiResult_t tuttiCommDestroy(tuttiComm_t comm);

/* Ends every call of every rank on `comm`, those under way and those to come, with this reason,
 * which may be NULL. Any thread may call it. Unlike NCCL's, it does not free the communicator:
 * tuttiCommDestroy does. */
TUTTI_API tuttiResult_t tuttiCommAbort(tuttiComm_t comm, const char* reason);

TUTTI_API tuttiResult_t tuttiCommCount(tuttiComm_t comm, int* count);
TUTTI_API tuttiResult_t tuttiCommUserRank(tuttiComm_t comm, int* rank);

/* Ranks of the same colour form a new communicator, ordered by key and then by rank. A rank whose
 * colour is TUTTI_SPLIT_NOCOLOR gets NULL, and need not say where to put it. All ranks call it. */
#define TUTTI_SPLIT_NOCOLOR (-1)
TUTTI_API tuttiResult_t tuttiCommSplit(tuttiComm_t comm, int color, int key, tuttiComm_t* newcomm);

/* The same group again, for calls that are independent of this communicator's. All ranks call it.
 */
TUTTI_API tuttiResult_t tuttiCommDuplicate(tuttiComm_t comm, tuttiComm_t* newcomm);

/* After a call on `comm` has failed: a communicator of those ranks that are left, in their order.
 * All of them call it. */
TUTTI_API tuttiResult_t tuttiCommShrink(tuttiComm_t comm, tuttiComm_t* newcomm);

/* Lets in who waits at the door, "127.0.0.1:29600", which the process of rank 0 keeps. All ranks
 * call it. NULL if nobody waits. */
TUTTI_API tuttiResult_t tuttiCommGrow(tuttiComm_t comm, const char* at, tuttiComm_t* newcomm);
/* Waits at the door of a group until it lets this process in. */
TUTTI_API tuttiResult_t tuttiCommJoin(const char* at, int64_t timeout_ms, tuttiComm_t* newcomm);

/* What this rank has done in its collectives on `comm` so far; sends and receives are not counted.
 */
typedef struct {
  uint64_t calls;
  uint64_t bytes_sent;
  uint64_t bytes_received;
  uint64_t messages_sent; /* Steps of the schedules, as `tutti cost` counts them. */
  uint64_t messages_received;
} tuttiCounters_t;
/* Ask when no call is under way. */
TUTTI_API tuttiResult_t tuttiCommCounters(tuttiComm_t comm, tuttiCounters_t* counters);

/* Memory -------------------------------------------------------------------------------------- */

/* Memory that the other ranks of this host can read: collectives on it copy nothing needlessly. Any
 * other memory will do as well. Begins as zeros on a page's boundary, in whole pages. */
TUTTI_API tuttiResult_t tuttiMemAlloc(void** memory, size_t bytes);
/* NULL is fine. */
TUTTI_API tuttiResult_t tuttiMemFree(void* memory);

/* Work ---------------------------------------------------------------------------------------- */

/* Every call below that moves data has a twin whose name ends in Async: it begins the call, gives a
 * handle to it and returns. Calls are done in the order in which they were made, blocking ones
 * among them. Buffers must stay as they are until the work is done; arrays of counts need not. */

/* Whether it is done, well or not. */
TUTTI_API tuttiResult_t tuttiWorkTest(tuttiWork_t work, int* done);
/* Waits until it is done, and returns how it went; at most so many milliseconds, or for good if
 * negative. tuttiInProgress if it is not done by then. */
TUTTI_API tuttiResult_t tuttiWorkWait(tuttiWork_t work, int64_t timeout_ms);
/* Lets go of it; the work goes on. Every handle wants this once, even after its communicator. */
TUTTI_API tuttiResult_t tuttiWorkDestroy(tuttiWork_t work);

/* Collectives --------------------------------------------------------------------------------- */

/* `count` is in elements: of the whole data for broadcast, reduce and allreduce, of one block for
 * the others. Send and receive buffer may be the same memory: for blocks, the rank's own block
 * within the larger buffer. Otherwise they must not overlap. */

/* Everyone ends with the combination of all ranks' data. */
TUTTI_API tuttiResult_t tuttiAllReduce(const void* sendbuff, void* recvbuff, size_t count,
                                       tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiAllReduceAsync(const void* sendbuff, void* recvbuff, size_t count,
                                            tuttiDataType_t datatype, tuttiRedOp_t op,
                                            tuttiComm_t comm, tuttiWork_t* work);

/* The root ends with the combination of all ranks' data. Others' recvbuff is not heeded. */
TUTTI_API tuttiResult_t tuttiReduce(const void* sendbuff, void* recvbuff, size_t count,
                                    tuttiDataType_t datatype, tuttiRedOp_t op, int root,
                                    tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiReduceAsync(const void* sendbuff, void* recvbuff, size_t count,
                                         tuttiDataType_t datatype, tuttiRedOp_t op, int root,
                                         tuttiComm_t comm, tuttiWork_t* work);

/* Rank r ends with block r of the combination. */
TUTTI_API tuttiResult_t tuttiReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                                           tuttiDataType_t datatype, tuttiRedOp_t op,
                                           tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiReduceScatterAsync(const void* sendbuff, void* recvbuff,
                                                size_t recvcount, tuttiDataType_t datatype,
                                                tuttiRedOp_t op, tuttiComm_t comm,
                                                tuttiWork_t* work);

/* The same three by an operation of the caller's, which knows how long its elements are. */
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

/* What the bits of a reduction may depend on, other than its contributions: docs/determinism.md. */
typedef enum {
  tuttiReproducibleRun = 0,   /* The same on all ranks, and in every run of the same calls. */
  tuttiReproducibleOrder = 1, /* And whatever algorithm, transport, bucket, in place or not. */
  tuttiReproducibleExact = 2, /* And whatever order of contributions and number of ranks. */
  tuttiReproducibleLimit = 0x7fffffff
} tuttiReproducible_t;
/* For the reductions on `comm` from now on; all ranks must set the same. Communicators that are
 * made from it begin with tuttiReproducibleRun. */
TUTTI_API tuttiResult_t tuttiCommSetReproducible(tuttiComm_t comm, tuttiReproducible_t level);

/* Reductions to which a rank brings `nshards` contributions of `count` elements each (of nranks
 * times `recvcount` for ReduceScatter), or none: the same shards give the same bits however they
 * are spread over ranks (tuttiReproducibleExact). Averages are over shards. All ranks call it. */
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

/* Everyone ends with the root's data. Others' sendbuff is not heeded. */
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

/* Everyone ends with the blocks of all, in order of rank. */
TUTTI_API tuttiResult_t tuttiAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                                       tuttiDataType_t datatype, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiAllGatherAsync(const void* sendbuff, void* recvbuff, size_t sendcount,
                                            tuttiDataType_t datatype, tuttiComm_t comm,
                                            tuttiWork_t* work);

/* Rank r ends with block r of the root's. Others' sendbuff is not heeded. */
TUTTI_API tuttiResult_t tuttiScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                                     tuttiDataType_t datatype, int root, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiScatterAsync(const void* sendbuff, void* recvbuff, size_t recvcount,
                                          tuttiDataType_t datatype, int root, tuttiComm_t comm,
                                          tuttiWork_t* work);

/* The root ends with the blocks of all, in order of rank. Others' recvbuff is not heeded. */
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

/* Nobody returns before all have called. */
TUTTI_API tuttiResult_t tuttiBarrier(tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiBarrierAsync(tuttiComm_t comm, tuttiWork_t* work);

/* Blocks of different lengths ----------------------------------------------------------------- */

/* counts[r] elements are rank r's block, the same array on all ranks. Blocks stand one after the
 * other, with nothing between them. */

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
/* sendcounts[d] elements go to rank d, recvcounts[s] come from rank s. */
TUTTI_API tuttiResult_t tuttiAllToAllV(const void* sendbuff, const size_t* sendcounts,
                                       void* recvbuff, const size_t* recvcounts,
                                       tuttiDataType_t datatype, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiAllToAllVAsync(const void* sendbuff, const size_t* sendcounts,
                                            void* recvbuff, const size_t* recvcounts,
                                            tuttiDataType_t datatype, tuttiComm_t comm,
                                            tuttiWork_t* work);

/* Schedules ----------------------------------------------------------------------------------- */

/* Reads a schedule in JSON (docs/schedule-json.md), from a text with a zero at its end or from a
 * file, and proves it. What breaks its contract gives tuttiInvalidArgument, and tuttiGetLastError
 * the first violations. All ranks read the same schedule. */
TUTTI_API tuttiResult_t tuttiScheduleFromJson(tuttiSchedule_t* schedule, const char* json);
TUTTI_API tuttiResult_t tuttiScheduleLoad(tuttiSchedule_t* schedule, const char* path);
/* The same for schedules that do the same, whatever they are called. */
TUTTI_API tuttiResult_t tuttiScheduleHash(tuttiSchedule_t schedule, uint64_t* hash);
/* Calls that were begun go on with it. */
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

/* A collective with all that can be said about it. Begin with TUTTI_CALL_INITIALIZER, and set what
 * differs from it:
 *
 *   tuttiCall_t call = TUTTI_CALL_INITIALIZER;
 *   call.collective = tuttiCollAllReduce;
 *   call.sendbuff = call.recvbuff = data;
 *   call.count = 1024;
 *   call.datatype = tuttiFloat;
 *   call.schedule = schedule;
 *   tuttiRun(&call, comm);
 *
 * Later versions add members at the end; a program that was built with an earlier one goes on
 * working. */
typedef struct {
  size_t size; /* sizeof(tuttiCall_t), by which the library knows the version of the caller. */
  tuttiCollective_t collective;
  const void* sendbuff;
  void* recvbuff;
  size_t count;         /* As the functions above have it; */
  const size_t* counts; /* or, for blocks of different lengths, these; in alltoall, of what is */
  const size_t* recvcounts; /* sent, and these of what is received. */
  tuttiDataType_t datatype;
  tuttiRedOp_t op;
  tuttiOp_t custom; /* An operation of the caller's, in place of datatype and op; or NULL. */
  int root;
  /* Options. Zero and NULL leave it to tutti. */
  const char* algorithm;    /* "allreduce/ring". All ranks say the same, */
  tuttiSchedule_t schedule; /* or give schedules of the same content in place of it. */
  int64_t timeout_ms;       /* How long to wait for the others. */
  const char* site;         /* Where in the program this is, for messages: "step 12". */
  int keep_input;           /* Not 0: should the call fail, sendbuff is as it was before. */
} tuttiCall_t;

#define TUTTI_CALL_INITIALIZER                                                                    \
  {                                                                                               \
    sizeof(tuttiCall_t), tuttiCollBarrier, NULL, NULL, 0, NULL, NULL, tuttiUint8, tuttiSum, NULL, \
        0, NULL, NULL, 0, NULL, 0                                                                 \
  }

TUTTI_API tuttiResult_t tuttiRun(const tuttiCall_t* call, tuttiComm_t comm);
/* Begins it; what the call points to besides its buffers need only stay until this returns. */
TUTTI_API tuttiResult_t tuttiStart(const tuttiCall_t* call, tuttiComm_t comm, tuttiWork_t* work);

/* Between two --------------------------------------------------------------------------------- */

/* Returns when the data may be changed again, which can be before or only when `peer` receives. */
TUTTI_API tuttiResult_t tuttiSend(const void* sendbuff, size_t count, tuttiDataType_t datatype,
                                  int peer, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiSendAsync(const void* sendbuff, size_t count, tuttiDataType_t datatype,
                                       int peer, tuttiComm_t comm, tuttiWork_t* work);
/* Waits for as many elements as were sent. */
TUTTI_API tuttiResult_t tuttiRecv(void* recvbuff, size_t count, tuttiDataType_t datatype, int peer,
                                  tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiRecvAsync(void* recvbuff, size_t count, tuttiDataType_t datatype,
                                       int peer, tuttiComm_t comm, tuttiWork_t* work);
/* Both at once, with one peer or two: what NCCL does by a group of a send and a receive. */
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

/* The rest, by subject. Each may be included alone. */
#include <tutti/c/config.h>
#include <tutti/c/messages.h>

#endif
