/* Passes any bytes through the SQL front end: parses, checks the tree and draws every diagnostic. A text without errors
 * is also printed, parsed again and compared, copied and compared. The first byte chooses the limits, so that each of
 * them is reached. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sql/dialect.h"
#include "lib/sql/sql.h"

#define REQUIRE(condition, what)                                                                                       \
    do {                                                                                                               \
        if (!(condition)) fprintf(stderr, "%s: %s\n", what, #condition), abort();                                      \
    } while (0)

/* Checks and draws the diagnostics of the parser, or those about SQL that SQLite does not support. */
static void check_diags(struct arena *arena, const struct sql_stmt *stmt, const struct sql_diag *first)
{
    uint32_t last = 0;
    for (const struct sql_diag *d = first; d; d = d->next) {
        REQUIRE(d->start >= last && d->start <= d->end && d->end <= stmt->len, "a diagnostic is out of order or place");
        REQUIRE(d->code != ERR_OK && d->message[0] && !strchr(d->message, '\n'), d->message);
        (void)sql_diag_render(arena, stmt, d);
        last = d->start;
    }
}

static void check_clean(struct arena *arena, const struct sql_stmt *stmt, const struct sql_limits *limits)
{
    struct sql_limits wide = {.max_bytes = 1U << 22, .max_tokens = 1U << 20, .max_depth = limits->max_depth};
    struct sql_stmt *again;
    const char *text = sql_print(arena, stmt->root);
    if (!text) return; /* NULL: the arena is full */
    enum err_code rc = sql_parse(arena, text, strlen(text), &wide, &again);
    if (rc == ERR_LIMIT_MEMORY) return;
    REQUIRE(rc == ERR_OK, text);
    REQUIRE(sql_equal(stmt->root, again->root) && sql_hash(stmt->root) == sql_hash(again->root), text);
    const char *second = sql_print(arena, again->root);
    REQUIRE(!second || strcmp(text, second) == 0, text);
    const struct sql_node *copy = sql_copy(arena, stmt->root);
    REQUIRE(!copy || sql_equal(copy, stmt->root), text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sql_limits CAPS[4] = {
        {0}, {.max_tokens = 50, .max_diags = 2}, {.max_depth = 20}, {.max_bytes = 200, .max_diags = 1}};
    struct arena arena;
    struct sql_stmt *stmt;
    if (size == 0) return 0;
    const struct sql_limits *limits = &CAPS[data[0] & 3];
    arena_init(&arena, data[0] & 4 ? 1U << 14 : 1U << 24);
    enum err_code rc = sql_parse(&arena, (const char *)data + 1, size - 1, limits, &stmt);
    REQUIRE(stmt || rc == ERR_LIMIT_MEMORY, "no statement");
    if (stmt && rc != ERR_LIMIT_MEMORY) {
        const char *wrong = sql_check_tree(stmt);
        REQUIRE(!wrong, wrong);
        REQUIRE(rc == (stmt->diags ? stmt->diags->code : ERR_OK), "the code is not the first diagnostic's");
        check_diags(&arena, stmt, stmt->diags);
        check_diags(&arena, stmt, sql_not_sqlite(&arena, stmt));
        if (stmt->root) (void)sql_dump(&arena, stmt->root);
        if (rc == ERR_OK)
            check_clean(&arena, stmt, limits);
        else if (stmt->root)
            (void)sql_print(&arena, stmt->root);
    }
    arena_free(&arena);
    return 0;
}
