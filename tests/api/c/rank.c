#include "rank.h"

#include <stdio.h>
#include <string.h>

float brought(int r, int i) { return (float)(r * 1000 + i); }

float summed(const Rank* self, int i) {
  float sum = 0;
  for (int r = 0; r < self->ranks; ++r) sum += brought(r, i);
  return sum;
}

void fill(Rank* self) {
  for (int i = 0; i < most; ++i) {
    self->send[i] = brought(self->rank, i);
    self->recv[i] = -1;
  }
}

int complain(Rank* self, const char* file, int line, const char* what) {
  if (self->fault[0] == '\0') {
    const char* const folder = strrchr(file, '/');
    snprintf(self->fault, self->fault_bytes, "%s:%d: rank %d: %s (%s)",
             folder == NULL ? file : folder + 1, line, self->rank, what,
             tuttiGetLastError(self->comm));
  }
  return 1;
}

int finish(Rank* self, tuttiWork_t work) {
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
