/* A wall clock that jumps, for processes that preload this library (LD_PRELOAD). The file $ASSAY_TEST_CLOCK holds
 * seconds (eight bytes, native order). This library adds them to the kernel's time, and subtracts them from the
 * deadlines of waits.
 *
 * Rejected: libfaketime. It moves the clock that librdkafka reads, but not the deadline of cnd_timedwait, with which
 * librdkafka waits. So a jump of an hour would become a wait of an hour. The monotonic clock is unchanged. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { LONG_UP_S = 1000000000 }; /* longer than the uptime of any machine: a later deadline is one of the wall clock */

static const volatile int64_t *jump;

__attribute__((constructor)) static void open_clock(void)
{
    const char *path = getenv("ASSAY_TEST_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *jump, PROT_READ, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) jump = at;
    if (fd >= 0) close(fd);
}

static time_t ahead(void)
{
    return jump ? (time_t)*jump : 0;
}

static struct timespec as_real(const struct timespec *at)
{
    return (struct timespec){at->tv_sec > LONG_UP_S ? at->tv_sec - ahead() : at->tv_sec, at->tv_nsec};
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead();
    return failed;
}

int timespec_get(struct timespec *now, int base)
{
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec fine;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &fine);
    *now = (struct timeval){fine.tv_sec, fine.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until)
{
    static int (*next)(cnd_t *, mtx_t *, const struct timespec *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "cnd_timedwait");
    struct timespec real = as_real(until);
    return next(condition, mutex, &real);
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    static int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (!next) *(void **)&next = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    struct timespec real = as_real(until);
    return next(condition, mutex, &real);
}
