/* Memory that the ranks of a host share. Included by tutti.h. */
#ifndef TUTTI_C_MEMORY_H_
#define TUTTI_C_MEMORY_H_

#include <tutti/tutti.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates memory that the other ranks of this host can read, which saves copies in collectives.
 * Collectives also accept any other memory. The memory is zeroed, page-aligned and a whole number
 * of pages. */
TUTTI_API tuttiResult_t tuttiMemAlloc(void** memory, size_t bytes);
/* Allocates such memory as malloc does: with any contents. It is page-aligned, and at most a
 * quarter longer than `bytes` rounded up to pages. Memory that is freed is kept for the next call
 * of about that size, which then costs no system call and no page fault. */
TUTTI_API tuttiResult_t tuttiMemAllocUninitialized(void** memory, size_t bytes);
/* Frees memory from both functions. `memory` may be NULL. */
TUTTI_API tuttiResult_t tuttiMemFree(void* memory);
/* Gets the bytes that may be used at this address; 0 if it is not from one of these functions. */
TUTTI_API tuttiResult_t tuttiMemSize(const void* memory, size_t* bytes);
/* Gets the bytes from tuttiMemAllocUninitialized that are in use, and those that were freed and are
 * kept: at most 2 GiB, or 1/16 of the host's memory. */
TUTTI_API tuttiResult_t tuttiMemUse(size_t* in_use, size_t* idle);
/* Returns kept memory to the system until at most `keep` bytes are kept. */
TUTTI_API tuttiResult_t tuttiMemTrim(size_t keep);

#ifdef __cplusplus
}
#endif

#endif
