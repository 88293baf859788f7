#include "calls.h"

#include <string.h>

#include "rank.h"

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
  size_t bytes = 0;
  size_t in_use = 0;
  size_t idle = 0;
  OK(tuttiMemAllocUninitialized(&memory, 5000));
  OK(tuttiMemSize(memory, &bytes));
  CHECK(bytes == 8192);
  OK(tuttiMemUse(&in_use, &idle));
  CHECK(in_use >= bytes);
  OK(tuttiMemFree(memory));
  OK(tuttiMemTrim(0));
  OK(tuttiMemSize(&version, &bytes));
  CHECK(bytes == 0);
  CHECK(tuttiMemFree(&version) == tuttiInvalidArgument);

  for (int result = 0; result <= 9; ++result) {
    CHECK(tuttiGetErrorString((tuttiResult_t)result)[0] != '\0');
  }
  CHECK(strcmp(tuttiGetErrorString(tuttiSuccess), "success") == 0);
  return 0;
}

/* Invalid calls fail before anything is sent, and the communicator stays usable. */
static int refusals(Rank* self) {
  float* const data = self->send;
  tuttiComm_t comm = self->comm;
  CHECK(tuttiAllReduce(data, data, 1, (tuttiDataType_t)12, tuttiSum, comm) == tuttiInvalidArgument);
  CHECK(strstr(tuttiGetLastError(comm), "tuttiAllReduce: there is no datatype 12") != NULL);
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
  for (int async = 0; async < 2; ++async) {
    if (check_reductions(self, async) || check_shard_reductions(self, async) ||
        check_own_operations(self, async) || check_movements(self, async) ||
        check_counted(self, async) || check_pairs(self, async) || check_schedules(self, async)) {
      return 1;
    }
  }
  return check_operations(self) || check_types(self) || check_levels(self) ||
         check_messages(self) || check_groups(self) || check_configs(self) || the_rest(self) ||
         check_later_callers(self) || check_prepared_calls(self) || check_wrong_schedules(self) ||
         refusals(self);
}
