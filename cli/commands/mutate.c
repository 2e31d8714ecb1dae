/* assay mutate: makes mutants of correct SQL, each with one error. */
#include "cli/output/format.h"
#include "cli/output/terminal.h"
#include "cli/settings/catalogue.h"
#include "cli/settings/engine_settings.h"
#include "eval/label.h"
#include "lib/base/input.h"
#include "lib/schema/edits.h"

#include <string.h>

static json_t *mutation_json(const struct sql_mutation *mutation)
{
    char *generator = g_strdup_printf("mutate/%s", sql_mutator_name(mutation->op));
    json_t *json = json_pack("{s:o,s:[s]}", "sql", format_text(mutation->sql), "generators", generator);
    g_free(generator);
    return json;
}

/* --- one query -------------------------------------------------------------------------------------------------- */

static void print_mutation(const struct sql_mutation *mutation, enum format format)
{
    if (format == FORMAT_TEXT) {
        printf("%-20s ", sql_mutator_name(mutation->op));
        print_safe(stdout, mutation->sql, strlen(mutation->sql), false);
        putchar('\n');
        return;
    }
    json_t *json = json_pack("{s:s,s:s,s:o,s:i,s:i}", "op", sql_mutator_name(mutation->op), "meaning",
                             sql_mutator_meaning(mutation->op), "sql", format_text(mutation->sql), "start",
                             (int)mutation->start, "end", (int)mutation->end);
    format_json(json, format, stdout);
    json_decref(json);
}

static int mutate_query(struct cli *cli, enum format format)
{
    const char *sql = cli->args[0];
    struct worker_database database;
    struct err err = {0};
    struct db *db = NULL;
    struct schema_index *index = NULL;
    if (catalogue_pick(cli, cli->settings.mutate.db, &database, &err)) return complain_err(NULL, &err);
    const struct schema_options options = engine_settings_schema_options(cli, &database);
    enum err_code code = db_open(database.path, &database.limits, &db, &err);
    if (code == ERR_OK) code = schema_build(db, database.name, database.path, &options, &index, &err);
    if (code != ERR_OK) {
        char *shown = db_path_shown(database.path);
        complain_err(shown, &err);
        g_free(shown);
        if (db) db_close(db);
        return EXIT_ERROR;
    }
    struct arena arena;
    struct sql_mutation *mutants = NULL;
    arena_init(&arena, 0);
    const struct schema_edits_options edits = {.values = database.expose != MSG_EXPOSE_NONE,
                                               .seed = (uint64_t)cli->settings.mutate.seed,
                                               .n = (uint32_t)cli->settings.mutate.n};
    int n = schema_edits(&arena, index, &edits, sql, strlen(sql), &mutants, &err);
    for (int i = 0; i < n; i++) print_mutation(&mutants[i], format);
    int status = n < 0 ? complain_err("the SQL", &err) : 0;
    arena_free(&arena);
    schema_unref(index);
    db_close(db);
    return status;
}

/* --- a log ------------------------------------------------------------------------------------------------------ */

struct mutating {
    struct cli *cli;
    struct engine_config config;
    struct labeler *labeler; /* keeps the databases open */
    struct schema_cache *schemas;
    struct lines lines;
    bool failed;
};

static json_t *mutants_json(struct mutating *m, const char *db_name, const char *id, const char *gold, struct err *err)
{
    const char *path = NULL;
    struct schema_index *index = NULL;
    struct db *db = labeler_db(m->labeler, db_name, &path, err);
    if (!db || schema_cache_get(m->schemas, db, db_name, path, &index, err) != ERR_OK) return NULL;
    struct arena arena;
    struct sql_mutation *mutants = NULL;
    arena_init(&arena, 0);
    const struct schema_edits_options options = {
        .values = worker_expose(&m->config.databases, db_name, m->config.defaults.expose) != MSG_EXPOSE_NONE,
        .seed = (uint64_t)m->cli->settings.mutate.seed ^ g_str_hash(id),
        .n = (uint32_t)m->cli->settings.mutate.n};
    int n = schema_edits(&arena, index, &options, gold, strlen(gold), &mutants, err);
    json_t *list = n < 0 ? NULL : json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, mutation_json(&mutants[i]));
    arena_free(&arena);
    schema_unref(index);
    return list;
}

