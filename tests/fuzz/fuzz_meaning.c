/* Parses and binds a statement, reads its meaning and prints it. Reading it twice must give the same hash and text. The
 * first byte chooses the size of the arena, so that a full arena occurs too. */
#include "lib/meaning/meaning.h"
#include "tests/fuzz/two_tables.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds)
{
    if (!holds) abort();
}

/* Reads the meaning twice. Each time, unknown terms are numbered from the same first number, so the hashes are equal
 * too. */
static void read_twice(struct arena *arena, const struct sql_bound *bound)
{
    struct meaning *first, *second;
    if (meaning_read(arena, bound, &first) != ERR_OK || meaning_read(arena, bound, &second) != ERR_OK) return;
    require((first != NULL) == (second != NULL));
    if (!first) return;
    require(first->hash == second->hash && first->n_unknown == second->n_unknown);
    const char *a = meaning_print(arena, first), *b = meaning_print(arena, second);
    if (a && b) require(strcmp(a, b) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    if (size == 0) return 0;
    arena_init(&arena, data[0] & 4 ? 1U << 14 : 1U << 25);
    if (sql_parse(&arena, (const char *)data + 1, size - 1, NULL, &stmt) == ERR_OK) {
        enum err_code code = sql_bind(&arena, stmt, &two_tables, &bound);
        if (code == ERR_OK || code == ERR_UNKNOWN_NAME || code == ERR_AMBIGUOUS_NAME) read_twice(&arena, bound);
    }
    arena_free(&arena);
    return 0;
}
