/* Binds, normalises, compares and mutates two statements that a newline separates. Checks that apply(diff(a, b), a)
 * equals b, and that the normal form parses, if there is one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sql/diff.h"
#include "lib/sql/mutate.h"
#include "tests/fuzz/two_tables.h"

static const struct sql_mutate_key KEYS[] = {{0, 2, 1, 2}, {0, 1, 1, 2}};

static void require(int holds)
{
    if (!holds) abort();
}

static void normalise_and_mutate(struct arena *arena, struct sql_stmt *stmt)
{
    struct sql_bound *bound;
    struct sql_join_pair *pairs;
    struct sql_mutation *mutants;
    if (sql_bind(arena, stmt, &two_tables, &bound) != ERR_OK) return;
    sql_join_pairs(arena, bound, &pairs);
    char *form = sql_normal_form(arena, stmt->root);
    struct sql_stmt *again;
    require(!form || sql_parse(arena, form, strlen(form), NULL, &again) != ERR_SYNTAX);
    struct sql_mutate_env env = {.catalog = &two_tables, .keys = KEYS, .n_keys = 2};
    if (stmt->n_nodes < 200) sql_mutate(arena, bound, &env, 1, 20, &mutants);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *cut = size ? memchr(text, '\n', size) : NULL;
    size_t first = cut ? (size_t)(cut - text) : size;
    struct arena arena;
    struct sql_stmt *a = NULL, *b = NULL;
    arena_init(&arena, 64UL << 20);
    sql_parse(&arena, text, first, NULL, &a);
    if (cut) sql_parse(&arena, cut + 1, size - first - 1, NULL, &b);
    if (a && a->root && !a->diags) normalise_and_mutate(&arena, a);
    if (a && b && a->root && b->root) {
        struct sql_diff *diff = sql_diff(&arena, a->root, b->root);
        struct sql_node *made = diff ? sql_diff_apply(&arena, diff) : NULL;
        require(!made || sql_equal(made, b->root));
    }
    arena_free(&arena);
    return 0;
}
