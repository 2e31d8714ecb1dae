#include "lib/schema/deny_match.h"

#include "lib/db/db_listing.h"
#include "lib/schema/deny_name.h"
#include "lib/schema/schema_int.h"

#include <string.h>

struct matcher {
    struct deny_name *names; /* parsed entries that have not matched yet */
    uint32_t *entry;         /* for each name: the number of its entry */
    uint32_t n;
    bool *matched;
    const char *table; /* table of all rows; NULL if each row names its table */
};

static const char *text_of(const struct db_value *value)
{
    return value->type == DB_TEXT ? value->text : NULL;
}

static void match_column(struct matcher *m, const char *schema, const char *table, const char *column)
{
    for (uint32_t i = 0; i < m->n; i++) {
        if (!deny_name_covers(&m->names[i], schema, table, column)) continue;
        m->matched[m->entry[i]] = true;
        m->names[i] = m->names[--m->n];
        m->entry[i--] = m->entry[m->n];
    }
}

/* Matches a row of listing->all_columns: schema, table, column. Returns false if no entries remain. */
static bool take_column(void *ctx, const struct db_value *row, uint32_t n)
{
    struct matcher *m = ctx;
    if (n >= 3 && text_of(&row[1]) && text_of(&row[2]))
        match_column(m, text_of(&row[0]), text_of(&row[1]), text_of(&row[2]));
    return m->n > 0;
}

/* Matches the columns of each table, for an engine without a list of all columns. An unreadable table counts as a table
 * without columns.
 */
static enum err_code match_tables(struct builder *builder, struct matcher *m)
{
    const struct db_listing *listing = db_dialect(builder->db)->listing;
    GPtrArray *tables, *columns;
    enum err_code code = builder_list(builder, listing->tables, &tables);
    for (guint i = 0; !code && m->n && i < tables->len; i++) {
        const struct db_value *row = tables->pdata[i];
        const char *name = text_of(&row[0]);
        if (!name) continue;
        code = builder_list_of(builder, &listing->columns, db_quote_name(builder->arena, name, strlen(name)), &columns);
        for (guint k = 0; !code && k < columns->len; k++) {
            const char *column = text_of(&((const struct db_value *)columns->pdata[k])[1]);
            if (column) match_column(m, text_of(&row[5]), name, column);
        }
        if (code == ERR_ENGINE || code == ERR_REFUSED) code = ERR_OK;
        g_ptr_array_free(columns, TRUE);
    }
    g_ptr_array_free(tables, TRUE);
    return code;
}

static void collect_names(struct matcher *m, const char *const *entries, uint32_t n)
{
    m->names = g_new(struct deny_name, n);
    m->entry = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        if (!m->matched[i] && !deny_name_parse(entries[i], &m->names[m->n], NULL)) m->entry[m->n++] = i;
}

enum err_code deny_match(struct db *db, const char *const *entries, uint32_t n, bool *matched, struct err *err)
{
    struct err own = {0};
    struct arena arena;
    struct matcher m = {.matched = matched};
    const struct schema_options options = schema_options_resolve(NULL);
    struct builder builder = {.db = db, .options = &options, .arena = &arena, .err = err ? err : &own};
    const char *all = db_dialect(db)->listing->all_columns;
    arena_init(&arena, 0);
    collect_names(&m, entries, n);
    enum err_code code = !m.n  ? ERR_OK
                         : all ? db_scan(db, all, take_column, &m, builder.err)
                               : match_tables(&builder, &m);
    g_free(m.names);
    g_free(m.entry);
    arena_free(&arena);
    return code;
}
