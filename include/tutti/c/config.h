/* Options of a communicator, creating one through a key-value store, and the reason why a
 * communicator failed. Included by tutti.h. */
#ifndef TUTTI_C_CONFIG_H_
#define TUTTI_C_CONFIG_H_

#include <tutti/tutti.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Start from TUTTI_CONFIG_INITIALIZER and set the members that differ. Zero or NULL means the value
 * of the environment variable named here or, for a communicator made from another, the value of
 * that one. All ranks must pass the same algorithms, network and shape. Later versions add members
 * at the end. */
typedef struct {
  size_t size;              /* sizeof(tuttiConfig_t). */
  int64_t timeout_ms;       /* How long a call waits for other ranks: TUTTI_TIMEOUT. */
  const char* algorithm;    /* "allreduce/ring", as in TUTTI_ALGO. */
  const char* rules_file;   /* As in TUTTI_RULES. */
  const char* network_file; /* The network between the ranks: TUTTI_TOPO_FILE. */
  const int* places;        /* Rank r runs on rank places[r] of the network. NULL: on rank r. */
  size_t nplaces;           /* The length of `places`: the number of ranks. */
  const char* shape;        /* How the ranks are grouped into nodes: "8x4". */
  int threads;              /* 1: one thread at a time calls collectives. 2: several may. */
  /* For new groups only. */
  const char* transport;  /* "auto", "shm" or "tcp": TUTTI_TRANSPORT. */
  const char* secret;     /* TUTTI_SECRET. */
  const char* interfaces; /* TUTTI_SOCKET_IFNAME. */
  /* For all again: whether long buffers in ordinary memory become memory that other ranks of the
   * host read and write in place: "off" (the default), "auto" or a size: TUTTI_ADOPT. */
  const char* adopt;
} tuttiConfig_t;

#define TUTTI_CONFIG_INITIALIZER \
  { sizeof(tuttiConfig_t), 0, NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL }

/* The functions of the same names without Config, with options. `config` may be NULL. */
TUTTI_API tuttiResult_t tuttiCommInitRankConfig(tuttiComm_t* comm, int nranks, tuttiUniqueId id,
                                                int rank, const tuttiConfig_t* config);
TUTTI_API tuttiResult_t tuttiCommInitFromEnvironmentConfig(tuttiComm_t* comm,
                                                           const tuttiConfig_t* config);
TUTTI_API tuttiResult_t tuttiCommSplitConfig(tuttiComm_t comm, int color, int key,
                                             tuttiComm_t* newcomm, const tuttiConfig_t* config);
TUTTI_API tuttiResult_t tuttiCommDuplicateConfig(tuttiComm_t comm, tuttiComm_t* newcomm,
                                                 const tuttiConfig_t* config);
TUTTI_API tuttiResult_t tuttiCommJoinConfig(const char* at, int64_t timeout_ms,
                                            tuttiComm_t* newcomm, const tuttiConfig_t* config);

/* A key-value store that all ranks can reach: a launcher's, etcd, Redis, a folder of files. The
 * functions return 0 on success and any other value on failure. */
typedef struct {
  int (*set)(void* context, const char* key, const void* value, size_t bytes);
  /* Waits until the key is set. Copies the value to `value` and its length to *bytes. If the length
   * is more than `room`, copies no value; tutti then calls again with more room. */
  int (*get)(void* context, const char* key, void* value, size_t room, size_t* bytes);
  void* context;
} tuttiStore_t;

/* Makes a new group whose ranks exchange their addresses through a store. Keys begin with `prefix`,
 * which must be unique to this group. tutti trusts the content of the store. The store holds the
 * key by which the ranks authenticate each other, so only the ranks may read it. */
TUTTI_API tuttiResult_t tuttiCommInitFromStore(tuttiComm_t* comm, int nranks, int rank,
                                               const tuttiStore_t* store, const char* prefix,
                                               const tuttiConfig_t* config);

/* Why a communicator failed. The same on all ranks. The pointers stay valid until the communicator
 * is destroyed or tuttiCommVerdict is called again. */
typedef struct {
  tuttiResult_t result; /* tuttiSuccess: the communicator has not failed. */
  const char* reason;   /* Never NULL. */
  const int* ranks;     /* The ranks that caused it, if known: lost, late, or with another call. */
  size_t nranks;
} tuttiVerdict_t;
TUTTI_API tuttiResult_t tuttiCommVerdict(tuttiComm_t comm, tuttiVerdict_t* verdict);

/* Gets the ranks of the old communicator that tuttiCommShrink left out of `comm`. Empty if `comm`
 * was not made by tuttiCommShrink. The array belongs to the communicator. */
TUTTI_API tuttiResult_t tuttiCommGone(tuttiComm_t comm, const int** ranks, size_t* nranks);

#ifdef __cplusplus
}
#endif

#endif
