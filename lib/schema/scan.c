/* Reads each table in one pass, for the statistics of its columns and their values in the inverted index.
 *
 * A denied column is not read, so the index does not depend on its contents. The statement selects NULL in its place,
 * and its statistics are those of a schema without data. If the operator hides denied columns
 * (schema_options.deny_hides), the column is counted instead, and none of its values is stored.
 *
 * A database file is read completely. A table on a server is sampled if the server estimates more than max_rows rows.
 * The sample is deterministic and its counts are extrapolated. PostgreSQL samples whole pages, by TABLESAMPLE SYSTEM.
 * MariaDB has no TABLESAMPLE and selects rows by a number computed from each row.
 *
 * All tables share one time budget (schema_options.time_ms). Views are read last and together get a sixth of it. Half
 * of the time is reserved in equal parts, so slow tables leave time for the others. Each table may also use a fraction
 * of the unreserved time that is left. A table whose time ends is stored as a sample. A table that could not be read at
 * all is left out. A note reports both cases.
 */
#include "lib/base/clock.h"
#include "lib/db/db_listing.h"
#include "lib/schema/schema_int.h"

#include <math.h>

#include <string.h>

static const int64_t VIEW_MS = 1000; /* a view may run a query of any cost, and its values may have any size */
/* Divisors of times. One table may use 1 / TABLE_SHARE of the unreserved time that is left, and one view 1 /
 * VIEW_SHARE. All views together may use 1 / VIEWS_SHARE of the whole time. */
enum { TABLE_SHARE = 2, VIEW_SHARE = 4, VIEWS_SHARE = 6, CLOCK_ROWS = 16 };

struct table_scan {
    struct builder *builder;
    struct schema_table *table;
    struct tally *tallies; /* by position of the column */
    uint64_t estimate;     /* the server's estimate of the number of rows; 0 if all rows are read */
    int64_t until_ns;      /* time when reading stops and the rows read become a sample; 0 if there is no limit */
    bool cut, late;        /* reading stopped before the end; it stopped because time ran out */
};

static bool add_row(void *ctx, const struct db_value *row, uint32_t n)
{
    struct table_scan *scan = ctx;
    scan->table->rows++;
    for (uint32_t i = 0; i < n && i < scan->table->n_columns; i++) tally_add(&scan->tallies[i], &row[i]);
    /* Stop early if the estimate was much too low. */
    scan->cut = scan->estimate && scan->table->rows >= 2 * scan->builder->options->max_rows;
    if (scan->until_ns && scan->table->rows % CLOCK_ROWS == 0 && clock_now_ns() >= scan->until_ns)
        scan->cut = scan->late = true;
    return !scan->cut;
}

static bool is_sample(const struct table_scan *scan)
{
    return scan->cut || scan->estimate > scan->builder->options->max_rows;
}

static bool is_denied(const struct builder *builder, const struct schema_column *column)
{
    const struct schema_options *options = builder->options;
    return schema_column_is_denied(builder->index, column, options->deny_columns, options->n_deny_columns);
}

/* True if any statement that reads the table or view would evaluate a denied column. */
static bool is_unreadable(const struct builder *builder, const struct schema_table *table)
{
    const struct schema_options *options = builder->options;
    return !options->deny_hides &&
           schema_table_is_denied(builder->index, table, options->deny_columns, options->n_deny_columns);
}

/* Writes the statement SELECT "a", NULL, "c" ... It names the columns, so that hidden ones are left out and the order
 * is that of the index. */
static char *select_all(struct arena *arena, const struct table_scan *scan)
{
    const struct schema_table *table = scan->table;
    GString *sql = g_string_new("SELECT ");
    for (uint32_t i = 0; i < table->n_columns; i++) {
        const struct schema_column *column = &table->columns[i];
        bool skipped = !scan->builder->options->deny_hides && is_denied(scan->builder, column);
        const char *name = skipped ? "NULL" : db_quote_name(arena, column->name, strlen(column->name));
        g_string_append_printf(sql, "%s%s", i ? ", " : "", name ? name : "");
    }
    const char *name = schema_quote_table(arena, table);
    g_string_append_printf(sql, " FROM %s", name ? name : "");
    uint64_t most = scan->builder->options->max_rows;
    if (scan->estimate > most) {
        const struct db_listing_sql *sample = &db_dialect(scan->builder->db)->listing->sample;
        g_string_append_printf(sql, "%s%.6f%s", sample->before, 100 * (double)most / (double)scan->estimate,
                               sample->after);
    }
    char *text = arena->failed ? NULL : arena_strndup(arena, sql->str, sql->len);
    g_string_free(sql, TRUE);
    return text;
}

