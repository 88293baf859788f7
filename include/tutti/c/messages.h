/* Messages between two ranks by tags and from any rank, groups of calls, and what happens when work
 * is done. Included by tutti.h. */
#ifndef TUTTI_C_MESSAGES_H_
#define TUTTI_C_MESSAGES_H_

#include <tutti/tutti.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In place of a rank or a tag of a receive: whichever comes first. Tags are 0 or more; the calls
 * without one use 0. */
#define TUTTI_ANY_RANK (-1)
#define TUTTI_ANY_TAG (-1)

/* Who has sent a message, by which tag, and how long it is. */
typedef struct {
  int rank;
  int tag;
  size_t bytes;
} tuttiEnvelope_t;

/* Messages between the same two ranks arrive in the order in which they were sent, if their tags
 * are the same. They wait neither for collectives nor for messages to others, may be sent to the
 * rank itself, and may be asked for by several threads at once. */
TUTTI_API tuttiResult_t tuttiSendTag(const void* sendbuff, size_t count, tuttiDataType_t datatype,
                                     int peer, int tag, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiSendTagAsync(const void* sendbuff, size_t count,
                                          tuttiDataType_t datatype, int peer, int tag,
                                          tuttiComm_t comm, tuttiWork_t* work);
/* The message may be shorter than `count` elements; `envelope`, which may be NULL, tells. */
TUTTI_API tuttiResult_t tuttiRecvTag(void* recvbuff, size_t count, tuttiDataType_t datatype,
                                     int peer, int tag, tuttiComm_t comm,
                                     tuttiEnvelope_t* envelope);
TUTTI_API tuttiResult_t tuttiRecvTagAsync(void* recvbuff, size_t count, tuttiDataType_t datatype,
                                          int peer, int tag, tuttiComm_t comm, tuttiWork_t* work);

/* Waits for a message that a receive would take, and leaves it where it is. */
TUTTI_API tuttiResult_t tuttiProbe(int peer, int tag, tuttiComm_t comm, tuttiEnvelope_t* envelope);
/* The same without waiting: *found is 0 if there is none yet. */
TUTTI_API tuttiResult_t tuttiTryProbe(int peer, int tag, tuttiComm_t comm, int* found,
                                      tuttiEnvelope_t* envelope);

/* Between the two, calls of this thread that do not end in Async return at once, and the last
 * tuttiGroupEnd returns when all are done, with the error of the first that failed. Sends and
 * receives begin together then, so that none waits for another; collectives begin in their order.
 * Buffers and communicators must stay until then, arrays of counts need not. Groups may be nested.
 */
TUTTI_API tuttiResult_t tuttiGroupStart(void);
TUTTI_API tuttiResult_t tuttiGroupEnd(void);

/* Calls `f` once, when the work is done, with how it went. It is called in a thread of tutti's,
 * where it may make calls and need not hurry. */
typedef void (*tuttiCallback_t)(tuttiResult_t result, void* context);
TUTTI_API tuttiResult_t tuttiWorkThen(tuttiWork_t work, tuttiCallback_t f, void* context);
/* Of a receive that is done. */
TUTTI_API tuttiResult_t tuttiWorkEnvelope(tuttiWork_t work, tuttiEnvelope_t* envelope);

#ifdef __cplusplus
}
#endif

#endif
