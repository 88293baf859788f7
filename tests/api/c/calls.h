/* The tests of the C API that are written in C, so that a C compiler compiles every function. */
#ifndef TUTTI_TESTS_API_C_CALLS_H_
#define TUTTI_TESTS_API_C_CALLS_H_

#include <stddef.h>

#include <tutti/tutti.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes every call on `comm` and checks the results. Returns 0 if all are right; otherwise writes
 * the first fault to `fault`. */
int c_check_calls(tuttiComm_t comm, char* fault, size_t fault_bytes);

/* Passes NULL to every function that does not allow it. Returns 0 if each reports an error. */
int c_check_nulls(tuttiComm_t comm, char* fault, size_t fault_bytes);

#ifdef __cplusplus
}
#endif

#endif
