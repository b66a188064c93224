// A cat as Git for Windows has one.
#include <stdio.h>

int main(int count, char **args) {
  int status = 0;
  for (int at = 1; at < count || at == 1; at++) {
    FILE *file = count == 1 ? stdin : fopen(args[at], "rb");
    if (file == NULL) {
      fprintf(stderr, "cat: %s: No such file or directory\n", args[at]);
      status = 1;
      continue;
    }
    for (int one = getc(file); one != EOF; one = getc(file)) putchar(one);
  }
  return status;
}
