#include <stdio.h>
#include <string.h>

#include "rank.h"

/* An allreduce as JSON: all send to rank 0, which sends the sum back. */
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

/* tuttiRun and tuttiStart, with and without a schedule. */
int check_schedules(Rank* self, int async) {
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

  /* A schedule made for a network gives the same. */
  if (self->ranks > 1) {
    tuttiSchedule_t made = NULL;
    snprintf(text, sizeof text, "ring:%d", self->ranks);
    OK(tuttiScheduleSynthesize(&made, tuttiCollAllReduce, text, 0, 1 << 20));
    call.schedule = made;
    fill(self);
    OK(tuttiRun(&call, comm));
    for (int i = 0; i < length; ++i) CHECK(self->recv[i] == summed(self, i));
    OK(tuttiScheduleDestroy(made));
    call.schedule = schedule;
  }

  /* A schedule that does not fit the call fails before anything is sent. */
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

  /* A call from a program that was built with the first tutti.h has no shape. */
  call.counts = NULL;
  call.algorithm = NULL;
  call.shape = "7x1000";
  call.size = offsetof(tuttiCall_t, shape);
  OK(tuttiRun(&call, comm));
  call.size = sizeof call;
  CHECK(tuttiRun(&call, comm) == tuttiInvalidArgument);
  CHECK(strstr(tuttiGetLastError(comm), "the shape 7x1000 is for 7000 ranks") != NULL);
  return 0;
}

/* A call from a program that was built with a later version of tutti.h. */
int check_later_callers(Rank* self) {
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

/* Invalid schedules give an error that says why. */
int check_wrong_schedules(Rank* self) {
  char text[4096];
  tuttiSchedule_t schedule = (tuttiSchedule_t)(void*)self; /* To check that a failure sets NULL. */
  CHECK(tuttiScheduleFromJson(&schedule, "{}") == tuttiInvalidArgument);
  CHECK(schedule == NULL);
  CHECK(tuttiScheduleLoad(&schedule, "/nowhere/at/all.json") == tuttiInvalidArgument);
  CHECK(strstr(tuttiGetLastError(NULL), "/nowhere/at/all.json") != NULL);
  CHECK(tuttiScheduleSynthesize(&schedule, tuttiCollAllToAll, "star:4", 0, 8) == tuttiUnsupported);
  CHECK(strstr(tuttiGetLastError(NULL), "not for alltoall") != NULL);
  if (self->ranks > 1) {
    write_schedule(self, text, sizeof text);
    memcpy(strstr(text, "\"own\", "), "       ", 7);
    CHECK(tuttiScheduleFromJson(&schedule, text) == tuttiInvalidArgument);
    CHECK(strstr(tuttiGetLastError(NULL), "wrong output") != NULL);
  }
  return 0;
}
