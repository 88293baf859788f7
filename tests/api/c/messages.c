#include <time.h>

#include "rank.h"

int check_pairs(Rank* self, int async) {
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

static void note_result(tuttiResult_t result, void* context) {
  const int told = result == tuttiSuccess ? 1 : -1;
  __atomic_store_n((int*)context, told, __ATOMIC_RELEASE);
}

/* With tags, from any rank, and to the rank itself. */
static int tags(Rank* self) {
  tuttiComm_t comm = self->comm;
  const int right = (self->rank + 1) % self->ranks;
  const int left = (self->rank + self->ranks - 1) % self->ranks;
  const int one = 10 * self->rank + 1;
  const int two = 10 * self->rank + 2;
  int got[4] = {0, 0, 0, 0};
  int found = 0;
  int told = 0;
  tuttiEnvelope_t envelope = {-9, -9, 0};
  tuttiWork_t first = NULL;
  tuttiWork_t second = NULL;
  OK(tuttiSendTagAsync(&one, 1, tuttiInt, right, 5, comm, &first));
  OK(tuttiSendTagAsync(&two, 1, tuttiInt, right, 6, comm, &second));
  OK(tuttiProbe(left, 6, comm, &envelope));
  CHECK(envelope.rank == left && envelope.tag == 6 && envelope.bytes == sizeof(int));
  OK(tuttiTryProbe(left, 7, comm, &found, &envelope));
  CHECK(found == 0);
  /* Receives the second message first, with a buffer longer than the message. */
  OK(tuttiRecvTag(got, 4, tuttiInt, left, 6, comm, NULL));
  CHECK(got[0] == 10 * left + 2 && got[1] == 0);
  OK(tuttiRecvTag(got, 1, tuttiInt, TUTTI_ANY_RANK, TUTTI_ANY_TAG, comm, &envelope));
  CHECK(got[0] == 10 * left + 1);
  CHECK(envelope.rank == left && envelope.tag == 5 && envelope.bytes == sizeof(int));
  OK(tuttiWorkWait(first, -1));
  OK(tuttiWorkWait(second, -1));
  OK(tuttiWorkDestroy(first));
  OK(tuttiWorkDestroy(second));

  OK(tuttiRecvTagAsync(got, 1, tuttiInt, left, TUTTI_ANY_TAG, comm, &first));
  OK(tuttiWorkThen(first, note_result, &told));
  OK(tuttiSendTag(&two, 1, tuttiInt, right, 8, comm));
  OK(tuttiWorkWait(first, -1));
  OK(tuttiWorkEnvelope(first, &envelope));
  CHECK(envelope.tag == 8 && got[0] == 10 * left + 2);
  for (const time_t end = time(NULL) + 10; time(NULL) < end;) {
    if (__atomic_load_n(&told, __ATOMIC_ACQUIRE) != 0) break;
  }
  CHECK(__atomic_load_n(&told, __ATOMIC_ACQUIRE) == 1);
  OK(tuttiWorkDestroy(first));
  CHECK(tuttiSendTag(&one, 1, tuttiInt, right, -1, comm) == tuttiInvalidArgument);
  return 0;
}

/* Calls that would deadlock one by one. */
static int grouped(Rank* self) {
  tuttiComm_t comm = self->comm;
  tuttiComm_t twin = NULL;
  int out = self->rank;
  int in[most_ranks];
  int more[most_ranks];
  int sum = self->rank;
  tuttiEnvelope_t envelope = {-9, -9, 0};
  OK(tuttiCommDuplicate(comm, &twin));
  OK(tuttiGroupStart());
  for (int r = 0; r < self->ranks; ++r) {
    OK(tuttiRecv(&in[r], 1, tuttiInt, r, comm));
    OK(tuttiRecvTag(&more[r], 1, tuttiInt, r, TUTTI_ANY_TAG, twin, &envelope));
  }
  OK(tuttiGroupStart());
  OK(tuttiAllReduce(&sum, &sum, 1, tuttiInt, tuttiSum, comm));
  for (int r = 0; r < self->ranks; ++r) {
    OK(tuttiSend(&out, 1, tuttiInt, r, comm));
    OK(tuttiSendTag(&out, 1, tuttiInt, r, 3, twin));
  }
  CHECK(tuttiSend(&out, 1, tuttiInt, -1, comm) == tuttiInvalidArgument);
  OK(tuttiGroupEnd());
  OK(tuttiGroupEnd());
  for (int r = 0; r < self->ranks; ++r) CHECK(in[r] == r && more[r] == r);
  CHECK(envelope.rank == self->ranks - 1 && envelope.tag == 3);
  CHECK(sum == self->ranks * (self->ranks - 1) / 2);
  CHECK(tuttiGroupEnd() == tuttiInvalidArgument);
  OK(tuttiCommDestroy(twin));
  return 0;
}

int check_messages(Rank* self) { return tags(self) || grouped(self); }
