/* The child program of test_executor.c. Without $ASSAY_TEST_CHILD it is a valid child. Otherwise it opens its database
 * and then misbehaves on every statement, in the way that this variable names. */
#include "lib/db/executor.h"
#include "lib/db/executor_wire.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const void *bytes, size_t len)
{
    if (write(WIRE_FD, bytes, len) < 0) _exit(1);
}

static void garbage(GRand *rand)
{
    uint32_t len = (uint32_t)g_rand_int_range(rand, 0, 300);
    unsigned char bytes[400];
    memcpy(bytes, &len, sizeof len);
    for (uint32_t i = 0; i < len; i++)
        bytes[sizeof len + i] = (unsigned char)(g_rand_boolean(rand) ? 0 : g_rand_int_range(rand, 0, 256));
    say(bytes, sizeof len + len);
}

static void misbehave(const char *how, GRand *rand)
{
    uint32_t huge = 0x7fffffff;
    /* removes the sanitizer's handler, which would print a report */
    if (strcmp(how, "crash") == 0) signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
    if (strcmp(how, "leave") == 0) _exit(3);
    if (strcmp(how, "hang") == 0) pause();
    if (strcmp(how, "stutter") == 0) say("\1", 1), pause();
    if (strcmp(how, "huge") == 0) say(&huge, sizeof huge), pause();
    if (strcmp(how, "garbage") == 0) garbage(rand);
}

int main(int argc, char **argv)
{
    const char *how = getenv("ASSAY_TEST_CHILD");
    if (!how) executor_serve(argc > 1 ? argv[1] : NULL);
    GByteArray *reply = g_byte_array_new();
    GRand *rand = g_rand_new();
    for (;;) {
        static char body[1 << 20];
        uint32_t len;
        if (read(WIRE_FD, &len, sizeof len) != sizeof len || len > sizeof body) _exit(0);
        if (read(WIRE_FD, body, len) != (ssize_t)len) _exit(0);
        if (body[0] == WIRE_QUERY) {
            misbehave(how, rand);
            continue;
        }
        wire_write_reply(reply, &(struct wire_reply){0});
        say(reply->data, reply->len);
    }
}
