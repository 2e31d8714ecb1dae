/* Infers undeclared joins: a column that is named like a key of another table, and whose values this key contains.
 *
 * Names are compared first, because a key of small numbers contains the values of any id column by chance. A column
 * name fits a key in three cases:
 * - The words are equal ("stuid" and "stuid"), except words that every table has (id, name, code ...).
 * - The words are those of the table and the key ("singer_id" → "singer.id"), or of the table alone ("singer" →
 *   "singer.id").
 * - The words end with one of these forms ("home_team_id" → "team.id"), unless the column is the key of its own table.
 *
 * Without data, names alone decide, and both columns must have the same affinity. Columns with a declared foreign key
 * are skipped. Only unique and fully indexed keys are targets. If the uniqueness is measured and not declared, the
 * table must have a minimum number of rows.
 */
#include "lib/schema/schema_int.h"

#include <string.h>

enum { SAMPLE = 2000, MAX_WORDS = 12, MAX_INFERRED = 10000, MEASURED_ROWS = 10 };

struct column_words {
    const char *stems[2 * MAX_WORDS];
    uint32_t n;
};

static void add_words(struct column_words *to, const struct text_tokens *tokens)
{
    for (uint32_t i = 0; i < tokens->n && i < MAX_WORDS; i++) to->stems[to->n++] = tokens->items[i].stem;
}

/* True if `a` ends with the words of `b`. */
static bool ends_with(const struct column_words *a, const struct column_words *b)
{
    if (b->n == 0 || b->n > a->n) return false;
    for (uint32_t i = 1; i <= b->n; i++)
        if (strcmp(a->stems[a->n - i], b->stems[b->n - i]) != 0) return false;
    return true;
}

/* True for a column name that does not describe the content. */
static bool is_generic(const struct schema_column *column)
{
    static const char *const names[] = {"id",   "name",   "code",  "key",   "no",    "number",
                                        "num",  "title",  "type",  "date",  "year",  "description",
                                        "rank", "status", "value", "count", "index", "time"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_ascii_strcasecmp(column->name, names[i]) == 0) return true;
    return false;
}

/* True for a plural: "games" is a count, "game" is a reference. */
static bool is_plural(const struct schema_column *column)
{
    const struct text_token *last = &column->words.items[column->words.n - 1];
    size_t len = strlen(last->norm);
    return len > 3 && last->norm[len - 1] == 's' && last->norm[len - 2] != 's' && strlen(last->stem) < len;
}

static bool names_fit(const struct schema_column *from, const struct schema_column *to,
                      const struct schema_table *target)
{
    struct column_words a = {.n = 0}, b = {.n = 0}, table = {.n = 0}, both = {.n = 0};
    add_words(&a, &from->words);
    add_words(&b, &to->words);
    add_words(&table, &target->words);
    add_words(&both, &target->words);
    add_words(&both, &to->words);
    bool same = a.n == b.n && ends_with(&a, &b);
    if (same) return !is_generic(from);
    if (from->unique && from->pk) return false;
    if (ends_with(&a, &both)) return true;
    if (b.n >= 2 && ends_with(&a, &b)) return true;
    return to->pk == 1 && target->n_pk == 1 && ends_with(&a, &table) && !is_plural(from);
}

static bool may_be_target(const struct builder *builder, const struct schema_column *column)
{
    const struct schema_private *priv = builder->index->priv;
    bool chance = column->unique_measured && column->stats.rows < MEASURED_ROWS;
    bool known = builder->index->no_data || priv->values.columns[column->id].complete;
    return column->unique && !chance && known && !priv->is_foreign[column->id];
}

static bool may_refer(const struct builder *builder, const struct schema_column *column)
{
    const struct schema_private *priv = builder->index->priv;
    return (builder->index->no_data || priv->values.columns[column->id].n > 0) && !priv->is_foreign[column->id];
}

/* True if the reverse join already exists, declared or inferred. */
static bool is_reversed(const struct builder *builder, uint32_t from, uint32_t to)
{
    for (guint i = 0; i < builder->joins->len; i++) {
        const struct schema_join *join = &g_array_index(builder->joins, struct schema_join, i);
        for (uint32_t j = 0; j < join->n_pairs; j++)
            if (join->from[j] == to && join->to[j] == from) return true;
    }
    return false;
}

/* Returns the share of the values that the key contains. Returns -1 if nothing supports the join. */
static double inclusion_of(const struct builder *builder, const struct schema_column *from,
                           const struct schema_column *to)
{
    if (!builder->index->no_data) return values_inclusion(&builder->index->priv->values, from->id, to->id, SAMPLE);
    return from->affinity == to->affinity ? builder->options->min_inclusion : -1;
}

