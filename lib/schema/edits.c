/* Creates edits of a query on its schema. Supplies lib/sql/mutate.h with columns, keys and values from the index. */
#include "lib/schema/edits.h"

enum { FEW_VALUES = 8 };

struct subject {
    const struct schema_index *index;
    const struct schema_edits_options *options;
};

static const char *sample_value(const void *self, struct arena *arena, int table, int column, uint64_t draw)
{
    const struct subject *subject = self;
    const struct schema_edits_options *options = subject->options;
    const struct schema_column *c = &subject->index->tables[table].columns[column];
    if (!c->stats.n_top) return NULL;
    if (schema_column_is_denied(subject->index, c, options->deny_columns, options->n_deny_columns)) return NULL;
    return db_quote_value(arena, &c->stats.top[draw % c->stats.n_top].value);
}

/* True if the column is part of a primary key or of a foreign key. */
static bool is_key(const struct schema_index *index, const struct schema_column *column)
{
    if (column->pk) return true;
    for (uint32_t i = 0; i < index->n_joins; i++)
        for (uint32_t k = 0; k < index->joins[i].n_pairs; k++)
            if (index->joins[i].from[k] == column->id || index->joins[i].to[k] == column->id) return true;
    return false;
}

static unsigned traits(const void *self, int table, int column)
{
    const struct schema_index *index = ((const struct subject *)self)->index;
    const struct schema_column *c = &index->tables[table].columns[column];
    const struct schema_stats *stats = &c->stats;
    uint64_t values = stats->ints + stats->reals + stats->texts;
    unsigned few = stats->distinct > 1 && stats->distinct <= FEW_VALUES ? SQL_TRAIT_FEW : 0;
    if (is_key(index, c)) return few | SQL_TRAIT_KEY;
    if (!values) return few;
    if (2 * stats->date_texts > values) return few | SQL_TRAIT_DATE;
    return few | (stats->texts > stats->numeric_texts ? SQL_TRAIT_TEXT : SQL_TRAIT_NUMBER);
}

/* Returns the declared foreign keys, one item for each column pair. Returns NULL if the arena is full. */
static struct sql_mutate_key *keys_of(struct arena *arena, const struct schema_index *index, uint32_t *n)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < index->n_joins; i++) room += index->joins[i].n_pairs;
    struct sql_mutate_key *keys = arena_new_array(arena, room + 1, struct sql_mutate_key);
    for (uint32_t i = 0; keys && i < index->n_joins; i++) {
        const struct schema_join *join = &index->joins[i];
        for (uint32_t k = 0; join->declared && k < join->n_pairs; k++) {
            const struct schema_column *from = index->columns[join->from[k]], *to = index->columns[join->to[k]];
            keys[(*n)++] = (struct sql_mutate_key){(int)from->table, (int)from->index, (int)to->table, (int)to->index};
        }
    }
    return keys;
}

int schema_edits(struct arena *arena, const struct schema_index *index, const struct schema_edits_options *options,
                 const char *sql, size_t len, struct sql_mutation **out, struct err *err)
{
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    enum err_code code = sql_parse(arena, sql, len, NULL, &stmt);
    if (code == ERR_OK) code = sql_bind(arena, stmt, &index->catalog, &bound);
    if (code != ERR_OK) {
        const struct sql_diag *diag = bound && bound->diags ? bound->diags : stmt ? stmt->diags : NULL;
        err_set(err, code, "%s", diag ? diag->message : err_meaning(code));
        return -1;
    }
    const struct subject subject = {index, options};
    struct sql_mutate_env env = {.catalog = &index->catalog,
                                 .self = &subject,
                                 .sample_value = options->values ? sample_value : NULL,
                                 .traits = traits};
    env.keys = keys_of(arena, index, &env.n_keys);
    int made = env.keys ? sql_mutate(arena, bound, &env, options->seed, options->n, out) : -1;
    if (made < 0) err_set(err, ERR_LIMIT_MEMORY, "the query is too large to mutate");
    return made;
}
