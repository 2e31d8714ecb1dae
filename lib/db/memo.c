/* The results of the probes of one question, remembered. Candidates of a question are alike: of 8,300 statements that a
 * replay of Spider's development questions runs, 1,600 are repeated word for word within their question. */
#include "lib/db/db_engine.h"

#include <glib.h>
#include <string.h>

enum { MEMO_BYTES = 4 << 20, MEMO_ENTRIES = 512, MEMO_VALUES = 256, MEMO_VALUE_BYTES = 1024 };

struct memo_entry {
    const char *sql;
    size_t len;
    uint32_t stop_rows;
    struct db_result result;
};

struct db_memo {
    struct arena arena;
    GHashTable *entries; /* as a set; they live in the arena */
};

static guint hash_of(gconstpointer p)
{
    const struct memo_entry *entry = p;
    guint hash = entry->stop_rows;
    for (size_t i = 0; i < entry->len; i++) hash = hash * 31 + (unsigned char)entry->sql[i];
    return hash;
}

static gboolean is_same(gconstpointer a, gconstpointer b)
{
    const struct memo_entry *x = a, *y = b;
    return x->stop_rows == y->stop_rows && x->len == y->len && memcmp(x->sql, y->sql, x->len) == 0;
}

struct db_memo *db_memo_new(void)
{
    struct db_memo *memo = g_new0(struct db_memo, 1);
    arena_init(&memo->arena, MEMO_BYTES);
    memo->entries = g_hash_table_new(hash_of, is_same);
    return memo;
}

void db_memo_clear(struct db_memo *memo)
{
    if (!memo || g_hash_table_size(memo->entries) == 0) return;
    g_hash_table_remove_all(memo->entries);
    arena_reset(&memo->arena);
}

void db_memo_free(struct db_memo *memo)
{
    if (!memo) return;
    g_hash_table_destroy(memo->entries);
    arena_free(&memo->arena);
    g_free(memo);
}

/* Only probes: a candidate's own result may be large, and equal candidates are judged once as it is. */
static bool is_probe(const struct db_statement *statement)
{
    return statement->n_params == 0 && statement->stop_rows > 0;
}

bool memo_find(const struct db_memo *memo, const struct db_statement *statement, struct db_result *out)
{
    struct memo_entry wanted = {.sql = statement->sql, .len = statement->len, .stop_rows = statement->stop_rows};
    const struct memo_entry *found = memo && is_probe(statement) ? g_hash_table_lookup(memo->entries, &wanted) : NULL;
    if (found) *out = found->result;
    return found != NULL;
}

static bool is_small(const struct db_result *result)
{
    size_t n = (size_t)result->n_rows * result->n_columns;
    if (n > MEMO_VALUES) return false;
    for (size_t i = 0; i < n; i++)
        if (result->values[i].len > MEMO_VALUE_BYTES) return false;
    return true;
}

static bool copy_values(struct arena *arena, struct db_result *result)
{
    size_t n = (size_t)result->n_rows * result->n_columns;
    struct db_value *values = arena_new_array(arena, n, struct db_value);
    const char **names = arena_new_array(arena, result->n_columns, const char *);
    for (size_t i = 0; values && i < n; i++) {
        values[i] = result->values[i];
        if (values[i].text && !(values[i].text = arena_strndup(arena, values[i].text, values[i].len))) return false;
    }
    for (uint32_t i = 0; names && i < result->n_columns; i++)
        if (!(names[i] = arena_strdup(arena, result->columns[i]))) return false;
    result->values = values;
    result->columns = names;
    return values && names;
}

void memo_keep(struct db_memo *memo, const struct db_statement *statement, const struct db_result *result)
{
    if (!memo || !is_probe(statement) || !is_small(result)) return;
    if (g_hash_table_size(memo->entries) == MEMO_ENTRIES) return;
    struct memo_entry *entry = arena_new(&memo->arena, struct memo_entry);
    char *sql = arena_strndup(&memo->arena, statement->sql, statement->len);
    if (!entry || !sql) return;
    *entry = (struct memo_entry){sql, statement->len, statement->stop_rows, *result};
    entry->result.ns = entry->result.prepare_ns = 0; /* of the next time */
    if (copy_values(&memo->arena, &entry->result)) g_hash_table_add(memo->entries, entry);
}
