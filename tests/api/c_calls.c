#include "c_calls.h"

#include <stdio.h>
#include <string.h>

enum { most_ranks = 8, length = 300, most = most_ranks * length };

/* One rank's place and what it works with. */
typedef struct {
  tuttiComm_t comm;
  int rank;
  int ranks;
  char* fault;
  size_t fault_bytes;
  float send[most];
  float recv[most];
} Rank;

/* Element i of what rank r brings: small enough that sums are exact. */
static float brought(int r, int i) { return (float)(r * 1000 + i); }

static float summed(const Rank* self, int i) {
  float sum = 0;
  for (int r = 0; r < self->ranks; ++r) sum += brought(r, i);
  return sum;
}

static void fill(Rank* self) {
  for (int i = 0; i < most; ++i) {
    self->send[i] = brought(self->rank, i);
    self->recv[i] = -1;
  }
}

static int complain(Rank* self, int line, const char* what) {
  if (self->fault[0] == '\0') {
    snprintf(self->fault, self->fault_bytes, "c_calls.c:%d: rank %d: %s (%s)", line, self->rank,
             what, tuttiGetLastError(self->comm));
  }
  return 1;
}

#define CHECK(what) \
  if (!(what)) return complain(self, __LINE__, #what)
#define OK(call) CHECK((call) == tuttiSuccess)

/* Waits for work in every way there is, and lets go of it. */
static int finish(Rank* self, tuttiWork_t work) {
  int done = 0;
  tuttiResult_t waited = tuttiInProgress;
  CHECK(work != NULL);
  OK(tuttiWorkTest(work, &done));
  for (int i = 0; i < 1000 && waited == tuttiInProgress; ++i) waited = tuttiWorkWait(work, 100);
  CHECK(waited == tuttiSuccess);
  OK(tuttiWorkWait(work, -1));
  OK(tuttiWorkWait(work, 0));
  OK(tuttiWorkTest(work, &done));
  CHECK(done == 1);
  OK(tuttiWorkDestroy(work));
  return 0;
}
#define FINISH(call)                  \
  {                                   \
    tuttiWork_t work = NULL;          \
    OK(call);                         \
    if (finish(self, work)) return 1; \
  }

/* In each of these, `async` asks for the twin. */

static int reductions(Rank* self, int async) {
  float* const send = self->send;
  float* const recv = self->recv;
  tuttiComm_t comm = self->comm;
  const int root = self->ranks - 1;

  fill(self);
  if (async) {
    FINISH(tuttiAllReduceAsync(send, recv, length, tuttiFloat, tuttiSum, comm, &work));
  } else {
    OK(tuttiAllReduce(send, recv, length, tuttiFloat, tuttiSum, comm));
  }
  for (int i = 0; i < length; ++i) CHECK(recv[i] == summed(self, i));
  CHECK(recv[length] == -1);

  fill(self);
  if (async) {
    FINISH(tuttiReduceAsync(send, recv, length, tuttiFloat32, tuttiMax, root, comm, &work));
  } else {
    OK(tuttiReduce(send, recv, length, tuttiFloat32, tuttiMax, root, comm));
  }
  for (int i = 0; i < length; ++i) {
    CHECK(recv[i] == (self->rank == root ? brought(root, i) : -1));
  }

  fill(self);
  if (async) {
    FINISH(tuttiReduceScatterAsync(send, recv, length, tuttiFloat, tuttiSum, comm, &work));
  } else {
    OK(tuttiReduceScatter(send, recv, length, tuttiFloat, tuttiSum, comm));
  }
  for (int i = 0; i < length; ++i) CHECK(recv[i] == summed(self, self->rank * length + i));
  return 0;
}

/* Rank r brings r contributions, rank 0 of one rank one. */
static int shard_reductions(Rank* self, int async) {
  float* const send = self->send;
  float* const recv = self->recv;
  tuttiComm_t comm = self->comm;
  const int root = self->ranks - 1;
  const size_t own = (size_t)(self->ranks == 1 ? 1 : self->rank);
  const void* shards[most_ranks];
  float sum = self->ranks == 1 ? brought(0, 0) : 0;
  fill(self);
  for (size_t i = 0; i < own; ++i) shards[i] = send;
  for (int r = 0; r < self->ranks; ++r) sum += (float)r * brought(r, 0);
  if (async) {
    FINISH(tuttiAllReduceShardsAsync(shards, own, recv, length, tuttiFloat, tuttiSum, comm, &work));
  } else {
    OK(tuttiAllReduceShards(shards, own, recv, length, tuttiFloat, tuttiSum, comm));
  }
  CHECK(recv[0] == sum && recv[length] == -1);
  fill(self);
  if (async) {
    FINISH(
        tuttiReduceShardsAsync(shards, own, recv, length, tuttiFloat, tuttiSum, root, comm, &work));
  } else {
    OK(tuttiReduceShards(shards, own, recv, length, tuttiFloat, tuttiSum, root, comm));
  }
  CHECK(recv[0] == (self->rank == root ? sum : -1));
  fill(self);
  if (async) {
    FINISH(tuttiReduceScatterShardsAsync(shards, own, recv, length, tuttiFloat, tuttiSum, comm,
                                         &work));
  } else {
    OK(tuttiReduceScatterShards(shards, own, recv, length, tuttiFloat, tuttiSum, comm));
  }
  CHECK((self->rank > 0 || recv[0] == sum) && recv[length] == -1);
  return 0;
}

/* Rank 0 brings 1, the others what is lost beside it one by one, but not together. */
static int levels(Rank* self) {
  tuttiComm_t comm = self->comm;
  const float brings = self->rank == 0 ? 1 : 0x1p-24F;
  const float exact = 1 + (float)((self->ranks - 1) / 2) * 0x1p-23F;
  const int halves = (self->ranks - 1) % 2; /* A tie, whose even neighbour depends. */
  float sum = 0;
  OK(tuttiCommSetReproducible(comm, tuttiReproducibleOrder));
  OK(tuttiAllReduce(&brings, &sum, 1, tuttiFloat, tuttiSum, comm));
  CHECK(sum == 1);
  OK(tuttiCommSetReproducible(comm, tuttiReproducibleExact));
  OK(tuttiAllReduce(&brings, &sum, 1, tuttiFloat, tuttiSum, comm));
  CHECK(halves ? sum == exact || sum == exact + 0x1p-23F : sum == exact);
  CHECK(tuttiAllReduce(&brings, &sum, 1, tuttiFloat, tuttiProd, comm) == tuttiInvalidArgument);
  OK(tuttiCommSetReproducible(comm, tuttiReproducibleRun));
  CHECK(tuttiCommSetReproducible(comm, (tuttiReproducible_t)3) == tuttiInvalidArgument);
  CHECK(tuttiCommSetReproducible(NULL, tuttiReproducibleRun) == tuttiInvalidArgument);
  CHECK(tuttiAllReduceShards(NULL, 1, &sum, 1, tuttiFloat, tuttiSum, comm) == tuttiInvalidArgument);
  return 0;
}

/* Every operation, by its number. */
static int operations(Rank* self) {
  const int p = self->ranks;
  const int32_t brings[2] = {self->rank + 1, 6 + (self->rank & 1)};
  int32_t product = 1;
  int32_t got[2];
  double average = self->rank;
  for (int r = 1; r <= p; ++r) product *= r;
#define GIVES(op, first, second)                                \
  OK(tuttiAllReduce(brings, got, 2, tuttiInt, op, self->comm)); \
  CHECK(got[0] == (first) && got[1] == (second))
  int32_t xors[2] = {0, 0};
  int32_t sixes_and_sevens = 6 * p + p / 2;
  int32_t sevens = 1;
  for (int r = 0; r < p; ++r) {
    xors[0] ^= r + 1;
    xors[1] ^= 6 + (r & 1);
    sevens *= 6 + (r & 1);
  }
  GIVES(tuttiSum, p * (p + 1) / 2, sixes_and_sevens);
  GIVES(tuttiProd, product, sevens);
  GIVES(tuttiMin, 1, 6);
  GIVES(tuttiMax, p, p > 1 ? 7 : 6);
  GIVES(tuttiAvg, p * (p + 1) / 2 / p, sixes_and_sevens / p);
  GIVES(tuttiBxor, xors[0], xors[1]);
  OK(tuttiAllReduce(&brings[1], &got[1], 1, tuttiInt32, tuttiBand, self->comm));
  CHECK(got[1] == 6);
  OK(tuttiAllReduce(&brings[1], &got[1], 1, tuttiInt32, tuttiBor, self->comm));
  CHECK(got[1] == (p > 1 ? 7 : 6));
  OK(tuttiAllReduce(&average, &average, 1, tuttiDouble, tuttiAvg, self->comm));
  CHECK(average == (p - 1) / 2.0);
  return 0;
}

/* A type that does not fit into the table below. */
static int complex128(Rank* self) {
  const double brings[2] = {self->rank, -1};
  double got[2] = {0, 0};
  OK(tuttiAllReduce(brings, got, 1, tuttiComplex128, tuttiSum, self->comm));
  CHECK(got[0] == self->ranks * (self->ranks - 1) / 2.0 && got[1] == -self->ranks);
  CHECK(tuttiAllReduce(brings, got, 1, tuttiComplex128, tuttiMax, self->comm) ==
        tuttiInvalidArgument);
  return 0;
}

/* Every type, by its number: ones are added up; of complex64, both parts. */
static int types(Rank* self) {
  const struct {
    tuttiDataType_t type;
    size_t bytes;
    uint64_t one;
    uint64_t two; /* 0 if it is twice as many. */
  } known[] = {{tuttiInt8, 1, 1, 0},
               {tuttiChar, 1, 1, 0},
               {tuttiUint8, 1, 1, 0},
               {tuttiInt32, 4, 1, 0},
               {tuttiInt, 4, 1, 0},
               {tuttiUint32, 4, 1, 0},
               {tuttiInt64, 8, 1, 0},
               {tuttiUint64, 8, 1, 0},
               {tuttiFloat16, 2, 0x3C00, 0x4000},
               {tuttiHalf, 2, 0x3C00, 0x4000},
               {tuttiBfloat16, 2, 0x3F80, 0x4000},
               {tuttiInt16, 2, 1, 0},
               {tuttiUint16, 2, 1, 0},
               {tuttiComplex64, 8, 0x3F8000003F800000, 0x4000000040000000},
               {tuttiFloat32, 4, 0x3F800000, 0x40000000},
               {tuttiFloat64, 8, 0x3FF0000000000000, 0x4000000000000000},
               {tuttiDouble, 8, 0x3FF0000000000000, 0x4000000000000000}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    /* Two ranks bring a one, all others zeros, so that 1 + 1 is the sum whatever p is. */
    uint64_t data = self->rank < 2 ? known[i].one : 0;
    uint64_t wanted = self->ranks < 2 ? known[i].one : known[i].two ? known[i].two : 2;
    uint64_t got = 0;
    OK(tuttiAllReduce(&data, &got, 1, known[i].type, tuttiSum, self->comm));
    CHECK(memcmp(&got, &wanted, known[i].bytes) == 0);
    CHECK(got >> (known[i].bytes * 4) >> (known[i].bytes * 4) == 0);
  }
  return 0;
}

typedef struct {
  double real;
  double imaginary;
} Complex;

static void multiply(void* accumulator, const void* contribution, size_t count, void* context) {
  Complex* to = (Complex*)accumulator;
  const Complex* by = (const Complex*)contribution;
  for (size_t i = 0; i < count; ++i) {
    const Complex old = to[i];
    to[i].real = old.real * by[i].real - old.imaginary * by[i].imaginary;
    to[i].imaginary = old.real * by[i].imaginary + old.imaginary * by[i].real;
  }
  *(int*)context = 1;
}

/* i to the power of the number of ranks. */
static int is_power(const Rank* self, Complex value) {
  const double real[] = {1, 0, -1, 0};
  return value.real == real[self->ranks % 4] && value.imaginary == real[(self->ranks + 3) % 4];
}

static int own_operations(Rank* self, int async) {
  Complex send[2 * most_ranks];
  Complex recv[2] = {{7, 7}, {7, 7}};
  int called = 0;
  tuttiOp_t op = NULL;
  tuttiComm_t comm = self->comm;
  for (int i = 0; i < 2 * most_ranks; ++i) {
    send[i].real = 0;
    send[i].imaginary = 1;
  }
  CHECK(tuttiRedOpCreate(&op, multiply, &called, 24) == tuttiInvalidArgument);
  OK(tuttiRedOpCreate(&op, multiply, &called, sizeof(Complex)));

  if (async) {
    FINISH(tuttiAllReduceWithAsync(send, recv, 2, op, comm, &work));
  } else {
    OK(tuttiAllReduceWith(send, recv, 2, op, comm));
  }
  CHECK(is_power(self, recv[0]) && is_power(self, recv[1]));
  CHECK(called == (self->ranks > 1) || self->ranks > 2);

  recv[0].real = 7;
  if (async) {
    FINISH(tuttiReduceWithAsync(send, recv, 1, op, 0, comm, &work));
  } else {
    OK(tuttiReduceWith(send, recv, 1, op, 0, comm));
  }
  CHECK(self->rank == 0 ? is_power(self, recv[0]) : recv[0].real == 7);

  recv[1].real = 7;
  if (async) {
    FINISH(tuttiReduceScatterWithAsync(send, recv, 2, op, comm, &work));
  } else {
    OK(tuttiReduceScatterWith(send, recv, 2, op, comm));
  }
  CHECK(is_power(self, recv[1]));
  OK(tuttiRedOpDestroy(op));
  return 0;
}

static int movements(Rank* self, int async) {
  float* const send = self->send;
  float* const recv = self->recv;
  tuttiComm_t comm = self->comm;
  const int p = self->ranks;
  const int me = self->rank;

  fill(self);
  if (async) {
    FINISH(tuttiBroadcastAsync(send, recv, length, tuttiFloat, 0, comm, &work));
  } else {
    OK(tuttiBroadcast(send, recv, length, tuttiFloat, 0, comm));
  }
  for (int i = 0; i < length; ++i) CHECK(recv[i] == brought(0, i));

  fill(self);
  if (async) {
    FINISH(tuttiBcastAsync(send, length, tuttiFloat, p - 1, comm, &work));
  } else {
    OK(tuttiBcast(send, length, tuttiFloat, p - 1, comm));
  }
  for (int i = 0; i < length; ++i) CHECK(send[i] == brought(p - 1, i));

  fill(self);
  if (async) {
    FINISH(tuttiAllGatherAsync(send, recv, length, tuttiFloat, comm, &work));
  } else {
    OK(tuttiAllGather(send, recv, length, tuttiFloat, comm));
  }
  for (int i = 0; i < p * length; ++i) CHECK(recv[i] == brought(i / length, i % length));

  fill(self);
  if (async) {
    FINISH(tuttiScatterAsync(send, recv, length, tuttiFloat, p - 1, comm, &work));
  } else {
    OK(tuttiScatter(send, recv, length, tuttiFloat, p - 1, comm));
  }
  for (int i = 0; i < length; ++i) CHECK(recv[i] == brought(p - 1, me * length + i));

  fill(self);
  if (async) {
    FINISH(tuttiGatherAsync(send, recv, length, tuttiFloat, 0, comm, &work));
  } else {
    OK(tuttiGather(send, recv, length, tuttiFloat, 0, comm));
  }
  for (int i = 0; i < p * length; ++i) {
    CHECK(recv[i] == (me == 0 ? brought(i / length, i % length) : -1));
  }

  fill(self);
  if (async) {
    FINISH(tuttiAllToAllAsync(send, recv, length, tuttiFloat, comm, &work));
  } else {
    OK(tuttiAllToAll(send, recv, length, tuttiFloat, comm));
  }
  for (int i = 0; i < p * length; ++i) {
    CHECK(recv[i] == brought(i / length, me * length + i % length));
  }

  if (async) {
    FINISH(tuttiBarrierAsync(comm, &work));
  } else {
    OK(tuttiBarrier(comm));
  }
  return 0;
}

/* Rank r's block has r + 1 elements, so that r * (r + 1) / 2 are before it. */
static int counted(Rank* self, int async) {
  float* const send = self->send;
  float* const recv = self->recv;
  tuttiComm_t comm = self->comm;
  const int p = self->ranks;
  const int me = self->rank;
  const int before = me * (me + 1) / 2;
  size_t counts[most_ranks];
  size_t mine[most_ranks]; /* Rank s sends s + 1 elements to every rank. */
  for (int r = 0; r < p; ++r) {
    counts[r] = (size_t)r + 1;
    mine[r] = (size_t)me + 1;
  }

  fill(self);
  if (async) {
    FINISH(tuttiAllGatherVAsync(send, recv, counts, tuttiFloat, comm, &work));
  } else {
    OK(tuttiAllGatherV(send, recv, counts, tuttiFloat, comm));
  }
  for (int r = 0, at = 0; r < p; ++r) {
    for (int i = 0; i <= r; ++i) CHECK(recv[at++] == brought(r, i));
  }

  fill(self);
  if (async) {
    FINISH(tuttiReduceScatterVAsync(send, recv, counts, tuttiFloat, tuttiSum, comm, &work));
  } else {
    OK(tuttiReduceScatterV(send, recv, counts, tuttiFloat, tuttiSum, comm));
  }
  for (int i = 0; i <= me; ++i) CHECK(recv[i] == summed(self, before + i));
  CHECK(recv[me + 1] == -1);

  fill(self);
  if (async) {
    FINISH(tuttiScatterVAsync(send, recv, counts, tuttiFloat, 0, comm, &work));
  } else {
    OK(tuttiScatterV(send, recv, counts, tuttiFloat, 0, comm));
  }
  for (int i = 0; i <= me; ++i) CHECK(recv[i] == brought(0, before + i));

  fill(self);
  if (async) {
    FINISH(tuttiGatherVAsync(send, recv, counts, tuttiFloat, 0, comm, &work));
  } else {
    OK(tuttiGatherV(send, recv, counts, tuttiFloat, 0, comm));
  }
  for (int r = 0, at = 0; r < p && me == 0; ++r) {
    for (int i = 0; i <= r; ++i) CHECK(recv[at++] == brought(r, i));
  }

  fill(self);
  if (async) {
    FINISH(tuttiAllToAllVAsync(send, mine, recv, counts, tuttiFloat, comm, &work));
  } else {
    OK(tuttiAllToAllV(send, mine, recv, counts, tuttiFloat, comm));
  }
  for (int s = 0, at = 0; s < p; ++s) {
    for (int i = 0; i <= s; ++i) CHECK(recv[at++] == brought(s, me * (s + 1) + i));
  }
  return 0;
}

static int pairs(Rank* self, int async) {
  float* const send = self->send;
  float* const recv = self->recv;
  tuttiComm_t comm = self->comm;
  const int right = (self->rank + 1) % self->ranks;
  const int left = (self->rank + self->ranks - 1) % self->ranks;

  fill(self);
  if (async) {
    FINISH(tuttiSendRecvAsync(send, length, right, recv, length, left, tuttiFloat, comm, &work));
  } else {
    OK(tuttiSendRecv(send, length, right, recv, length, left, tuttiFloat, comm));
  }
  for (int i = 0; i < length; ++i) CHECK(recv[i] == brought(left, i));
  if (self->ranks == 1) return 0;

  fill(self);
  if (self->rank == 0) {
    if (async) {
      FINISH(tuttiSendAsync(send, length, tuttiFloat, 1, comm, &work));
    } else {
      OK(tuttiSend(send, length, tuttiFloat, 1, comm));
    }
  } else if (self->rank == 1) {
    if (async) {
      FINISH(tuttiRecvAsync(recv, length, tuttiFloat, 0, comm, &work));
    } else {
      OK(tuttiRecv(recv, length, tuttiFloat, 0, comm));
    }
    for (int i = 0; i < length; ++i) CHECK(recv[i] == brought(0, i));
  }
  return 0;
}

static int groups(Rank* self) {
  tuttiComm_t part = NULL;
  tuttiComm_t twin = NULL;
  int size = 0;
  int rank = -1;
  int sum = self->rank;

  /* The odd ones turned round; the even ones go without. */
  OK(tuttiCommSplit(self->comm, self->rank % 2 ? 1 : TUTTI_SPLIT_NOCOLOR, -self->rank,
                    self->rank % 2 ? &part : NULL));
  if (self->rank % 2) {
    OK(tuttiCommCount(part, &size));
    OK(tuttiCommUserRank(part, &rank));
    CHECK(size == self->ranks / 2);
    CHECK(rank == size - 1 - self->rank / 2);
    OK(tuttiBarrier(part));
    OK(tuttiCommDestroy(part));
  }

  OK(tuttiCommDuplicate(self->comm, &twin));
  OK(tuttiAllReduce(&sum, &sum, 1, tuttiInt, tuttiSum, twin));
  CHECK(sum == self->ranks * (self->ranks - 1) / 2);
  OK(tuttiCommAbort(twin, "the test is over"));
  CHECK(tuttiBarrier(twin) == tuttiAborted);
  CHECK(strstr(tuttiGetLastError(twin), "the test is over") != NULL);
  OK(tuttiCommDestroy(twin));
  return 0;
}

static int the_rest(Rank* self) {
  void* memory = NULL;
  tuttiCounters_t counted_before;
  tuttiCounters_t counters;
  int version = 0;
  OK(tuttiGetVersion(&version));
  CHECK(version == TUTTI_VERSION_CODE);

  OK(tuttiMemAlloc(&memory, length * sizeof(float)));
  CHECK(memory != NULL && *(float*)memory == 0);
  OK(tuttiCommCounters(self->comm, &counted_before));
  OK(tuttiAllReduce(self->send, memory, length, tuttiFloat, tuttiSum, self->comm));
  OK(tuttiCommCounters(self->comm, &counters));
  CHECK(counters.calls == counted_before.calls + 1);
  CHECK((counters.bytes_sent > counted_before.bytes_sent) == (self->ranks > 1));
  CHECK((counters.messages_received > counted_before.messages_received) == (self->ranks > 1));
  CHECK((counters.bytes_received > 0) == (counters.messages_sent > 0));
  OK(tuttiMemFree(memory));
  OK(tuttiMemFree(NULL));
  CHECK(tuttiMemFree(&version) == tuttiInvalidArgument);

  for (int result = 0; result <= 9; ++result) {
    CHECK(tuttiGetErrorString((tuttiResult_t)result)[0] != '\0');
  }
  CHECK(strcmp(tuttiGetErrorString(tuttiSuccess), "success") == 0);
  return 0;
}

/* An allreduce as JSON: all send to rank 0, which adds everything up and sends it back. */
static void write_schedule(const Rank* self, char* text, size_t bytes) {
  char others[64] = "";
  const int p = self->ranks;
  size_t at = 0;
  for (int r = 1; r < p; ++r) {
    at += (size_t)snprintf(others + at, sizeof others - at, "%s%d", r == 1 ? "" : ", ", r);
  }
  at = (size_t)snprintf(text, bytes,
                        "{\"format\": \"tutti-schedule\", \"version\": 1, \"name\": \"in C\", "
                        "\"collective\": \"allreduce\", \"ranks\": %d, \"chunks\": 1, "
                        "\"rounds\": 2, \"programs\": [[",
                        p);
  if (p > 1) {
    at += (size_t)snprintf(text + at, bytes - at,
                           "{\"round\": 0, \"receive\": [0], \"from\": [\"own\", %s]}, "
                           "{\"round\": 1, \"send\": [0], \"to\": [%s]}",
                           others, others);
  }
  for (int r = 1; r < p; ++r) {
    at += (size_t)snprintf(text + at, bytes - at,
                           "], [{\"round\": 0, \"send\": [0], \"to\": [0]}, "
                           "{\"round\": 1, \"receive\": [0], \"from\": [0]}");
  }
  snprintf(text + at, bytes - at, "]]}");
}

/* Any collective as a value, and by a schedule. */
static int values(Rank* self, int async) {
  tuttiCall_t call = TUTTI_CALL_INITIALIZER;
  tuttiComm_t comm = self->comm;
  size_t counts[most_ranks];
  uint64_t hash = 0;
  char text[4096];
  tuttiSchedule_t schedule = NULL;
  for (int r = 0; r < most_ranks; ++r) counts[r] = length;
  write_schedule(self, text, sizeof text);
  OK(tuttiScheduleFromJson(&schedule, text));
  OK(tuttiScheduleHash(schedule, &hash));
  CHECK(hash != 0);

  fill(self);
  OK(tuttiRun(&call, comm)); /* A barrier. */
  call.collective = tuttiCollAllReduce;
  call.sendbuff = self->send;
  call.recvbuff = self->recv;
  call.count = length;
  call.datatype = tuttiFloat;
  call.schedule = schedule;
  call.timeout_ms = 30000;
  call.site = "in C";
  call.keep_input = 1;
  if (async) {
    FINISH(tuttiStart(&call, comm, &work));
  } else {
    OK(tuttiRun(&call, comm));
  }
  for (int i = 0; i < length; ++i) CHECK(self->recv[i] == summed(self, i));
  CHECK(self->recv[length] == -1);

  /* A misfit is refused before anything is sent. */
  call.collective = tuttiCollAllGather;
  CHECK(tuttiRun(&call, comm) == tuttiInvalidArgument);
  CHECK(strstr(tuttiGetLastError(comm), "is for allreduce among") != NULL);
  OK(tuttiScheduleDestroy(schedule));

  fill(self);
  call.schedule = NULL;
  call.count = 0;
  call.counts = counts;
  call.algorithm = "allgather/ring";
  OK(tuttiRun(&call, comm));
  for (int r = 0; r < self->ranks; ++r) {
    for (int i = 0; i < length; ++i) CHECK(self->recv[r * length + i] == brought(r, i));
  }

  call.collective = (tuttiCollective_t)9;
  CHECK(tuttiRun(&call, comm) == tuttiInvalidArgument);
  call.collective = tuttiCollBarrier;
  call.size = 8;
  CHECK(tuttiRun(&call, comm) == tuttiInvalidArgument);
  CHECK(strstr(tuttiGetLastError(comm), "TUTTI_CALL_INITIALIZER") != NULL);
  return 0;
}

/* As a program would call that was built with a later version of tutti.h. */
static int later_callers(Rank* self) {
  struct {
    tuttiCall_t known;
    long added;
  } call = {TUTTI_CALL_INITIALIZER, 0};
  call.known.size = sizeof call;
  OK(tuttiRun(&call.known, self->comm));
  call.added = 1;
  CHECK(tuttiRun(&call.known, self->comm) == tuttiUnsupported);
  return 0;
}

/* What is no schedule, or breaks its contract, says why. */
static int wrong_schedules(Rank* self) {
  char text[4096];
  tuttiSchedule_t schedule = (tuttiSchedule_t)(void*)self; /* To see that a refusal leaves NULL. */
  CHECK(tuttiScheduleFromJson(&schedule, "{}") == tuttiInvalidArgument);
  CHECK(schedule == NULL);
  CHECK(tuttiScheduleLoad(&schedule, "/nowhere/at/all.json") == tuttiInvalidArgument);
  CHECK(strstr(tuttiGetLastError(NULL), "/nowhere/at/all.json") != NULL);
  if (self->ranks > 1) {
    write_schedule(self, text, sizeof text);
    memcpy(strstr(text, "\"own\", "), "       ", 7);
    CHECK(tuttiScheduleFromJson(&schedule, text) == tuttiInvalidArgument);
    CHECK(strstr(tuttiGetLastError(NULL), "wrong output") != NULL);
  }
  return 0;
}

/* Calls that cannot be right are refused before anything is sent, and leave the communicator
 * usable. */
static int refusals(Rank* self) {
  float* const data = self->send;
  tuttiComm_t comm = self->comm;
  CHECK(tuttiAllReduce(data, data, 1, (tuttiDataType_t)10, tuttiSum, comm) == tuttiInvalidArgument);
  CHECK(strstr(tuttiGetLastError(comm), "tuttiAllReduce: there is no datatype 10") != NULL);
  CHECK(tuttiAllReduce(data, data, 1, tuttiInt, (tuttiRedOp_t)8, comm) == tuttiInvalidArgument);
  CHECK(strstr(tuttiGetLastError(NULL), "there is no op 8") != NULL);
  CHECK(tuttiAllReduce(data, data, 1, tuttiFloat, tuttiBor, comm) == tuttiInvalidArgument);
  CHECK(tuttiAllReduce(NULL, data, 1, tuttiFloat, tuttiSum, comm) == tuttiInvalidArgument);
  CHECK(tuttiAllReduce(data, data + 1, 2, tuttiFloat, tuttiSum, comm) == tuttiInvalidArgument);
  CHECK(tuttiBcast(data, 1, tuttiFloat, -1, comm) == tuttiInvalidArgument);
  CHECK(tuttiBcast(data, 1, tuttiFloat, self->ranks, comm) == tuttiInvalidArgument);
  CHECK(tuttiSend(data, 1, tuttiFloat, self->ranks, comm) == tuttiInvalidArgument);
  CHECK(tuttiRecv(data, (size_t)-1, tuttiDouble, 0, comm) == tuttiInvalidArgument);
  CHECK(tuttiCommSplit(comm, -2, 0, &comm) == tuttiInvalidArgument);
  OK(tuttiBarrier(self->comm));
  return 0;
}

int c_check_calls(tuttiComm_t comm, char* fault, size_t fault_bytes) {
  static const int both[] = {0, 1};
  Rank place;
  Rank* const self = &place;
  self->comm = comm;
  self->rank = -1;
  self->fault = fault;
  self->fault_bytes = fault_bytes;
  fault[0] = '\0';
  OK(tuttiCommCount(comm, &self->ranks));
  OK(tuttiCommUserRank(comm, &self->rank));
  CHECK(self->ranks <= most_ranks);
  for (int i = 0; i < 2; ++i) {
    const int async = both[i];
    if (reductions(self, async) || shard_reductions(self, async) || own_operations(self, async) ||
        movements(self, async) || counted(self, async) || pairs(self, async) ||
        values(self, async)) {
      return 1;
    }
  }
  return operations(self) || types(self) || complex128(self) || levels(self) || groups(self) ||
         the_rest(self) || later_callers(self) || wrong_schedules(self) || refusals(self);
}

#define REFUSES(call) CHECK((call) == tuttiInvalidArgument)

int c_check_nulls(tuttiComm_t comm, char* fault, size_t fault_bytes) {
  Rank place;
  Rank* const self = &place;
  float data[4] = {0, 0, 0, 0};
  const size_t counts[most_ranks] = {1, 1, 1, 1, 1, 1, 1, 1};
  const tuttiDataType_t type = tuttiFloat;
  const tuttiRedOp_t op = tuttiSum;
  tuttiWork_t work = NULL;
  tuttiOp_t own = NULL;
  tuttiSchedule_t schedule = NULL;
  tuttiCall_t call = TUTTI_CALL_INITIALIZER;
  uint64_t hash = 0;
  int called = 0;
  tuttiCounters_t counters;
  tuttiUniqueId id;
  memset(&id, 0, sizeof id);
  self->comm = comm;
  self->rank = -1;
  self->fault = fault;
  self->fault_bytes = fault_bytes;
  fault[0] = '\0';
  OK(tuttiRedOpCreate(&own, multiply, &called, sizeof(Complex)));

  REFUSES(tuttiGetVersion(NULL));
  REFUSES(tuttiGetUniqueId(NULL));
  REFUSES(tuttiCommInitRank(NULL, 1, id, 0));
  REFUSES(tuttiCommInitFromEnvironment(NULL));
  REFUSES(tuttiCommDestroy(NULL));
  REFUSES(tuttiCommAbort(NULL, "why"));
  REFUSES(tuttiCommShrink(NULL, &comm));
  REFUSES(tuttiCommGrow(NULL, "127.0.0.1:1", &comm));
  REFUSES(tuttiCommJoin(NULL, 10, &comm));
  REFUSES(tuttiCommJoin("127.0.0.1:1", 0, &comm));
  REFUSES(tuttiCommCount(NULL, &called));
  REFUSES(tuttiCommCount(comm, NULL));
  REFUSES(tuttiCommUserRank(NULL, &called));
  REFUSES(tuttiCommUserRank(comm, NULL));
  REFUSES(tuttiCommSplit(NULL, 0, 0, &comm));
  REFUSES(tuttiCommSplit(comm, 0, 0, NULL));
  REFUSES(tuttiCommDuplicate(NULL, &comm));
  comm = self->comm;
  REFUSES(tuttiCommDuplicate(comm, NULL));
  REFUSES(tuttiCommCounters(NULL, &counters));
  REFUSES(tuttiCommCounters(comm, NULL));
  OK(tuttiRedOpDestroy(own));
  REFUSES(tuttiRedOpCreate(NULL, multiply, NULL, 8));
  REFUSES(tuttiRedOpCreate(&own, NULL, NULL, 8));
  CHECK(own == NULL);
  REFUSES(tuttiRedOpDestroy(NULL));
  REFUSES(tuttiMemAlloc(NULL, 8));
  REFUSES(tuttiWorkTest(NULL, &called));
  REFUSES(tuttiWorkWait(NULL, -1));
  REFUSES(tuttiWorkDestroy(NULL));

  REFUSES(tuttiAllReduce(data, data, 1, type, op, NULL));
  REFUSES(tuttiReduce(data, data, 1, type, op, 0, NULL));
  REFUSES(tuttiReduceScatter(data, data, 1, type, op, NULL));
  REFUSES(tuttiAllReduceWith(data, data, 1, NULL, comm));
  REFUSES(tuttiReduceWith(data, data, 1, NULL, 0, comm));
  REFUSES(tuttiReduceScatterWith(data, data, 1, NULL, comm));
  REFUSES(tuttiBroadcast(data, data, 1, type, 0, NULL));
  REFUSES(tuttiBcast(data, 1, type, 0, NULL));
  REFUSES(tuttiAllGather(data, data, 1, type, NULL));
  REFUSES(tuttiScatter(data, data, 1, type, 0, NULL));
  REFUSES(tuttiGather(data, data, 1, type, 0, NULL));
  REFUSES(tuttiAllToAll(data, data, 1, type, NULL));
  REFUSES(tuttiBarrier(NULL));
  REFUSES(tuttiAllGatherV(data, data, counts, type, NULL));
  REFUSES(tuttiAllGatherV(data, data, NULL, type, comm));
  REFUSES(tuttiReduceScatterV(data, data, NULL, type, op, comm));
  REFUSES(tuttiScatterV(data, data, NULL, type, 0, comm));
  REFUSES(tuttiGatherV(data, data, NULL, type, 0, comm));
  REFUSES(tuttiAllToAllV(data, NULL, data, counts, type, comm));
  REFUSES(tuttiAllToAllV(data, counts, data, NULL, type, comm));
  REFUSES(tuttiScheduleFromJson(NULL, "{}"));
  REFUSES(tuttiScheduleFromJson(&schedule, NULL));
  REFUSES(tuttiScheduleLoad(NULL, "s.json"));
  REFUSES(tuttiScheduleLoad(&schedule, NULL));
  REFUSES(tuttiScheduleHash(NULL, &hash));
  REFUSES(tuttiScheduleDestroy(NULL));
  REFUSES(tuttiRun(NULL, comm));
  REFUSES(tuttiRun(&call, NULL));
  REFUSES(tuttiStart(NULL, comm, &work));
  REFUSES(tuttiStart(&call, comm, NULL));
  REFUSES(tuttiSend(data, 1, type, 0, NULL));
  REFUSES(tuttiRecv(data, 1, type, 0, NULL));
  REFUSES(tuttiSendRecv(data, 1, 0, data, 1, 0, type, NULL));

  work = (tuttiWork_t)(void*)&place; /* To see that a refusal leaves NULL. */
  REFUSES(tuttiAllReduceAsync(data, data, 1, type, op, NULL, &work));
  CHECK(work == NULL);
  REFUSES(tuttiSendAsync(data, 1, type, 0, NULL, &work));
  REFUSES(tuttiBarrierAsync(comm, NULL));
  REFUSES(tuttiSendRecvAsync(data, 1, 0, data, 1, 0, type, comm, NULL));
  CHECK(strcmp(tuttiGetLastError(NULL), "tuttiSendRecvAsync: work is NULL") == 0);
  return 0;
}
