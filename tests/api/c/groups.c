#include <string.h>

#include "rank.h"

int check_groups(Rank* self) {
  tuttiComm_t part = NULL;
  tuttiComm_t twin = NULL;
  int size = 0;
  int rank = -1;
  int sum = self->rank;
  tuttiVerdict_t verdict;

  /* Odd ranks in reverse order; even ranks get no communicator. */
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

  OK(tuttiCommVerdict(self->comm, &verdict));
  CHECK(verdict.result == tuttiSuccess && verdict.reason[0] == '\0' && verdict.nranks == 0);
  OK(tuttiCommDuplicate(self->comm, &twin));
  OK(tuttiAllReduce(&sum, &sum, 1, tuttiInt, tuttiSum, twin));
  CHECK(sum == self->ranks * (self->ranks - 1) / 2);
  OK(tuttiBarrier(self->comm)); /* No rank is still in the call. */
  OK(tuttiCommAbort(twin, "the test is over"));
  CHECK(tuttiBarrier(twin) == tuttiAborted);
  CHECK(strstr(tuttiGetLastError(twin), "the test is over") != NULL);
  OK(tuttiCommVerdict(twin, &verdict));
  CHECK(verdict.result == tuttiAborted && strstr(verdict.reason, "the test is over") != NULL);
  CHECK(verdict.nranks == 1 && verdict.ranks[0] >= 0 && verdict.ranks[0] < self->ranks);
  OK(tuttiCommDestroy(twin));
  return 0;
}

int check_configs(Rank* self) {
  tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
  tuttiComm_t twin = NULL;
  int sum = self->rank;
  config.timeout_ms = 20000;
  config.algorithm = "allreduce:ring";
  config.threads = 2;
  OK(tuttiCommDuplicateConfig(self->comm, &twin, &config));
  OK(tuttiAllReduce(&sum, &sum, 1, tuttiInt, tuttiSum, twin));
  CHECK(sum == self->ranks * (self->ranks - 1) / 2);
  OK(tuttiCommDestroy(twin));
  OK(tuttiCommSplitConfig(self->comm, 0, 0, &twin, &config));
  OK(tuttiBarrier(twin));
  OK(tuttiCommDestroy(twin));

  config.threads = 3;
  CHECK(tuttiCommDuplicateConfig(self->comm, &twin, &config) == tuttiInvalidArgument);
  config.threads = 0;
  config.shape = "eight";
  CHECK(tuttiCommDuplicateConfig(self->comm, &twin, &config) == tuttiInvalidArgument);
  config.shape = NULL;
  config.size = 8;
  CHECK(tuttiCommDuplicateConfig(self->comm, &twin, &config) == tuttiInvalidArgument);
  CHECK(strstr(tuttiGetLastError(NULL), "TUTTI_CONFIG_INITIALIZER") != NULL);
  OK(tuttiBarrier(self->comm));
  return 0;
}
