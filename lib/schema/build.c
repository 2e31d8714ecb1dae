/* Builds an index: runs the steps in order, counts references and frees the memory. */
#include "lib/schema/schema_int.h"

#include "lib/base/clock.h"

#include <stdlib.h>
#include <string.h>

static const struct schema_options DEFAULTS = {
    .max_bytes = 256ULL << 20,
    .max_values = 200000,
    .max_value_bytes = 200,
    .max_rows = 1000000,
    .min_inclusion = 0.95,
    .time_ms = 60000,
};

/* Deadline of the whole build, including catalogue and joins. The build fails past this deadline. Reading rows has a
 * separate time limit (time_ms). */
static const int64_t BUILD_MS = 600000;

/* Share of an index's memory for the catalogue, statistics and descriptions: one part in CATALOGUE_SHARE. The values
 * get the rest. */
enum { CATALOGUE_SHARE = 8 };
static const uint64_t STORED_VALUE_BYTES = 1U << 30; /* limit for a value of a table; the database sets no such limit */

struct schema_options schema_options_resolve(const struct schema_options *asked)
{
    struct schema_options options = asked ? *asked : DEFAULTS;
    if (!options.max_bytes) options.max_bytes = DEFAULTS.max_bytes;
    if (!options.max_values) options.max_values = DEFAULTS.max_values;
    if (!options.max_value_bytes) options.max_value_bytes = DEFAULTS.max_value_bytes;
    if (!options.max_rows) options.max_rows = DEFAULTS.max_rows;
    if (options.min_inclusion <= 0) options.min_inclusion = DEFAULTS.min_inclusion;
    if (options.time_ms <= 0) options.time_ms = DEFAULTS.time_ms;
    return options;
}

enum err_code builder_full(struct builder *builder)
{
    err_set(builder->err, ERR_LIMIT_MEMORY, "the schema index does not fit in %llu bytes",
            (unsigned long long)builder->options->max_bytes);
    return ERR_LIMIT_MEMORY;
}

void builder_note(struct builder *builder, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    char *copy = arena_strdup(builder->arena, text);
    if (copy) g_ptr_array_add(builder->notes, copy);
    g_free(text);
}

void builder_set_limits(struct builder *builder, int64_t time_ms, uint64_t value_bytes)
{
    int64_t left_ms = MAX((builder->until_ns - clock_now_ns()) / 1000000, 1);
    struct db_limits limits = db_get_limits(builder->db);
    limits.time_ms = MIN(left_ms, time_ms);
    limits.value_bytes = value_bytes;
    limits.max_steps = 0;
    limits.by_steps = false;
    db_set_limits(builder->db, &limits);
}

/* --- joins -------------------------------------------------------------------------------------------------------- */

static const uint32_t *copy_ids(struct builder *builder, const uint32_t *ids, uint32_t n)
{
    uint32_t *copy = arena_new_array(builder->arena, n, uint32_t);
    if (copy) memcpy(copy, ids, n * sizeof *copy);
    return copy;
}

enum err_code builder_add_join(struct builder *builder, const uint32_t *from, const uint32_t *to, uint32_t n_pairs,
                               bool declared, double inclusion)
{
    struct schema_index *index = builder->index;
    struct schema_join join = {
        .from_table = index->columns[from[0]]->table,
        .to_table = index->columns[to[0]]->table,
        .from = copy_ids(builder, from, n_pairs),
        .to = copy_ids(builder, to, n_pairs),
        .n_pairs = n_pairs,
        .declared = declared,
        .inclusion = inclusion,
    };
    if (!join.from || !join.to) return builder_full(builder);
    for (uint32_t i = 0; declared && i < n_pairs; i++) index->priv->is_foreign[from[i]] = true;
    g_array_append_val(builder->joins, join);
    return ERR_OK;
}

static bool holds_id(const uint32_t *ids, uint32_t n, uint32_t id)
{
    for (uint32_t i = 0; i < n; i++)
        if (ids[i] == id) return true;
    return false;
}

/* True if the referenced columns include all columns of a key. The referenced columns are then unique together. */
static bool hold_a_key(const struct builder *builder, const struct schema_join *join)
{
    for (uint32_t i = 0; i < join->n_pairs; i++)
        if (builder->index->columns[join->to[i]]->unique) return true;
    for (guint i = 0; i < builder->keys->len; i++) {
        const struct key *key = &g_array_index(builder->keys, struct key, i);
        bool all = key->table == join->to_table;
        for (uint32_t j = 0; all && j < key->n; j++) all = holds_id(join->to, join->n_pairs, key->columns[j]);
        if (all) return true;
    }
    return false;
}

static bool is_never_null(const struct builder *builder, const struct schema_join *join)
{
    for (uint32_t i = 0; i < join->n_pairs; i++) {
        const struct schema_column *column = builder->index->columns[join->from[i]];
        bool unread = column->stats.sampled && column->stats.rows == 0;
        bool measured = builder->index->tables[column->table].scannable && column->stats.nulls == 0 && !unread;
        if (!column->not_null && !measured) return false;
    }
    return true;
}