/* Completes a denied column. INVARIANT withheld: the index holds nothing about a denied column. If denied columns are
 * hidden, it holds their counts, marked as incomplete. */
static enum err_code withhold(struct table_scan *scan, struct schema_column *column, struct tally *tally)
{
    struct schema_stats *stats = &column->stats;
    stats->sampled = true;
    if (!scan->builder->options->deny_hides) return ERR_OK;
    if (!tally_stats(tally, scan->builder->arena, stats)) return builder_full(scan->builder);
    stats->min = stats->max = (struct db_value){0};
    stats->sum = 0;
    stats->top = NULL;
    stats->n_top = 0;
    stats->sampled = true;
    return ERR_OK;
}

static enum err_code keep(struct table_scan *scan, struct schema_column *column, struct tally *tally)
{
    struct builder *builder = scan->builder;
    if (is_denied(builder, column)) return withhold(scan, column, tally);
    if (!tally_stats(tally, builder->arena, &column->stats)) return builder_full(builder);
    const struct schema_stats *stats = &column->stats;
    /* Texts that the engine compares as equal may have been counted as two. */
    bool folded = column->folds && stats->texts;
    if (!column->unique && !stats->sampled && !folded && stats->rows > 0 && stats->distinct == stats->rows)
        column->unique = column->unique_measured = true;
    if (!scan->table->is_view) values_take(&builder->index->priv->values, column->id, tally);
    return ERR_OK;
}

/* True if the build continues after this error. A slow or failing view, or a table of a missing module, does not fail
 * the build. */
static bool is_tolerable(const struct schema_table *table, enum err_code code)
{
    if (code == ERR_ENGINE || code == ERR_REFUSED) return true;
    return table->is_view && code != ERR_NOMEM && code != ERR_CANCELLED && code != ERR_DB_LOCKED;
}

/* Extrapolates the counts from the rows that were read. */
static void extrapolate(struct table_scan *scan)
{
    struct schema_table *table = scan->table;
    uint64_t whole = MAX(scan->estimate, table->rows);
    double factor = table->rows ? (double)whole / (double)table->rows : 1;
    for (uint32_t i = 0; i < table->n_columns; i++) tally_sample(&scan->tallies[i], factor);
    table->rows = whole;
}

/* Marks the contents of a table as unknown, as opposed to empty. */
static void mark_unread(struct schema_table *table)
{
    table->rows = 0;
    for (uint32_t i = 0; i < table->n_columns; i++) table->columns[i].stats.sampled = true;
}

static const char *kind_of(const struct schema_table *table)
{
    return table->is_view ? "view" : "table";
}

static enum err_code leave_out(struct builder *builder, struct schema_table *table)
{
    builder_note(builder, "%s %s was left out: the time for reading rows was over (index-ms %lld)", kind_of(table),
                 table->name, (long long)builder->options->time_ms);
    mark_unread(table);
    return ERR_OK;
}

static enum err_code run_scan(struct table_scan *scan)
{
    struct builder *builder = scan->builder;
    struct schema_table *table = scan->table;
    const char *sql = select_all(builder->arena, scan);
    if (!sql) return builder_full(builder);
    enum err_code code = db_scan(builder->db, sql, add_row, scan, builder->err);
    table->scannable = code == ERR_OK;
    if (!code && scan->late)
        builder_note(builder, "%s %s was read in part, %llu rows: its share of the time was over (index-ms %lld)",
                     kind_of(table), table->name, (unsigned long long)table->rows,
                     (long long)builder->options->time_ms);
    if (!code && is_sample(scan)) extrapolate(scan);
    if (code == ERR_LIMIT_TIME && !table->is_view) return leave_out(builder, table);
    if (code && is_tolerable(table, code)) {
        /* Omit the engine's message if columns are denied, because it may quote a value. */
        builder_note(builder, "%s %s could not be read: %s", kind_of(table), table->name,
                     builder->options->n_deny_columns ? err_name(code) : builder->err->text);
        mark_unread(table);
        return ERR_OK;
    }
    for (uint32_t i = 0; !code && i < table->n_columns; i++) code = keep(scan, &table->columns[i], &scan->tallies[i]);
    return code;
}

