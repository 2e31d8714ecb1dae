/* assay index: builds the schema index of a database and prints it. It also finds keys that a database does not
 * declare. */
#include "cli/cli.h"
#include "cli/output/format.h"
#include "cli/output/table.h"
#include "cli/output/terminal.h"
#include "cli/replay/learning_log.h"
#include "cli/settings/catalogue.h"
#include "cli/settings/engine_settings.h"
#include "lib/schema/dbt.h"
#include "lib/schema/schema.h"
#include "train/joined_keys.h"

#include <stdio.h>
#include <string.h>

static char *value_text(const struct db_value *value)
{
    switch (value->type) {
    case DB_INT: return g_strdup_printf("%lld", (long long)value->i);
    case DB_FLOAT: return g_strdup_printf("%g", value->f);
    case DB_TEXT: return g_utf8_make_valid(value->text, (gssize)(value->len < 40 ? value->len : 40));
    case DB_BLOB: return g_strdup_printf("blob of %zu bytes", value->len);
    default: return g_strdup("");
    }
}

/* An index, and the policy that decides what may be shown of it. */
struct view {
    const struct schema_index *index;
    const struct worker_database *policy;
};

/* True if --expose, --deny-column and the catalogue's entry allow values of this column to be shown. */
static bool may_show(const struct view *view, const struct schema_column *column)
{
    const struct worker_database *policy = view->policy;
    bool denied = schema_column_is_denied(view->index, column, policy->deny_columns, policy->n_deny_columns);
    return policy->expose != MSG_EXPOSE_NONE && !denied && view->index->tables[column->table].scannable;
}

static char *key_text(const struct schema_column *column)
{
    if (column->pk) return g_strdup_printf("primary %u", column->pk);
    return g_strdup(column->unique ? column->unique_measured ? "unique (measured)" : "unique" : "");
}

static void column_row(const struct view *view, struct table *out, const struct schema_table *table,
                       const struct schema_column *column)
{
    bool show = may_show(view, column);
    char *min = show ? value_text(&column->stats.min) : g_strdup(""), *key = key_text(column);
    char *max = show ? value_text(&column->stats.max) : g_strdup("");
    table_row(out);
    table_cell(out, 0, "%s", table->name);
    table_cell(out, 1, "%s", column->name);
    table_cell(out, 2, "%s", column->type);
    table_cell(out, 3, "%s", key);
    table_cell(out, 4, "%llu", (unsigned long long)column->stats.rows);
    table_cell(out, 5, "%llu%s", (unsigned long long)column->stats.distinct, column->stats.sampled ? "~" : "");
    table_cell(out, 6, "%llu", (unsigned long long)column->stats.nulls);
    table_cell(out, 7, "%s", min);
    table_cell(out, 8, "%s", max);
    table_cell(out, 9, "%s", column->description ? column->description : "");
    g_free(min);
    g_free(max);
    g_free(key);
}

static struct table *columns_table(const struct view *view)
{
    const struct schema_index *index = view->index;
    static const struct table_column columns[] = {{"table"},
                                                  {"column"},
                                                  {"type"},
                                                  {"key"},
                                                  {"rows", .right = true},
                                                  {"distinct", .right = true},
                                                  {"nulls", .right = true},
                                                  {"min", .wrap = true},
                                                  {"max", .wrap = true},
                                                  {"description", .wrap = true},
                                                  {NULL}};
    struct table *table = table_new(columns);
    for (uint32_t t = 0; t < index->n_tables; t++)
        for (uint32_t c = 0; c < index->tables[t].n_columns; c++)
            column_row(view, table, &index->tables[t], &index->tables[t].columns[c]);
    return table;
}

static char *join_side(const struct schema_index *index, const uint32_t *ids, uint32_t n)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < n; i++) {
        const struct schema_column *column = index->columns[ids[i]];
        g_string_append_printf(text, "%s%s.%s", i ? ", " : "", index->tables[column->table].name, column->name);
    }
    return g_string_free(text, FALSE);
}

static struct table *joins_table(const struct schema_index *index)
{
    static const struct table_column columns[] = {{"from"}, {"to"}, {"known by"}, {"inclusion", .right = true}, {NULL}};
    struct table *table = table_new(columns);
    for (uint32_t i = 0; i < index->n_joins; i++) {
        const struct schema_join *join = &index->joins[i];
        char *from = join_side(index, join->from, join->n_pairs), *to = join_side(index, join->to, join->n_pairs);
        table_row(table);
        table_cell(table, 0, "%s", from);
        table_cell(table, 1, "%s", to);
        table_cell(table, 2, "%s", join->declared ? "declared" : "inferred");
        table_cell(table, 3, "%.3f", join->inclusion);
        g_free(from);
        g_free(to);
    }
    return table;
}

