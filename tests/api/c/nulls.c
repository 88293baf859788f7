#include <string.h>

#include "calls.h"
#include "rank.h"

static void called_back(tuttiResult_t result, void* context) {
  (void)result;
  (void)context;
}

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
  tuttiPrepared_t prepared = NULL;
  tuttiCall_t call = TUTTI_CALL_INITIALIZER;
  uint64_t hash = 0;
  int called = 0;
  tuttiCounters_t counters;
  tuttiEnvelope_t envelope;
  tuttiVerdict_t verdict;
  const int* gone = NULL;
  size_t ngone = 0;
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
  REFUSES(tuttiCommJoinConfig(NULL, 10, &comm, NULL));
  REFUSES(tuttiCommJoinConfig("127.0.0.1:1", 0, &comm, NULL));
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
  REFUSES(tuttiMemAllocUninitialized(NULL, 8));
  REFUSES(tuttiMemSize(&called, NULL));
  REFUSES(tuttiMemUse(NULL, NULL));
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
  REFUSES(tuttiScheduleSynthesize(NULL, tuttiCollAllGather, "star:2", 0, 8));
  REFUSES(tuttiScheduleSynthesize(&schedule, tuttiCollAllGather, NULL, 0, 8));
  REFUSES(tuttiScheduleHash(NULL, &hash));
  REFUSES(tuttiScheduleDestroy(NULL));
  REFUSES(tuttiRun(NULL, comm));
  REFUSES(tuttiRun(&call, NULL));
  REFUSES(tuttiStart(NULL, comm, &work));
  REFUSES(tuttiStart(&call, comm, NULL));
  REFUSES(tuttiPrepare(NULL, comm, &prepared));
  REFUSES(tuttiPrepare(&call, NULL, &prepared));
  REFUSES(tuttiPrepare(&call, comm, NULL));
  REFUSES(tuttiPreparedRun(NULL));
  REFUSES(tuttiPreparedStart(NULL, &work));
  OK(tuttiPrepare(&call, comm, &prepared));
  REFUSES(tuttiPreparedStart(prepared, NULL));
  OK(tuttiPreparedDestroy(prepared));
  REFUSES(tuttiPreparedDestroy(NULL));
  REFUSES(tuttiSend(data, 1, type, 0, NULL));
  REFUSES(tuttiRecv(data, 1, type, 0, NULL));
  REFUSES(tuttiSendRecv(data, 1, 0, data, 1, 0, type, NULL));
  REFUSES(tuttiSendTag(data, 1, type, 0, 1, NULL));
  REFUSES(tuttiRecvTag(data, 1, type, 0, 1, NULL, NULL));
  REFUSES(tuttiProbe(0, 0, NULL, &envelope));
  REFUSES(tuttiProbe(0, 0, comm, NULL));
  REFUSES(tuttiTryProbe(0, 0, comm, NULL, &envelope));
  REFUSES(tuttiTryProbe(0, 0, comm, &called, NULL));
  REFUSES(tuttiGroupEnd());
  REFUSES(tuttiWorkThen(NULL, called_back, NULL));
  REFUSES(tuttiWorkEnvelope(NULL, &envelope));
  REFUSES(tuttiCommInitRankConfig(NULL, 1, id, 0, NULL));
  REFUSES(tuttiCommInitFromEnvironmentConfig(NULL, NULL));
  REFUSES(tuttiCommInitFromStore(&comm, 1, 0, NULL, "", NULL));
  comm = self->comm;
  REFUSES(tuttiCommSplitConfig(NULL, 0, 0, &comm, NULL));
  REFUSES(tuttiCommDuplicateConfig(NULL, &comm, NULL));
  comm = self->comm;
  REFUSES(tuttiCommVerdict(NULL, &verdict));
  REFUSES(tuttiCommVerdict(comm, NULL));
  REFUSES(tuttiCommGone(NULL, &gone, &ngone));
  REFUSES(tuttiCommGone(comm, NULL, &ngone));

  work = (tuttiWork_t)(void*)&place; /* To check that a failure sets NULL. */
  REFUSES(tuttiAllReduceAsync(data, data, 1, type, op, NULL, &work));
  CHECK(work == NULL);
  REFUSES(tuttiSendAsync(data, 1, type, 0, NULL, &work));
  REFUSES(tuttiBarrierAsync(comm, NULL));
  REFUSES(tuttiSendRecvAsync(data, 1, 0, data, 1, 0, type, comm, NULL));
  CHECK(strcmp(tuttiGetLastError(NULL), "tuttiSendRecvAsync: work is NULL") == 0);
  return 0;
}
