/* What the tests of the C API do in plain C, so that a C compiler has seen it all. */
#ifndef TUTTI_TESTS_API_C_CALLS_H_
#define TUTTI_TESTS_API_C_CALLS_H_

#include <stddef.h>

#include <tutti/tutti.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes every call on `comm` and looks at what comes out; 0 if all is right. What is wrong with the
 * first that is not goes into `fault`. */
int c_check_calls(tuttiComm_t comm, char* fault, size_t fault_bytes);

/* Hands NULL to every function that must not get it; 0 if each says so. */
int c_check_nulls(tuttiComm_t comm, char* fault, size_t fault_bytes);

#ifdef __cplusplus
}
#endif

#endif
