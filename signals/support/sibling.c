#include "signals/support/sibling.h"

#include "signals/support/probe.h"

#include <string.h>

enum { MAX_ROWS = 200000 };

/* Returns the only single-column join between two tables, or NULL. */
static const struct schema_join *edge_between(const struct schema_index *schema, uint32_t a, uint32_t b)
{
    const struct schema_join *found = NULL;
    for (uint32_t i = 0; i < schema->n_joins; i++) {
        const struct schema_join *join = &schema->joins[i];
        bool meets = (join->from_table == a && join->to_table == b) || (join->from_table == b && join->to_table == a);
        if (!meets) continue;
        if (found || join->n_pairs != 1) return NULL;
        found = join;
    }
    return found;
}

/* Returns "table"."column", or NULL if the arena is full. */
static const char *full_name(struct vsig_subject *subject, const struct schema_column *column)
{
    const char *table = schema_quote_table(subject->arena, &subject->schema->tables[column->table]);
    const char *name = db_quote_name(subject->arena, column->name, strlen(column->name));
    return table && name ? arena_printf(subject->arena, "%s.%s", table, name) : NULL;
}

/* Returns a FROM clause whose rows have both columns. Returns NULL if there is none, or a table is too large. */
static const char *from_of(struct vsig_subject *subject, const struct schema_column *a, const struct schema_column *b)
{
    const struct schema_index *schema = subject->schema;
    const struct schema_table *left = &schema->tables[a->table], *right = &schema->tables[b->table];
    if (left->rows > MAX_ROWS || right->rows > MAX_ROWS) return NULL;
    const char *from = schema_quote_table(subject->arena, left);
    if (a->table == b->table || !from) return from;
    const struct schema_join *join = edge_between(schema, a->table, b->table);
    const char *other = join ? schema_quote_table(subject->arena, right) : NULL;
    const char *x = join ? full_name(subject, schema->columns[join->from[0]]) : NULL;
    const char *y = join ? full_name(subject, schema->columns[join->to[0]]) : NULL;
    return other && x && y ? arena_printf(subject->arena, "%s JOIN %s ON %s = %s", from, other, x, y) : NULL;
}

static enum err_code ask(struct vsig_subject *subject, const char *sql, const struct db_value *params, uint32_t n,
                         uint32_t stop, struct db_result *out)
{
    struct db_limits limits = db_get_limits(subject->db), bounded = limits;
    if (bounded.time_ms > VSIG_PROBE_MS) bounded.time_ms = VSIG_PROBE_MS;
    db_set_limits(subject->db, &bounded);
    enum err_code code = db_query(subject->db, subject->arena, sql, strlen(sql), params, n, stop, out, NULL);
    db_set_limits(subject->db, &limits);
    return code;
}

static struct db_value text_value(const char *text, size_t len)
{
    return (struct db_value){.type = DB_TEXT, .text = text, .len = (uint32_t)len};
}

int vsig_stand_together(struct vsig_subject *subject, const struct schema_column *a, const char *a_text, size_t a_len,
                        const struct schema_column *b, const char *b_text)
{
    const char *from = subject->db && a != b ? from_of(subject, a, b) : NULL;
    const char *x = from ? full_name(subject, a) : NULL, *y = from ? full_name(subject, b) : NULL;
    if (!x || !y) return -1;
    const struct db_dialect *d = db_dialect(subject->db);
    const char *sql =
        arena_printf(subject->arena, "SELECT 1 FROM %s WHERE CAST(%s AS %s) = %c1 AND CAST(%s AS %s) = %c2 LIMIT 1",
                     from, x, d->text_type, d->parameter, y, d->text_type, d->parameter);
    const struct db_value params[] = {text_value(a_text, a_len), text_value(b_text, strlen(b_text))};
    struct db_result result;
    if (!sql || ask(subject, sql, params, 2, 1, &result) != ERR_OK) return -1;
    return result.n_rows > 0;
}

const char *vsig_sibling_of(struct vsig_subject *subject, const struct schema_column *a, const struct schema_column *b,
                            const char *b_text)
{
    const char *from = subject->db && a != b ? from_of(subject, a, b) : NULL;
    const char *x = from ? full_name(subject, a) : NULL, *y = from ? full_name(subject, b) : NULL;
    if (!x || !y) return NULL;
    const struct db_dialect *d = db_dialect(subject->db);
    const char *sql =
        arena_printf(subject->arena, "SELECT DISTINCT CAST(%s AS %s) FROM %s WHERE CAST(%s AS %s) = %c1 LIMIT 2", x,
                     d->text_type, from, y, d->text_type, d->parameter);
    const struct db_value param = text_value(b_text, strlen(b_text));
    struct db_result result;
    if (!sql || ask(subject, sql, &param, 1, 2, &result) != ERR_OK || result.n_rows != 1) return NULL;
    return result.values[0].type == DB_TEXT ? result.values[0].text : NULL;
}
