#include <string.h>

#include "rank.h"

static int is_gathered(const Rank* self) {
  for (int r = 0; r < self->ranks; ++r) {
    for (int i = 0; i < length; ++i) {
      if (self->recv[r * length + i] != brought(r, i)) return 0;
    }
  }
  return 1;
}

/* Prepared calls: alone, started, in a group, and beside plain ones. */
int check_prepared_calls(Rank* self) {
  tuttiComm_t comm = self->comm;
  tuttiComm_t twin = NULL;
  tuttiPrepared_t prepared = NULL;
  tuttiCall_t call = TUTTI_CALL_INITIALIZER;
  size_t counts[most_ranks];
  char algorithm[] = "allgather/ring";
  for (int r = 0; r < most_ranks; ++r) counts[r] = length;
  call.collective = tuttiCollAllGather;
  call.sendbuff = self->send;
  call.recvbuff = self->recv;
  call.counts = counts;
  call.datatype = tuttiFloat;
  call.algorithm = algorithm;
  OK(tuttiPrepare(&call, comm, &prepared));
  /* What the call points to is not needed any more. */
  memset(counts, 0, sizeof counts);
  memset(algorithm, 0, sizeof algorithm);
  for (int round = 0; round < 2; ++round) {
    fill(self);
    OK(tuttiPreparedRun(prepared));
    CHECK(is_gathered(self));
    fill(self);
    FINISH(tuttiPreparedStart(prepared, &work));
    CHECK(is_gathered(self));
    fill(self);
    OK(tuttiGroupStart());
    OK(tuttiPreparedRun(prepared));
    OK(tuttiGroupEnd());
    CHECK(is_gathered(self));
  }
  OK(tuttiPreparedDestroy(prepared));

  call.collective = tuttiCollAllReduce;
  call.counts = NULL;
  call.count = length;
  call.algorithm = "no/algorithm";
  CHECK(tuttiPrepare(&call, comm, &prepared) == tuttiInvalidArgument);
  CHECK(prepared == NULL);
  call.algorithm = NULL;
  OK(tuttiCommDuplicate(comm, &twin));
  OK(tuttiPrepare(&call, twin, &prepared));
  OK(tuttiCommDestroy(twin));
  CHECK(tuttiPreparedRun(prepared) == tuttiInvalidArgument);
  CHECK(strstr(tuttiGetLastError(NULL), "is gone") != NULL);
  OK(tuttiPreparedDestroy(prepared));
  return 0;
}
