/* Point-to-point messages with tags and from any rank, groups of calls, and callbacks when work is
 * done. Included by tutti.h. */
#ifndef TUTTI_C_MESSAGES_H_
#define TUTTI_C_MESSAGES_H_

#include <tutti/tutti.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In place of the rank or tag of a receive: takes the first message that arrives. Tags are 0 or
 * more. Calls without a tag use tag 0. */
#define TUTTI_ANY_RANK (-1)
#define TUTTI_ANY_TAG (-1)

/* The sender, tag and length of a message. */
typedef struct {
  int rank;
  int tag;
  size_t bytes;
} tuttiEnvelope_t;

/* Messages between the same two ranks with the same tag arrive in the order in which they were
 * sent. They do not wait for collectives or for messages to other ranks. A rank may send to itself.
 * Several threads may send and receive at once. */
TUTTI_API tuttiResult_t tuttiSendTag(const void* sendbuff, size_t count, tuttiDataType_t datatype,
                                     int peer, int tag, tuttiComm_t comm);
TUTTI_API tuttiResult_t tuttiSendTagAsync(const void* sendbuff, size_t count,
                                          tuttiDataType_t datatype, int peer, int tag,
                                          tuttiComm_t comm, tuttiWork_t* work);
/* The message may be shorter than `count` elements. `envelope` gets its length and may be NULL. */
TUTTI_API tuttiResult_t tuttiRecvTag(void* recvbuff, size_t count, tuttiDataType_t datatype,
                                     int peer, int tag, tuttiComm_t comm,
                                     tuttiEnvelope_t* envelope);
TUTTI_API tuttiResult_t tuttiRecvTagAsync(void* recvbuff, size_t count, tuttiDataType_t datatype,
                                          int peer, int tag, tuttiComm_t comm, tuttiWork_t* work);

/* Waits for a message that matches `peer` and `tag`, without receiving it. */
TUTTI_API tuttiResult_t tuttiProbe(int peer, int tag, tuttiComm_t comm, tuttiEnvelope_t* envelope);
/* The same without waiting: *found is 0 if there is no such message yet. */
TUTTI_API tuttiResult_t tuttiTryProbe(int peer, int tag, tuttiComm_t comm, int* found,
                                      tuttiEnvelope_t* envelope);

/* Between tuttiGroupStart and tuttiGroupEnd, the blocking calls of this thread return at once. The
 * outermost tuttiGroupEnd returns when all are done, with the error of the first that failed. It
 * starts all sends and receives together, so none waits for another. Collectives start in the order
 * of the calls. Buffers and communicators must stay valid until tuttiGroupEnd returns; arrays of
 * counts need not. Groups may be nested. */
TUTTI_API tuttiResult_t tuttiGroupStart(void);
TUTTI_API tuttiResult_t tuttiGroupEnd(void);

/* Calls `f` once with the result when the work is done. `f` runs in a thread of the library. It may
 * call tutti and may block. */
typedef void (*tuttiCallback_t)(tuttiResult_t result, void* context);
TUTTI_API tuttiResult_t tuttiWorkThen(tuttiWork_t work, tuttiCallback_t f, void* context);
/* Gets the envelope of a receive that is done. */
TUTTI_API tuttiResult_t tuttiWorkEnvelope(tuttiWork_t work, tuttiEnvelope_t* envelope);

#ifdef __cplusplus
}
#endif

#endif
