/* Collectives that are prepared once and made many times. Included by tutti.h. */
#ifndef TUTTI_C_PREPARED_H_
#define TUTTI_C_PREPARED_H_

#include <tutti/tutti.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tuttiPrepared* tuttiPrepared_t;

/* Checks and plans a call, to be made any number of times with the same buffers: what MPI calls a
 * persistent collective. Sends nothing. Only the buffers must stay valid; everything else that
 * `call` points to may be freed. Each time that it is made it is one of the calls of `comm`: all
 * ranks make it at the same place in the order of their calls, prepared or not. */
TUTTI_API tuttiResult_t tuttiPrepare(const tuttiCall_t* call, tuttiComm_t comm,
                                     tuttiPrepared_t* prepared);
/* As tuttiRun. */
TUTTI_API tuttiResult_t tuttiPreparedRun(tuttiPrepared_t prepared);
/* As tuttiStart. May be started again before the work is done. */
TUTTI_API tuttiResult_t tuttiPreparedStart(tuttiPrepared_t prepared, tuttiWork_t* work);
/* What was started ends nevertheless. May come after tuttiCommDestroy. */
TUTTI_API tuttiResult_t tuttiPreparedDestroy(tuttiPrepared_t prepared);

#ifdef __cplusplus
}
#endif

#endif