static enum err_code withhold_table(struct builder *builder, struct schema_table *table)
{
    builder_note(builder, "%s %s was not read: its rows depend on a denied column", kind_of(table), table->name);
    mark_unread(table);
    return ERR_OK;
}

/* Sets the time limits of a scan. The clock is checked only when a row arrives. A statement that returns no rows is
 * therefore stopped by the engine, a little later. */
static void limit_scan(struct table_scan *scan, int64_t share_ms, uint64_t value_bytes)
{
    bool view = scan->table->is_view;
    if (!view) scan->until_ns = clock_now_ns() + share_ms * 1000000;
    builder_set_limits(scan->builder, view ? share_ms : share_ms + share_ms / 4, view ? 0 : value_bytes);
}

static enum err_code scan_table(struct builder *builder, struct schema_table *table, uint64_t seed, int64_t share_ms)
{
    if (!table->n_columns) return ERR_OK;
    if (is_unreadable(builder, table)) return withhold_table(builder, table);
    if (share_ms < 1) return leave_out(builder, table);
    struct table_scan scan = {builder, table, g_new0(struct tally, table->n_columns), 0, 0, false, false};
    if (db_dialect(builder->db)->listing->sample.before && !table->is_view) scan.estimate = MAX(table->rows, 1);
    table->rows = 0;
    for (uint32_t i = 0; i < table->n_columns; i++)
        tally_init(&scan.tallies[i], &builder->budget, builder->options, seed);
    struct db_limits usual = db_get_limits(builder->db);
    limit_scan(&scan, share_ms, usual.value_bytes);
    enum err_code code = run_scan(&scan);
    db_set_limits(builder->db, &usual);
    for (uint32_t i = 0; i < table->n_columns; i++) tally_free(&scan.tallies[i]);
    g_free(scan.tallies);
    return code;
}

static int64_t share_of(bool views, int64_t left_ms, int64_t reserved_ms, int64_t waiting)
{
    int64_t free_ms = MAX(left_ms - waiting * reserved_ms, 0);
    int64_t share_ms = reserved_ms + free_ms / (views ? VIEW_SHARE : TABLE_SHARE);
    if (views) share_ms = MIN(share_ms, VIEW_MS);
    return MIN(share_ms, left_ms);
}

/* Reads all tables, or all views, within whole_ms milliseconds. */
static enum err_code scan_each(struct builder *builder, bool views, uint64_t seed, int64_t whole_ms)
{
    struct schema_index *index = builder->index;
    int64_t until_ns = clock_now_ns() + whole_ms * 1000000, waiting = 0;
    for (uint32_t i = 0; i < index->n_tables; i++) waiting += index->tables[i].is_view == views;
    int64_t reserved_ms = waiting ? whole_ms / 2 / waiting : 0;
    enum err_code code = ERR_OK;
    for (uint32_t i = 0; !code && i < index->n_tables; i++) {
        struct schema_table *table = &index->tables[i];
        if (table->is_view != views) continue;
        int64_t left_ms = (until_ns - clock_now_ns()) / 1000000;
        code = scan_table(builder, table, seed, share_of(views, left_ms, reserved_ms, waiting--));
    }
    return code;
}

enum err_code schema_scan_tables(struct builder *builder)
{
    struct schema_index *index = builder->index;
    /* The seed is random for each build, so an attacker cannot prepare values whose hashes collide. */
    uint64_t seed = (uint64_t)g_random_int() << 32 | g_random_int();
    if (!values_init(&index->priv->values, index->n_columns, builder->options)) return builder_full(builder);
    for (uint32_t i = 0; index->no_data && i < index->n_tables; i++) mark_unread(&index->tables[i]);
    int64_t whole_ms = MIN(builder->options->time_ms, INT64_MAX / 4000000);
    int64_t views_ms = whole_ms / VIEWS_SHARE;
    enum err_code code = index->no_data ? ERR_OK : scan_each(builder, false, seed, whole_ms - views_ms);
    if (!code && !index->no_data) code = scan_each(builder, true, seed, views_ms);
    if (!code && !values_seal(&index->priv->values)) code = builder_full(builder);
    return code;
}
