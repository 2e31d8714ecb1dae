/* Restarts itself twice and prints each start, for test_anew.c. With `hang` it restarts while another thread hangs. */
#include "lib/base/anew.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void *hang(void *arg)
{
    for (;;) pause();
    return arg;
}

static void *begin(void *arg)
{
    anew_begin();
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t hanging, other;
    int inherited = fcntl(5, F_GETFD) != -1;
    anew_allow();
    printf("start %u of %d, %d arguments, last '%s', inherited %d\n", anew_count(), (int)getpid(), argc, argv[argc - 1],
           inherited);
    fflush(stdout);
    if (anew_count() == 2) return 7;
    if (strcmp(argv[1], "forbid") == 0) anew_forbid();
    if (dup2(STDOUT_FILENO, 5) < 0) return 1;
    if (strcmp(argv[1], "hang") != 0) {
        anew_begin();
        return 8;
    }
    if (pthread_create(&hanging, NULL, hang, NULL) || pthread_create(&other, NULL, begin, NULL)) return 1;
    pthread_join(hanging, NULL);
    return 9;
}
