/* Checks heads of HTTP requests, and the chunks after them. The outcome must not depend on how the bytes are split, or
 * on the bytes that follow. An accepted head has no bare line feed and no NUL, and determines the end of its body in
 * exactly one way. */
#include "server/http_head.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void check(int holds)
{
    if (!holds) abort();
}

/* Returns the outcome of one of the checks on exactly these bytes. */
static enum head_state state_of(enum head_state (*of)(const char *, size_t, const char **), const uint8_t *data,
                                size_t size)
{
    const char *why;
    char *copy = malloc(size + 1);
    check(copy != NULL);
    memcpy(copy, data, size);
    enum head_state state = of(copy, size, &why);
    check((state == HEAD_BAD) == (why != NULL));
    free(copy);
    return state;
}

/* Checks the lines of a valid head, given without its empty last line. */
static void check_lines(const char *head, size_t len)
{
    unsigned framings = 0;
    check(!memchr(head, '\0', len));
    for (const char *line = head, *end; line < head + len; line = end + 1) {
        end = memchr(line, '\n', (size_t)(head + len - line));
        check(end && end > line && end[-1] == '\r');
        check(memchr(line, '\r', (size_t)(end - line)) == end - 1);
        framings += strncasecmp(line, "content-length", 14) == 0 && line[14] == ':';
        framings += strncasecmp(line, "transfer-encoding:", 18) == 0;
    }
    check(framings <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 4096) return 0;
    enum head_state last = HEAD_PARTIAL, body = HEAD_PARTIAL;
    for (size_t n = 0; n <= size; n++) {
        enum head_state state = state_of(http_head_check, data, n), whole = state_of(http_body_check, data, n);
        check(body == HEAD_PARTIAL || whole == body);
        check(state == HEAD_WHOLE || whole == state);
        body = whole;
        check(last == HEAD_PARTIAL || state == last);
        if (state == HEAD_WHOLE && last == HEAD_PARTIAL) check_lines((const char *)data, n);
        last = state;
    }
    return 0;
}
