/* One rank in the tests of the C API, and the macros by which they report faults. */
#ifndef TUTTI_TESTS_API_C_RANK_H_
#define TUTTI_TESTS_API_C_RANK_H_

#include <tutti/tutti.h>

enum { most_ranks = 8, length = 300, most = most_ranks * length };

/* A rank and its buffers. */
typedef struct {
  tuttiComm_t comm;
  int rank;
  int ranks;
  char* fault;
  size_t fault_bytes;
  float send[most];
  float recv[most];
} Rank;

/* Element i of the contribution of rank r. Small enough that sums are exact. */
float brought(int r, int i);
float summed(const Rank* self, int i);
void fill(Rank* self);

/* Keeps the first fault. */
int complain(Rank* self, const char* file, int line, const char* what);

#define CHECK(what) \
  if (!(what)) return complain(self, __FILE__, __LINE__, #what)
#define OK(call) CHECK((call) == tuttiSuccess)
#define REFUSES(call) CHECK((call) == tuttiInvalidArgument)

/* Waits for work in every possible way, and destroys it. */
int finish(Rank* self, tuttiWork_t work);
#define FINISH(call)                  \
  {                                   \
    tuttiWork_t work = NULL;          \
    OK(call);                         \
    if (finish(self, work)) return 1; \
  }

/* The elements of a user-defined operation. */
typedef struct {
  double real;
  double imaginary;
} Complex;
void multiply(void* accumulator, const void* contribution, size_t count, void* context);

/* Each makes calls of one kind and returns 0 if all are right. `async` selects the Async calls. */
int check_reductions(Rank* self, int async);
int check_shard_reductions(Rank* self, int async);
int check_own_operations(Rank* self, int async);
int check_levels(Rank* self);
int check_operations(Rank* self);
int check_types(Rank* self);
int check_movements(Rank* self, int async);
int check_counted(Rank* self, int async);
int check_pairs(Rank* self, int async);
int check_messages(Rank* self);
int check_groups(Rank* self);
int check_configs(Rank* self);
int check_schedules(Rank* self, int async);
int check_wrong_schedules(Rank* self);
int check_later_callers(Rank* self);
int check_prepared_calls(Rank* self);

#endif
