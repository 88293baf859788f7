#include <stdio.h>
#include <string.h>

#include "rank.h"

int check_reductions(Rank* self, int async) {
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

/* Rank r contributes r shards. A single rank contributes one. */
int check_shard_reductions(Rank* self, int async) {
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

/* Rank 0 contributes 1. The others contribute numbers that rounding loses one by one, but whose sum
 * counts. */
int check_levels(Rank* self) {
  tuttiComm_t comm = self->comm;
  const float brings = self->rank == 0 ? 1 : 0x1p-24F;
  const float exact = 1 + (float)((self->ranks - 1) / 2) * 0x1p-23F;
  const int halves = (self->ranks - 1) % 2; /* 1: the sum is a tie between two floats. */
  float sum = 0;
  OK(tuttiCommSetReproducible(comm, tuttiReproducibleOrder));
  OK(tuttiAllReduce(&brings, &sum, 1, tuttiFloat, tuttiSum, comm));
  CHECK(sum == 1);
  OK(tuttiCommSetReproducible(comm, tuttiReproducibleExact));
  OK(tuttiAllReduce(&brings, &sum, 1, tuttiFloat, tuttiSum, comm));
  CHECK(halves ? sum == exact || sum == exact + 0x1p-23F : sum == exact);
  CHECK(tuttiAllReduce(&brings, &sum, 1, tuttiFloat, tuttiProd, comm) == tuttiInvalidArgument);
  const float again = sum;
  tuttiCall_t call = TUTTI_CALL_INITIALIZER;
  call.collective = tuttiCollAllReduce;
  call.sendbuff = &brings;
  call.recvbuff = &sum;
  call.count = 1;
  call.datatype = tuttiFloat;
  OK(tuttiRun(&call, comm));
  CHECK(sum == again);
  call.op = tuttiProd; /* Refused at this level. */
  CHECK(tuttiRun(&call, comm) == tuttiInvalidArgument);
  OK(tuttiCommSetReproducible(comm, tuttiReproducibleRun));
  /* The level of one call. */
  call.reproducible = tuttiReproducibleExact;
  CHECK(tuttiRun(&call, comm) == tuttiInvalidArgument);
  call.op = tuttiSum;
  sum = -1;
  OK(tuttiRun(&call, comm));
  CHECK(sum == again);
  call.reproducible = (tuttiReproducible_t)3;
  CHECK(tuttiRun(&call, comm) == tuttiInvalidArgument);
  call.reproducible = tuttiReproducibleRun;
  /* Shards of one call: rank 0 has the number twice, the others have none. */
  const void* const twice[] = {&again, &again};
  call.sendbuff = NULL;
  call.shards = twice;
  call.nshards = self->rank == 0 ? 2 : 0;
  OK(tuttiRun(&call, comm));
  CHECK(sum == 2 * again);
  CHECK(tuttiCommSetReproducible(comm, (tuttiReproducible_t)3) == tuttiInvalidArgument);
  CHECK(tuttiCommSetReproducible(NULL, tuttiReproducibleRun) == tuttiInvalidArgument);
  CHECK(tuttiAllReduceShards(NULL, 1, &sum, 1, tuttiFloat, tuttiSum, comm) == tuttiInvalidArgument);
  return 0;
}

/* Every operation, by its number. */
int check_operations(Rank* self) {
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

/* A type that the table below cannot hold. */
static int complex128(Rank* self) {
  const double brings[2] = {self->rank, -1};
  double got[2] = {0, 0};
  OK(tuttiAllReduce(brings, got, 1, tuttiComplex128, tuttiSum, self->comm));
  CHECK(got[0] == self->ranks * (self->ranks - 1) / 2.0 && got[1] == -self->ranks);
  CHECK(tuttiAllReduce(brings, got, 1, tuttiComplex128, tuttiMax, self->comm) ==
        tuttiInvalidArgument);
  return 0;
}

/* The sum of ones in every type; in complex64, of both parts. */
int check_types(Rank* self) {
  const struct {
    tuttiDataType_t type;
    size_t bytes;
    uint64_t one;
    uint64_t two; /* The bits of the sum; 0 stands for the integer 2. */
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
               {tuttiFloat8e4m3, 1, 0x38, 0x40},
               {tuttiFloat8e5m2, 1, 0x3C, 0x40},
               {tuttiInt16, 2, 1, 0},
               {tuttiUint16, 2, 1, 0},
               {tuttiComplex64, 8, 0x3F8000003F800000, 0x4000000040000000},
               {tuttiFloat32, 4, 0x3F800000, 0x40000000},
               {tuttiFloat64, 8, 0x3FF0000000000000, 0x4000000000000000},
               {tuttiDouble, 8, 0x3FF0000000000000, 0x4000000000000000}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    /* Two ranks contribute 1, all others 0, so the sum is 1 + 1 for every p. */
    uint64_t data = self->rank < 2 ? known[i].one : 0;
    uint64_t wanted = self->ranks < 2 ? known[i].one : known[i].two ? known[i].two : 2;
    uint64_t got = 0;
    OK(tuttiAllReduce(&data, &got, 1, known[i].type, tuttiSum, self->comm));
    CHECK(memcmp(&got, &wanted, known[i].bytes) == 0);
    CHECK(got >> (known[i].bytes * 4) >> (known[i].bytes * 4) == 0);
  }
  return complex128(self);
}

void multiply(void* accumulator, const void* contribution, size_t count, void* context) {
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

int check_own_operations(Rank* self, int async) {
  Complex send[2 * most_ranks];
  Complex recv[2] = {{7, 7}, {7, 7}};
  int called = 0;
  int any = 0;
  tuttiOp_t op = NULL;
  tuttiComm_t comm = self->comm;
  for (int i = 0; i < 2 * most_ranks; ++i) {
    send[i].real = 0;
    send[i].imaginary = 1;
  }
  CHECK(tuttiRedOpCreate(&op, multiply, &called, 0) == tuttiInvalidArgument);
  OK(tuttiRedOpCreate(&op, multiply, &called, sizeof(Complex)));

  if (async) {
    FINISH(tuttiAllReduceWithAsync(send, recv, 2, op, comm, &work));
  } else {
    OK(tuttiAllReduceWith(send, recv, 2, op, comm));
  }
  CHECK(is_power(self, recv[0]) && is_power(self, recv[1]));
  /* Which ranks call it depends on the algorithm. */
  OK(tuttiAllReduce(&called, &any, 1, tuttiInt32, tuttiMax, comm));
  CHECK(any == (self->ranks > 1));

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