/* Computes the remaining fields of the joins from the statistics, and moves the joins to the index. */
static enum err_code finish_joins(struct builder *builder)
{
    enum { SAMPLE = 2000 };
    struct schema_index *index = builder->index;
    index->n_joins = builder->joins->len;
    index->joins = arena_new_array(builder->arena, index->n_joins, struct schema_join);
    if (!index->joins) return builder_full(builder);
    for (uint32_t i = 0; i < index->n_joins; i++) {
        struct schema_join *join = &g_array_index(builder->joins, struct schema_join, i);
        join->to_unique = hold_a_key(builder, join);
        join->from_not_null = is_never_null(builder, join);
        double measured = -1;
        if (join->declared && join->n_pairs == 1)
            measured = values_inclusion(&index->priv->values, join->from[0], join->to[0], SAMPLE);
        if (measured >= 0) join->inclusion = measured;
        index->joins[i] = *join;
    }
    return ERR_OK;
}

static enum err_code finish_notes(struct builder *builder)
{
    struct schema_index *index = builder->index;
    uint32_t n = builder->notes->len;
    const char **notes = arena_new_array(builder->arena, n, const char *);
    if (!notes) return builder_full(builder);
    for (uint32_t i = 0; i < n; i++) notes[i] = builder->notes->pdata[i];
    index->notes = notes;
    index->n_notes = n;
    return ERR_OK;
}

/* --- the whole build ---------------------------------------------------------------------------------------------- */

static enum err_code build(struct builder *builder, const char *path)
{
    struct schema_index *index = builder->index;
    index->no_data = db_dialect(builder->db)->no_data;
    /* Read the fingerprint first, so that the next check detects a change made during the build. */
    enum err_code code = db_fingerprint(builder->db, index->fingerprint, builder->err);
    if (!code) code = schema_load(builder);
    if (code) return code;
    index->priv->is_foreign = arena_new_array(builder->arena, index->n_columns, bool);
    if (!index->priv->is_foreign) return builder_full(builder);
    const struct db_dialect *dialect = db_dialect(builder->db);
    index->alias_is_row = dialect->alias_is_row;
    index->quotes_names = dialect->quotes_names;
    index->divides_exactly = dialect->divides_exactly;
    schema_fill_catalog(index);
    code = schema_load_foreign_keys(builder);
    /* Before values are read, because origins decide which columns are denied. */
    if (!code) code = schema_trace_origins(builder);
    if (!code) code = schema_scan_tables(builder);
    if (!code) code = schema_read_sidecar(builder, path);
    if (!code && !builder->options->no_inferred_joins) code = schema_infer_joins(builder);
    if (!code) code = finish_joins(builder);
    if (!code) code = schema_link_graph(builder);
    if (!code) code = finish_notes(builder);
    return code;
}

struct schema_index *schema_index_new(const struct schema_options *options)
{
    struct schema_index *index = g_new0(struct schema_index, 1);
    index->priv = g_new0(struct schema_private, 1);
    /* 0 would select the arena's default */
    arena_init(&index->priv->arena, MAX(options->max_bytes / CATALOGUE_SHARE, 1));
    atomic_init(&index->priv->references, 1);
    return index;
}

static void free_index(struct schema_index *index)
{
    values_free(&index->priv->values);
    if (index->priv->source.end) index->priv->source.end(index->priv->source.ctx);
    arena_free(&index->priv->arena);
    g_free(index->priv);
    g_free(index);
}

enum err_code schema_build(struct db *db, const char *db_name, const char *path, const struct schema_options *options,
                           struct schema_index **out, struct err *err)
{
    struct err own = {0};
    int64_t start = clock_now_ns(), deadline = db_get_deadline(db);
    struct db_limits limits = db_get_limits(db);
    struct schema_options resolved = schema_options_resolve(options);
    struct schema_index *index = schema_index_new(&resolved);
    struct builder builder = {
        .db = db,
        .options = &resolved,
        .index = index,
        .arena = &index->priv->arena,
        .budget = {0, resolved.max_bytes - resolved.max_bytes / CATALOGUE_SHARE},
        .keys = g_array_new(FALSE, FALSE, sizeof(struct key)),
        .joins = g_array_new(FALSE, FALSE, sizeof(struct schema_join)),
        .notes = g_ptr_array_new(),
        .until_ns = start + (BUILD_MS + MIN(resolved.time_ms, INT64_MAX / 4000000)) * 1000000,
        .err = err ? err : &own,
    };
    db_set_deadline(db, 0);
    builder_set_limits(&builder, BUILD_MS, STORED_VALUE_BYTES);
    index->db_name = arena_strdup(builder.arena, db_name);
    enum err_code code = index->db_name ? build(&builder, path) : builder_full(&builder);
    db_set_deadline(db, deadline);
    db_set_limits(db, &limits);
    g_array_free(builder.keys, TRUE);
    g_array_free(builder.joins, TRUE);
    g_ptr_array_free(builder.notes, TRUE);
    index->bytes = index->priv->arena.used + index->priv->values.bytes;
    index->build_ns = clock_now_ns() - start;
    if (code) {
        free_index(index);
        index = NULL;
    }
    *out = index;
    return code;
}

struct schema_index *schema_ref(struct schema_index *index)
{
    atomic_fetch_add_explicit(&index->priv->references, 1, memory_order_relaxed);
    return index;
}

void schema_unref(struct schema_index *index)
{
    if (!index || atomic_fetch_sub_explicit(&index->priv->references, 1, memory_order_acq_rel) != 1) return;
    free_index(index);
}
