/* Counts the equalities that join two tables in the queries of a log. A reference is an equality of a key and another
 * column, which the schema does not list as a join yet. The other column refers to the key. Equalities of two columns
 * that are not keys are left out. They join rows that merely share a value ("of the same city"). */
#include "train/joined_keys.h"

#include <glib.h>
#include <string.h>

enum { MIN_QUERIES = 3 };

struct joined_keys {
    GHashTable *bases; /* name → counts; counts map a reference, as text, to its number of queries */
    GHashTable *seen;  /* queries already counted, as "db\nsql" */
};

struct joined_keys *joined_keys_new(void)
{
    struct joined_keys *learn = g_new0(struct joined_keys, 1);
    learn->bases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_hash_table_destroy);
    learn->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return learn;
}

void joined_keys_free(struct joined_keys *learn)
{
    g_hash_table_destroy(learn->bases);
    g_hash_table_destroy(learn->seen);
    g_free(learn);
}

static GHashTable *counts_of(struct joined_keys *learn, const char *db)
{
    GHashTable *counts = g_hash_table_lookup(learn->bases, db);
    if (counts) return counts;
    counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_insert(learn->bases, g_strdup(db), counts);
    return counts;
}

/* True if the schema already has this join, declared or inferred. */
static bool is_known(const struct schema_index *schema, const struct schema_column *a, const struct schema_column *b)
{
    bool derived = false;
    return schema_join_between(schema, a->id, b->id, &derived) || derived;
}

/* True if `key` is a key that `other` may refer to. Of two unique columns, the primary key is the key. */
static bool is_key_of(const struct schema_column *key, const struct schema_column *other)
{
    return key->unique && (!other->unique || (key->pk == 1 && other->pk != 1));
}

static void count_pair(GHashTable *counts, GHashTable *counted, const struct schema_index *schema,
                       const struct schema_column *a, const struct schema_column *b)
{
    if (!a || !b || a == b || is_known(schema, a, b) || is_key_of(a, b) == is_key_of(b, a)) return;
    const struct schema_column *from = is_key_of(b, a) ? a : b, *to = from == a ? b : a;
    char *text = g_strdup_printf("%s.%s -> %s.%s", schema->tables[from->table].name, from->name,
                                 schema->tables[to->table].name, to->name);
    if (g_hash_table_add(counted, g_strdup(text)))
        g_hash_table_insert(counts, g_strdup(text),
                            GUINT_TO_POINTER(GPOINTER_TO_UINT(g_hash_table_lookup(counts, text)) + 1));
    g_free(text);
}

static bool count_query(GHashTable *counts, const struct schema_index *schema, const char *sql)
{
    struct arena arena;
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    struct sql_join_pair *pairs = NULL;
    arena_init(&arena, 0);
    GHashTable *counted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    bool read = sql_parse(&arena, sql, strlen(sql), NULL, &stmt) == ERR_OK &&
                sql_bind(&arena, stmt, &schema->catalog, &bound) == ERR_OK;
    int n = read ? sql_join_pairs(&arena, bound, &pairs) : 0;
    for (int i = 0; i < n; i++)
        if (pairs[i].conjunct && !pairs[i].negated)
            count_pair(counts, counted, schema, schema_column_of(schema, pairs[i].left),
                       schema_column_of(schema, pairs[i].right));
    g_hash_table_destroy(counted);
    arena_free(&arena);
    return read && n >= 0;
}

bool joined_keys_add(struct joined_keys *learn, const char *db, const struct schema_index *schema, const char *sql)
{
    if (!g_hash_table_add(learn->seen, g_strdup_printf("%s\n%s", db, sql))) return true;
    return count_query(counts_of(learn, db), schema, sql);
}

static unsigned print_base(const char *name, GHashTable *counts, FILE *out)
{
    unsigned n = 0;
    GList *texts = g_list_sort(g_hash_table_get_keys(counts), (GCompareFunc)strcmp);
    for (const GList *at = texts; at; at = at->next) {
        unsigned queries = GPOINTER_TO_UINT(g_hash_table_lookup(counts, at->data));
        if (queries < MIN_QUERIES) continue;
        if (!n++) fprintf(out, "# %s\nkeys:\n", name);
        fputs("  - ", out);
        schema_print_scalar(at->data, strlen(at->data), out);
        fprintf(out, " # %u queries\n", queries);
    }
    g_list_free(texts);
    return n;
}

unsigned joined_keys_print(const struct joined_keys *learn, FILE *out)
{
    unsigned n = 0;
    GList *names = g_list_sort(g_hash_table_get_keys(learn->bases), (GCompareFunc)strcmp);
    for (const GList *at = names; at; at = at->next)
        n += print_base(at->data, g_hash_table_lookup(learn->bases, at->data), out);
    g_list_free(names);
    return n;
}