static json_t *value_json(const struct db_value *value, bool show)
{
    if (!show || value->type == DB_NULL) return json_null();
    if (value->type == DB_INT) return json_integer(value->i);
    if (value->type == DB_FLOAT) return json_real(value->f);
    char *text = value_text(value);
    json_t *json = json_string(text);
    g_free(text);
    return json;
}

static json_t *column_json(const struct view *view, const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    bool show = may_show(view, column);
    json_t *top = json_array();
    for (uint32_t i = 0; show && i < stats->n_top; i++)
        json_array_append_new(top, json_pack("{s:o,s:I}", "value", value_json(&stats->top[i].value, true), "count",
                                             (json_int_t)stats->top[i].count));
    return json_pack("{s:o,s:o,s:i,s:b,s:b,s:b,s:I,s:I,s:I,s:b,s:o,s:o,s:o,s:o}", "name", format_text(column->name),
                     "type", format_text(column->type), "pk", (int)column->pk, "not_null", column->not_null, "unique",
                     column->unique, "unique_measured", column->unique_measured, "rows", (json_int_t)stats->rows,
                     "nulls", (json_int_t)stats->nulls, "distinct", (json_int_t)stats->distinct, "sampled",
                     stats->sampled, "min", value_json(&stats->min, show), "max", value_json(&stats->max, show), "top",
                     top, "description", format_text(column->description));
}

static json_t *index_json(const struct view *view)
{
    const struct schema_index *index = view->index;
    json_t *tables = json_array(), *joins = json_array();
    for (uint32_t t = 0; t < index->n_tables; t++) {
        const struct schema_table *table = &index->tables[t];
        json_t *columns = json_array();
        for (uint32_t c = 0; c < table->n_columns; c++)
            json_array_append_new(columns, column_json(view, &table->columns[c]));
        json_array_append_new(tables, json_pack("{s:o,s:I,s:b,s:b,s:o}", "name", format_text(table->name), "rows",
                                                (json_int_t)table->rows, "view", table->is_view, "scannable",
                                                table->scannable, "columns", columns));
    }
    for (uint32_t i = 0; i < index->n_joins; i++) {
        const struct schema_join *join = &index->joins[i];
        char *from = join_side(index, join->from, join->n_pairs), *to = join_side(index, join->to, join->n_pairs);
        json_array_append_new(joins, json_pack("{s:o,s:o,s:b,s:f}", "from", format_text(from), "to", format_text(to),
                                               "declared", join->declared, "inclusion", join->inclusion));
        g_free(from);
        g_free(to);
    }
    json_t *notes = json_array();
    for (uint32_t i = 0; i < index->n_notes; i++) json_array_append_new(notes, format_text(index->notes[i]));
    return json_pack("{s:i,s:o,s:s,s:I,s:f,s:o,s:o,s:o}", "schema_version", 1, "db", format_text(index->db_name),
                     "fingerprint", index->fingerprint, "bytes", (json_int_t)index->bytes, "build_ms",
                     (double)index->build_ns / 1e6, "tables", tables, "joins", joins, "notes", notes);
}

static void print_summary(const struct schema_index *index)
{
    uint32_t sampled = 0;
    for (uint32_t i = 0; i < index->n_columns; i++) sampled += index->columns[i]->stats.sampled;
    printf("%s: %u tables, %u columns (%u sampled), %u joins, fingerprint %s, %.1f MB, built in %.1f ms\n",
           index->db_name, index->n_tables, index->n_columns, sampled, index->n_joins, index->fingerprint,
           (double)index->bytes / 1e6, (double)index->build_ns / 1e6);
}

static void print_notes(const struct schema_index *index)
{
    for (uint32_t i = 0; i < index->n_notes; i++) {
        fputs(i ? "" : "\nnotes\n", stdout);
        fputs("  ", stdout);
        print_safe(stdout, index->notes[i], strlen(index->notes[i]), false);
        putchar('\n');
    }
}

static void show_text(const struct view *view)
{
    struct table *columns = columns_table(view), *joins = joins_table(view->index);
    print_summary(view->index);
    putchar('\n');
    table_print(columns, stdout);
    putchar('\n');
    table_print(joins, stdout);
    table_free(columns);
    table_free(joins);
    print_notes(view->index);
}

static void show(const struct view *view, enum format format)
{
    if (format == FORMAT_TEXT) {
        show_text(view);
    } else if (format == FORMAT_CSV) {
        struct table *columns = columns_table(view);
        table_print_csv(columns, stdout);
        table_free(columns);
    } else {
        json_t *json = index_json(view);
        format_json(json, format, stdout);
        json_decref(json);
    }
}

