/* Blanks MariaDB's comments that start with #. The scanner would read # as an operator of PostgreSQL. */
#include "lib/sql/dialect.h"

#include <string.h>

/* Returns the index after the quoted text, the comment or the character at `at`. */
static size_t skip_piece(const char *text, size_t len, size_t at)
{
    const char *open = text + at, *end = NULL;
    size_t left = len - at;
    if (*open == '\'' || *open == '"' || *open == '`') {
        end = memchr(open + 1, *open, left - 1);
        return end ? (size_t)(end - text) + 1 : len;
    }
    if (left > 2 && memcmp(open, "--", 2) == 0 && strchr(" \t\n\v\f\r", open[2])) {
        end = memchr(open, '\n', left);
        return end ? (size_t)(end - text) : len;
    }
    if (left < 2 || memcmp(open, "/*", 2) != 0) return at + 1;
    end = memmem(open + 2, left - 2, "*/", 2);
    return end ? (size_t)(end - text) + 2 : len;
}

char *sql_blank_hash_comments(struct arena *arena, const char *text, size_t len)
{
    char *copy = arena_strndup(arena, text, len);
    for (size_t at = 0; copy && at < len;) {
        if (text[at] != '#') {
            at = skip_piece(text, len, at);
            continue;
        }
        for (; at < len && text[at] != '\n'; at++) copy[at] = ' ';
    }
    return copy;
}
