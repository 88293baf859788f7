/* What a program says about a communicator, and who tells its ranks where the others are. Included
 * by tutti.h. */
#ifndef TUTTI_C_CONFIG_H_
#define TUTTI_C_CONFIG_H_

#include <tutti/tutti.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begin with TUTTI_CONFIG_INITIALIZER, and set what differs. What is zero or NULL is what the
 * environment says or, for a communicator that is made from another, what that one has. All ranks
 * say the same about algorithms, network and shape. Later versions add members at the end. */
typedef struct {
  size_t size;              /* sizeof(tuttiConfig_t). */
  int64_t timeout_ms;       /* How long a call waits for the others: TUTTI_TIMEOUT. */
  const char* algorithm;    /* "allreduce:ring", as in TUTTI_ALGO. */
  const char* rules_file;   /* As in TUTTI_RULES. */
  const char* network_file; /* The network between the ranks: TUTTI_TOPO_FILE. */
  const int* places;        /* On which rank of the network each of the `nplaces` ranks runs; */
  size_t nplaces;           /* NULL: on the one of its own number. */
  const char* shape;        /* How the ranks stand in nodes: "8x4". */
  int threads;              /* 1: one thread at a time calls collectives. 2: several may. */
  /* For new groups only. */
  const char* transport;  /* "auto", "shm" or "tcp": TUTTI_TRANSPORT. */
  const char* secret;     /* TUTTI_SECRET. */
  const char* interfaces; /* TUTTI_SOCKET_IFNAME. */
} tuttiConfig_t;

#define TUTTI_CONFIG_INITIALIZER \
  { sizeof(tuttiConfig_t), 0, NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, NULL, NULL }

/* The functions of the same names with a config, which may be NULL. */
TUTTI_API tuttiResult_t tuttiCommInitRankConfig(tuttiComm_t* comm, int nranks, tuttiUniqueId id,
                                                int rank, const tuttiConfig_t* config);
TUTTI_API tuttiResult_t tuttiCommInitFromEnvironmentConfig(tuttiComm_t* comm,
                                                           const tuttiConfig_t* config);
TUTTI_API tuttiResult_t tuttiCommSplitConfig(tuttiComm_t comm, int color, int key,
                                             tuttiComm_t* newcomm, const tuttiConfig_t* config);
TUTTI_API tuttiResult_t tuttiCommDuplicateConfig(tuttiComm_t comm, tuttiComm_t* newcomm,
                                                 const tuttiConfig_t* config);

/* Keys and values that all ranks reach: a launcher's, etcd, Redis, a folder of files. Functions
 * return 0, or anything else if they fail. */
typedef struct {
  int (*set)(void* context, const char* key, const void* value, size_t bytes);
  /* Waits until the key is set. Puts the value at `value`, which has room for so many bytes, and
   * its length into *bytes; if that is more, nothing is put and the call is made again. */
  int (*get)(void* context, const char* key, void* value, size_t room, size_t* bytes);
  void* context;
} tuttiStore_t;

/* A new group whose ranks tell each other by a store where they are. Keys begin with `prefix`,
 * which no other group uses. What is in the store is believed, and holds a key by which the ranks
 * know each other: only they may read it. */
TUTTI_API tuttiResult_t tuttiCommInitFromStore(tuttiComm_t* comm, int nranks, int rank,
                                               const tuttiStore_t* store, const char* prefix,
                                               const tuttiConfig_t* config);

/* Why a communicator is at its end: the same on all ranks. Stays as it is, pointers included, until
 * the communicator is destroyed or asked again. */
typedef struct {
  tuttiResult_t result; /* tuttiSuccess: it is not at its end. */
  const char* reason;   /* Never NULL. */
  const int* ranks;     /* Whose fault it is, as far as that can be told: */
  size_t nranks;        /* who is gone, behind, or called something else. */
} tuttiVerdict_t;
TUTTI_API tuttiResult_t tuttiCommVerdict(tuttiComm_t comm, tuttiVerdict_t* verdict);

/* Of a communicator that tuttiCommShrink has made: the ranks of the former one that are not in it.
 * Of any other, none. The array is the communicator's. */
TUTTI_API tuttiResult_t tuttiCommGone(tuttiComm_t comm, const int** ranks, size_t* nranks);

#ifdef __cplusplus
}
#endif

#endif
