#include <stdio.h>

#include <tutti/tutti.h>

int main(void) {
  int version = 0;
  if (tuttiGetVersion(&version) != tuttiSuccess || version != TUTTI_VERSION_CODE) return 1;
  return printf("tutti %d in C\n", version) < 0;
}
