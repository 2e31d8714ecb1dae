/* The watchdog must end a process whose call does not return, and no other process. Each case runs in its own
 * process. */
#include "proto/bus/kafka/exactly_once/once.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_MS = 300, LONG_MS = 1200, STILL = 5 };

static void nap(int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0) {
    }
}

static int status_of(pid_t child)
{
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Starts a process that makes a call of `ms` under the limit LIMIT_MS. */
static pid_t call(int64_t ms)
{
    pid_t child = fork();
    if (child) return child;
    struct watchdog *watchdog = watchdog_new();
    close(STDERR_FILENO);
    watchdog_begin(watchdog, "a test", LIMIT_MS);
    nap(ms);
    watchdog_end(watchdog);
    nap(ms < LIMIT_MS ? 2 * LIMIT_MS : 0); /* between two calls there is no limit */
    watchdog_free(watchdog);
    _exit(STILL);
}

Test(watchdog, hanging_call_ends_process)
{
    cr_assert_eq(status_of(call(20 * LONG_MS)), WATCHDOG_STATUS);
}

Test(watchdog, returning_call_does_not_end_process)
{
    cr_assert_eq(status_of(call(10)), STILL);
}

/* Time during which the process was stopped does not count towards the limit. */
Test(watchdog, stopped_time_is_not_counted)
{
    enum { STOPPED_MS = 3 * LIMIT_MS };
    pid_t child = call(LIMIT_MS / 2);
    nap(LIMIT_MS / 6);
    cr_assert_eq(kill(child, SIGSTOP), 0);
    nap(STOPPED_MS);
    cr_assert_eq(kill(child, SIGCONT), 0);
    cr_assert_eq(status_of(child), STILL);
}
