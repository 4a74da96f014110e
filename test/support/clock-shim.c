// Moves the wall clock of one process by the µs written in a file. For LD_PRELOAD; libfaketime does
// not start Debian's redis-server.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long *offset;

__attribute__((constructor)) static void map_offset(void) {
  int file = open(getenv("CLOCK_OFFSET_FILE"), O_RDONLY);
  void *mapped = mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) offset = mapped;
}

static long now_us(void) {
  struct timespec t;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
  return t.tv_sec * 1000000L + t.tv_nsec / 1000 + (offset ? *offset : 0);
}

int clock_gettime(clockid_t clock, struct timespec *t) {
  if (clock != CLOCK_REALTIME) return syscall(SYS_clock_gettime, clock, t);
  long now = now_us();
  t->tv_sec = now / 1000000;
  t->tv_nsec = now % 1000000 * 1000;
  return 0;
}

int gettimeofday(struct timeval *t, void *zone) {
  long now = now_us();
  t->tv_sec = now / 1000000;
  t->tv_usec = now % 1000000;
  return 0;
}

time_t time(time_t *t) {
  time_t now = now_us() / 1000000;
  if (t) *t = now;
  return now;
}