static int run_index(struct cli *cli, bool build)
{
    enum format format;
    if (!format_choose(cli, FORMATS_TABLE, &format)) return EXIT_ERROR;
    struct err err = {0};
    struct db *db = NULL;
    struct worker_database database;
    if (catalogue_pick(cli, cli->args[1], &database, &err)) return complain_err(NULL, &err);
    char *base = db_path_name(database.path), *shown = db_path_shown(database.path);
    struct schema_options options = engine_settings_schema_options(cli, &database);
    struct schema_index *index = NULL;
    int code = 0;
    if (db_open(database.path, NULL, &db, &err) != ERR_OK ||
        schema_build(db, base, database.path, &options, &index, &err) != ERR_OK)
        code = complain_err(shown, &err);
    else if (build) {
        print_summary(index);
        print_notes(index);
    } else
        show(&(struct view){index, &database}, format);
    if (index) schema_unref(index);
    g_free(base);
    g_free(shown);
    db_close(db);
    return code;
}

static int run_build(struct cli *cli)
{
    return run_index(cli, true);
}

static int run_show(struct cli *cli)
{
    return run_index(cli, false);
}

/* --- keys that the database does not declare ---------------------------------------------------------------------- */

static const char *learn_line(void *ctx, const char *db, const struct schema_index *schema, const json_t *line)
{
    const char *sql = json_string_value(json_object_get(line, "sql"));
    if (!sql) sql = json_string_value(json_object_get(line, "gold"));
    if (!sql) return "the line lacks db, or sql or gold";
    return joined_keys_add(ctx, db, schema, sql) ? NULL : "the query does not parse or names an unknown column";
}

static int run_learn(struct cli *cli)
{
    struct joined_keys *learn = joined_keys_new();
    int code = learning_log_walk(cli, cli->args[1], &(struct learning_log){learn_line, learn});
    bool any = code != EXIT_ERROR && joined_keys_print(learn, stdout);
    if (code != EXIT_ERROR && !any) complain("no undeclared reference is joined on by three queries");
    joined_keys_free(learn);
    return code;
}

static int run_import(struct cli *cli)
{
    struct err err = {0};
    unsigned n = 0;
    if (schema_dbt_keys(cli->args[1], stdout, &n, &err)) return complain_err(NULL, &err);
    if (!n) complain("%s states no key: no test `relationships` or `unique`, and no constraint", cli->args[1]);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(struct cli *cli);
} ACTIONS[] = {{"build", run_build}, {"show", run_show}, {"learn", run_learn}, {"import", run_import}};

static int index_run(struct cli *cli)
{
    for (size_t i = 0; i < G_N_ELEMENTS(ACTIONS); i++)
        if (strcmp(cli->args[0], ACTIONS[i].name) == 0) return ACTIONS[i].run(cli);
    complain("unknown index action '%s', expected build, show, learn or import", cli->args[0]);
    return EXIT_ERROR;
}

const struct command command_index = {
    .name = "index",
    .guide = "schema-cache.md",
    .sentence = "build or show the schema index of a database, or find keys that it does not declare",
    .args = "build|show DB\nlearn LOG --db-root DIR\nimport MANIFEST",
    .description =
        "Builds or shows the schema index of a database, which the signals read. The index has tables, columns, keys, "
        "declared and inferred joins, statistics and values. DB is a file, a connection string, or the name of an "
        "entry in the configuration's section `databases`. Such an entry also limits what is shown.\n\n"
        "build prints one line with the size and the time, and notes. show prints the whole index. The mark ~ at a "
        "column means that the index does not hold all values of the column. Either the column has more distinct "
        "values than --index-values and was sampled, or it was not read within --index-ms. A note tells which.\n\n"
        "learn reads a log of queries: one JSON object a line, with db and sql (or gold). It prints the references "
        "that at least three queries join on and that the database does not declare.\n\n"
        "import reads the manifest.json of a dbt project. It prints the keys that its tests and constraints state.\n\n"
        "Both print the section `keys` of words.yaml. Review the keys. Save them beside the database, or in its "
        "directory of descriptions.",
    .examples = "assay index show shop.sqlite\nassay index show shop.sqlite --format json\n"
                "assay index learn queries.jsonl --db-root databases\nassay index import target/manifest.json",
    .main_flags = "format expose deny-column descriptions db-root",
    .words = "build show learn import",
    .groups = (const struct option_group *const[]){&options_output, &options_schema, &options_judge, &options_database,
                                                   &options_general, NULL},
    .min_args = 2,
    .max_args = 2,
    .run = index_run,
};
