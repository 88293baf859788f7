#include <stdio.h>
#include <string.h>

#include "rank.h"

int check_movements(Rank* self, int async) {
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

/* The block of rank r has r + 1 elements, so its offset is r * (r + 1) / 2. */
int check_counted(Rank* self, int async) {
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
