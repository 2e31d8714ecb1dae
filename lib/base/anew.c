/* DESIGN: restarts the program like a supervisor, for deployments without a supervisor. The arguments are read from
 * /proc/self/cmdline, so callers do not pass them. An environment variable passes the number of restarts to the next
 * run.
 *
 * anew_allow allocates everything that execve needs, because anew_begin must not allocate. A watchdog calls it while
 * other threads may hang holding a lock of the allocator.
 *
 * Rejected: a parent process that restarts the program. Signals and tools that address the process id would reach the
 * parent instead of the program.
 */
#include "lib/base/anew.h"

#include "lib/base/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 1024, MAX_BYTES = 256 << 10, FIRST_OTHER_FD = 3 };

static const char VARIABLE[] = "ASSAY_BEGUN_ANEW";
static const int64_t LONG_NS = 600 * INT64_C(1000000000); /* a longer run resets the count */

static struct {
    atomic_bool allowed;
    int64_t since_ns;
    unsigned count;
    char *argv[MAX_ARGUMENTS + 1];
    char bytes[MAX_BYTES];
    char counted[sizeof VARIABLE + 16], first[sizeof VARIABLE + 16]; /* such as "NAME=3", "NAME=1" */
    char **environment;                                              /* its first entry is `counted` or `first` */
} anew;

static bool read_arguments(void)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size_t len = 0, n = 0;
    for (ssize_t got = 1; fd >= 0 && got > 0 && len<sizeof anew.bytes; len += got> 0 ? (size_t)got : 0)
        got = read(fd, anew.bytes + len, sizeof anew.bytes - len);
    if (fd >= 0) close(fd);
    if (!len || len == sizeof anew.bytes || anew.bytes[len - 1]) return false;
    for (size_t at = 0; at < len && n < MAX_ARGUMENTS; at += strlen(anew.bytes + at) + 1)
        anew.argv[n++] = anew.bytes + at;
    return n < MAX_ARGUMENTS;
}

static bool copy_environment(void)
{
    size_t n = 0, kept = 1;
    while (environ[n]) n++;
    anew.environment = calloc(n + 2, sizeof *anew.environment);
    if (!anew.environment) return false;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], VARIABLE, strlen(VARIABLE)) != 0) anew.environment[kept++] = environ[i];
    snprintf(anew.counted, sizeof anew.counted, "%s=%u", VARIABLE, anew.count + 1);
    snprintf(anew.first, sizeof anew.first, "%s=1", VARIABLE);
    return true;
}

void anew_allow(void)
{
    const char *text = getenv(VARIABLE);
    anew.count = text ? (unsigned)strtoul(text, NULL, 10) : 0;
    anew.since_ns = clock_now_ns();
    anew.allowed = read_arguments() && copy_environment();
}

void anew_forbid(void)
{
    anew.allowed = false;
}

unsigned anew_count(void)
{
    return anew.count;
}

void anew_begin(void)
{
    if (!anew.allowed) return;
    anew.environment[0] = clock_now_ns() - anew.since_ns > LONG_NS ? anew.first : anew.counted;
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL); /* unblocks all signals, because the new program inherits the mask */
    close_range(FIRST_OTHER_FD, ~0U, 0);
    execve("/proc/self/exe", anew.argv, anew.environment);
}
