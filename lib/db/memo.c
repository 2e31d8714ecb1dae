/* A cache of small results (db.h). It is useful because candidates of a question run similar statements. A replay of
 * Spider's development questions runs 8,300 statements, of which 1,600 repeat an earlier statement of the same
 * question. The cache stores copies in an arena of limited size and never evicts single entries. */
#include "lib/db/db_engine.h"

#include <glib.h>
#include <string.h>
#include <xxhash.h>

enum { MEMO_BYTES = 1 << 20, MEMO_ENTRIES = 1024, MEMO_VALUES = 256, MEMO_VALUE_BYTES = 1024, MEMO_PARAMS = 8 };

struct memo_entry {
    struct db_statement statement;
    struct db_result result;
};

struct db_memo {
    struct arena arena;
    GHashTable *entries; /* set of struct memo_entry, which are in the arena */
};

static bool has_text(const struct db_value *value)
{
    return value->type == DB_TEXT || value->type == DB_BLOB;
}

/* Hashes the statement and its params. is_same decides whether statements with the same hash are equal. */
static guint hash_of(gconstpointer p)
{
    const struct db_statement *statement = &((const struct memo_entry *)p)->statement;
    uint64_t hash = XXH3_64bits_withSeed(statement->sql, statement->len, statement->stop_rows);
    for (uint32_t i = 0; i < statement->n_params; i++) {
        const struct db_value *value = &statement->params[i];
        hash = has_text(value) ? XXH3_64bits_withSeed(value->text, value->len, hash)
                               : XXH3_64bits_withSeed(&value->i, sizeof value->i, hash);
    }
    return (guint)hash;
}

/* Compares types and bits, so 1 differs from 1.0, and 0.0 differs from -0.0. */
static bool is_same_value(const struct db_value *a, const struct db_value *b)
{
    if (a->type != b->type) return false;
    switch (a->type) {
    case DB_TEXT:
    case DB_BLOB: return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
    case DB_INT: return a->i == b->i;
    case DB_FLOAT: return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case DB_NULL: break;
    }
    return true;
}

static gboolean is_same(gconstpointer a, gconstpointer b)
{
    const struct db_statement *x = &((const struct memo_entry *)a)->statement,
                              *y = &((const struct memo_entry *)b)->statement;
    if (x->stop_rows != y->stop_rows || x->len != y->len || x->n_params != y->n_params) return false;
    for (uint32_t i = 0; i < x->n_params; i++)
        if (!is_same_value(&x->params[i], &y->params[i])) return false;
    return memcmp(x->sql, y->sql, x->len) == 0;
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

void db_memo_make_room(struct db_memo *memo)
{
    if (memo->arena.used > MEMO_BYTES / 2 || g_hash_table_size(memo->entries) > MEMO_ENTRIES / 2) db_memo_clear(memo);
}

void db_memo_free(struct db_memo *memo)
{
    if (!memo) return;
    g_hash_table_destroy(memo->entries);
    arena_free(&memo->arena);
    g_free(memo);
}

/* True if the cached result took fewer steps than the current limits allow. These may be lower than when the statement
 * ran. */
static bool is_within(const struct db_result *result, const struct db_limits *limits)
{
    return (!limits->max_steps || result->steps < limits->max_steps) &&
           (!limits->by_steps || result->steps / DB_STEPS_PER_MS < limits->time_ms);
}

static bool are_small(const struct db_value *values, size_t n)
{
    if (n > MEMO_VALUES) return false;
    for (size_t i = 0; i < n; i++)
        if (has_text(&values[i]) && values[i].len > MEMO_VALUE_BYTES) return false;
    return true;
}

/* Copies values and their texts. Returns NULL if the arena is full. */
static struct db_value *copy_values(struct arena *arena, const struct db_value *from, size_t n)
{
    struct db_value *values = arena_new_array(arena, n, struct db_value);
    for (size_t i = 0; values && i < n; i++) {
        values[i] = from[i];
        if (has_text(&values[i]) && !(values[i].text = arena_strndup(arena, from[i].text, from[i].len))) return NULL;
    }
    return values;
}

static bool copy_result(struct arena *arena, struct db_result *result)
{
    const char **names = arena_new_array(arena, result->n_columns, const char *);
    for (uint32_t i = 0; names && i < result->n_columns; i++)
        if (!(names[i] = arena_strdup(arena, result->columns[i]))) return false;
    result->values = copy_values(arena, result->values, (size_t)result->n_rows * result->n_columns);
    result->columns = names;
    return result->values && names;
}

bool memo_find(const struct db_memo *memo, const struct db_limits *limits, const struct db_statement *statement,
               struct arena *arena, struct db_result *out)
{
    struct memo_entry wanted = {.statement = *statement};
    const struct memo_entry *found = memo ? g_hash_table_lookup(memo->entries, &wanted) : NULL;
    if (!found || !is_within(&found->result, limits)) return false;
    struct db_result copy = found->result;
    if (!copy_result(arena, &copy)) return false;
    *out = copy;
    return true;
}

static bool copy_statement(struct arena *arena, struct db_statement *statement)
{
    statement->sql = arena_strndup(arena, statement->sql, statement->len);
    statement->params = copy_values(arena, statement->params, statement->n_params);
    return statement->sql && statement->params;
}

void memo_keep(struct db_memo *memo, const struct db_statement *statement, const struct db_result *result)
{
    if (!memo || statement->n_params > MEMO_PARAMS || !are_small(statement->params, statement->n_params)) return;
    if (!are_small(result->values, (size_t)result->n_rows * result->n_columns)) return;
    if (g_hash_table_size(memo->entries) == MEMO_ENTRIES || result->varies) return;
    struct memo_entry *entry = arena_new(&memo->arena, struct memo_entry);
    if (!entry) return;
    *entry = (struct memo_entry){*statement, *result};
    /* The times of a run with stop_rows are not reused. */
    if (statement->stop_rows) entry->result.ns = entry->result.prepare_ns = 0;
    if (copy_statement(&memo->arena, &entry->statement) && copy_result(&memo->arena, &entry->result))
        g_hash_table_replace(memo->entries, entry, entry);
}