/* Writes the line again, with mutants of its gold query as candidates. */
static void mutate_line(struct mutating *m)
{
    struct err err = {0};
    json_t *line = m->lines.too_long ? NULL : json_loadb(m->lines.text, m->lines.len, JSON_REJECT_DUPLICATES, NULL);
    const char *db = json_string_value(json_object_get(line, "db")),
               *gold = json_string_value(json_object_get(line, "gold"));
    const char *id = json_string_value(json_object_get(line, "id"));
    if (!db || !gold) err_set(&err, ERR_MALFORMED, "the line lacks db or gold");
    json_t *candidates = db && gold ? mutants_json(m, db, id ? id : gold, gold, &err) : NULL;
    if (candidates) {
        json_object_set_new(line, "candidates", candidates);
        format_json(line, FORMAT_JSONL, stdout);
    } else {
        complain("%s:%llu: %s", m->lines.path, (unsigned long long)m->lines.number, err.text);
        m->failed = true;
    }
    json_decref(line);
}

static int mutate_log(struct mutating *m, const char *path)
{
    struct err err = {0};
    if (lines_open(path, &m->lines, &err) != ERR_OK) return complain_err(path, &err);
    int more = 0;
    if (m->lines.empty) complain_empty(path);
    while (!ferror(stdout) && (more = lines_next(&m->lines)) > 0) mutate_line(m);
    if (more < 0) complain("%s: cannot be read: %s", path, lines_error(&m->lines));
    lines_close(&m->lines);
    return more < 0 ? EXIT_ERROR : m->failed ? EXIT_JUDGED : 0;
}

static int mutate_run(struct cli *cli)
{
    enum format format;
    if (!format_choose(cli, 1U << FORMAT_TEXT | 1U << FORMAT_JSONL, &format)) return EXIT_ERROR;
    if (cli->settings.mutate.db) return mutate_query(cli, format);
    if (!engine_settings_has_databases(cli)) return EXIT_ERROR;
    struct mutating m = {.cli = cli};
    struct err err = {0};
    engine_settings(cli, &m.config);
    m.schemas = engine_settings_schemas(cli, &m.config, &err);
    if (!m.schemas) return complain_err(NULL, &err);
    m.labeler = labeler_new(&m.config.databases);
    int code = mutate_log(&m, cli->args[0]);
    schema_cache_free(m.schemas);
    labeler_free(m.labeler);
    return code;
}

const struct command command_mutate = {
    .name = "mutate",
    .guide = "models.md",
    .sentence = "make wrong SQL from correct SQL, one error at a time",
    .args = "LOG --db-root DIR | --db DB SQL",
    .description =
        "Makes mutants: copies of a correct query with one seeded error each. The errors are those that models "
        "typically make, and each mutant is named after its error.\n\n"
        "With --db, the command prints mutants of one query. DB is a file, a connection string, or the name of an "
        "entry in the configuration's section `databases`.\n\n"
        "With a log, it prints the lines of the log with mutants of the reference (gold) query as candidates. The "
        "result is a log for `assay eval` and `assay train`. Mutants contain no values of the data that may not be "
        "exposed (--expose, --deny-column, and the entry of the database). The same seed gives the same mutants. A "
        "mutant may have the same result as the original query. Only running both queries shows that.",
    .examples = "assay mutate --db shop.sqlite 'SELECT name FROM customer WHERE country = \"France\"'\n"
                "assay mutate train.jsonl --db-root databases --count 4 --seed 7 > mutants.jsonl",
    .main_flags = "db-root db count seed format",
    .groups = (const struct option_group *const[]){&options_mutate, &options_output, &options_judge, &options_database,
                                                   &options_schema, &options_general, NULL},
    .min_args = 1,
    .max_args = 1,
    .run = mutate_run,
};
