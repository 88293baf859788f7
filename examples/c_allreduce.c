/* Every rank contributes a number, and every rank gets the sum. `tutti run -n 4 c_allreduce` starts
 * four ranks. Without a launcher it is a group of one rank. */
#include <stdio.h>

#include <tutti/tutti.h>

static int fail(const char* what) {
  fprintf(stderr, "%s failed: %s\n", what, tuttiGetLastError(NULL));
  return 1;
}

int main(void) {
  tuttiComm_t comm = NULL;
  int rank = 0;
  int ranks = 0;
  if (tuttiCommInitFromEnvironment(&comm) != tuttiSuccess) return fail("joining the group");
  if (tuttiCommUserRank(comm, &rank) != tuttiSuccess) return fail("asking for the rank");
  if (tuttiCommCount(comm, &ranks) != tuttiSuccess) return fail("asking for the ranks");

  float mine = (float)(rank + 1);
  float sum = 0;
  if (tuttiAllReduce(&mine, &sum, 1, tuttiFloat, tuttiSum, comm) != tuttiSuccess) {
    return fail("allreduce");
  }
  printf("rank %d of %d contributed %g; the sum is %g\n", rank, ranks, mine, sum);

  if (tuttiCommDestroy(comm) != tuttiSuccess) return fail("leaving the group");
  return sum == (float)(ranks * (ranks + 1) / 2) ? 0 : 1;
}