/* --- keys by their names ------------------------------------------------------------------------------------------ */

/* Keys, indexed by the words that a column's name must equal or end with. Each column is thus compared with few keys. A
 * database of thousands of tables has too many pairs to compare. */
struct targets {
    GHashTable *by_whole, *by_end; /* words → GArray of column ids, rising */
};

static char *joined(const struct column_words *words, uint32_t first)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = first; i < words->n; i++) g_string_append_printf(text, "%s ", words->stems[i]);
    return g_string_free(text, FALSE);
}

static void free_ids(gpointer ids)
{
    g_array_free(ids, TRUE);
}

static void file_under(GHashTable *map, const struct column_words *words, uint32_t id)
{
    char *key = joined(words, 0);
    GArray *ids = g_hash_table_lookup(map, key);
    if (!ids) {
        ids = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        g_hash_table_insert(map, g_strdup(key), ids);
    }
    g_array_append_val(ids, id);
    g_free(key);
}

/* Adds the key under all words that targets_of may look up. */
static void file_target(struct targets *targets, const struct schema_column *to, const struct schema_table *target)
{
    struct column_words key = {.n = 0}, table = {.n = 0}, both = {.n = 0};
    add_words(&key, &to->words);
    add_words(&table, &target->words);
    add_words(&both, &target->words);
    add_words(&both, &to->words);
    file_under(targets->by_whole, &key, to->id);
    if (key.n >= 2) file_under(targets->by_end, &key, to->id);
    file_under(targets->by_end, &table, to->id);
    file_under(targets->by_end, &both, to->id);
}

static struct targets targets_new(const struct builder *builder)
{
    struct targets targets = {g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_ids),
                              g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_ids)};
    const struct schema_index *index = builder->index;
    for (uint32_t i = 0; i < index->n_columns; i++) {
        const struct schema_column *column = index->columns[i];
        if (may_be_target(builder, column)) file_target(&targets, column, &index->tables[column->table]);
    }
    return targets;
}

static void targets_free(struct targets *targets)
{
    g_hash_table_destroy(targets->by_whole);
    g_hash_table_destroy(targets->by_end);
}

static void add_ids(GArray *to, GHashTable *map, const struct column_words *words, uint32_t first)
{
    char *key = joined(words, first);
    const GArray *ids = g_hash_table_lookup(map, key);
    if (ids && ids->len) g_array_append_vals(to, ids->data, ids->len);
    g_free(key);
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Returns the ids of the keys that may fit a column's name, in rising order. An id may occur repeatedly. */
static GArray *targets_of(const struct targets *targets, const struct schema_column *from)
{
    struct column_words words = {.n = 0};
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    add_words(&words, &from->words);
    if (!is_generic(from)) add_ids(ids, targets->by_whole, &words, 0);
    for (uint32_t first = 0; first < words.n; first++) add_ids(ids, targets->by_end, &words, first);
    g_array_sort(ids, compare_ids);
    return ids;
}

/* Adds the joins of one column to unique keys. With `measured`, to keys whose uniqueness is measured; otherwise to keys
 * that are declared unique. */
static enum err_code infer_from(struct builder *builder, const struct schema_column *from, const GArray *targets,
                                bool measured, uint32_t *found)
{
    const struct schema_index *index = builder->index;
    enum err_code code = ERR_OK;
    for (guint i = 0; !code && i < targets->len && builder->joins->len < MAX_INFERRED; i++) {
        uint32_t id = g_array_index(targets, uint32_t, i);
        if (i && id == g_array_index(targets, uint32_t, i - 1)) continue;
        const struct schema_column *to = index->columns[id];
        if (to->table == from->table || to->unique_measured != measured) continue;
        if (!names_fit(from, to, &index->tables[to->table]) || is_reversed(builder, from->id, to->id)) continue;
        double inclusion = inclusion_of(builder, from, to);
        if (inclusion < builder->options->min_inclusion) continue;
        code = builder_add_join(builder, &from->id, &to->id, 1, false, inclusion);
        (*found)++;
    }
    return code;
}

enum err_code schema_infer_joins(struct builder *builder)
{
    const struct schema_index *index = builder->index;
    struct targets targets = targets_new(builder);
    enum err_code code = ERR_OK;
    for (uint32_t i = 0; !code && i < index->n_columns; i++) {
        const struct schema_column *from = index->columns[i];
        if (!may_refer(builder, from)) continue;
        uint32_t found = 0;
        GArray *fitting = targets_of(&targets, from);
        code = infer_from(builder, from, fitting, false, &found);
        if (!code && !found) code = infer_from(builder, from, fitting, true, &found);
        g_array_free(fitting, TRUE);
    }
    targets_free(&targets);
    return code;
}
