/* assay link export: writes the input of a schema linker from query logs. */
#include "cli/commands/link.h"

#include "cli/output/destination.h"
#include "cli/output/terminal.h"
#include "cli/output/unreached.h"
#include "cli/settings/catalogue.h"
#include "cli/settings/engine_settings.h"
#include "eval/label.h"
#include "lib/base/input.h"
#include "train/linking_export.h"

#include <string.h>

enum { LINE_BYTES = 256 << 20, SAID = 20 };

struct exporting {
    struct engine_config config;
    struct logs logs;
    struct labeler *labeler; /* keeps the databases open */
    struct schema_cache *schemas;
    struct destination to; /* --out */
    uint64_t skipped;
};

static json_t *make_line(struct exporting *e, struct arena *arena, const struct msg_request *request, struct err *err)
{
    const char *path = NULL;
    struct schema_index *schema = NULL;
    struct db *db = labeler_db(e->labeler, request->db, &path, err);
    if (!db || schema_cache_get(e->schemas, db, request->db, path, &schema, err) != ERR_OK) return NULL;
    const struct linking_export from = {
        .arena = arena,
        .schema = schema,
        .question = question_read(arena, schema, request->question ? request->question : "", request->evidence),
        .id = request->id,
        .db = request->db,
        .gold = request->gold};
    json_t *line = from.question ? linking_export_line(&from, err) : NULL;
    if (!from.question) err_set(err, ERR_LIMIT_MEMORY, "out of memory while reading the question");
    schema_unref(schema);
    return line;
}

static bool export_line(struct exporting *e, struct arena *arena)
{
    struct err err = {0};
    struct msg_request *request = NULL;
    const struct lines *at = &e->logs.lines;
    if (at->too_long) err_set(&err, ERR_LIMIT_BYTES, "the line is too long");
    json_t *line = !at->too_long && msg_request_from_json(arena, at->text, at->len, &request, &err) == ERR_OK
                       ? make_line(e, arena, request, &err)
                       : NULL;
    if (!line) {
        if (e->skipped++ < SAID) complain("%s:%llu: skipped: %s", at->path, (unsigned long long)at->number, err.text);
        return true;
    }
    bool written =
        json_dumpf(line, e->to.stream, JSON_COMPACT | JSON_REAL_PRECISION(3)) == 0 && fputc('\n', e->to.stream) != EOF;
    json_decref(line);
    return written;
}

static int export_logs(struct cli *cli, struct exporting *e)
{
    struct arena arena;
    struct err err = {0};
    uint64_t limit = (uint64_t)cli->settings.log.limit, read = 0;
    int more = 0;
    bool written = true;
    arena_init(&arena, LINE_BYTES);
    while (written && (!limit || read++ < limit) && (more = logs_next(&e->logs, &err)) > 0) {
        arena_reset(&arena);
        written = export_line(e, &arena);
    }
    arena_free(&arena);
    logs_rewind(&e->logs);
    if (more < 0) return complain_err(NULL, &err);
    if (e->skipped) complain("%llu lines skipped", (unsigned long long)e->skipped);
    return written ? 0 : EXIT_ERROR;
}

static int with_databases(struct cli *cli, struct exporting *e)
{
    struct err err = {0};
    engine_settings(cli, &e->config);
    e->schemas = engine_settings_schemas(cli, &e->config, &err);
    if (!e->schemas) return complain_err(NULL, &err);
    e->labeler = labeler_new(&e->config.databases);
    int code = report_unreached(e->labeler, export_logs(cli, e));
    schema_cache_free(e->schemas);
    labeler_free(e->labeler);
    return code;
}

int link_export(struct cli *cli)
{
    struct err err = {0};
    const char *path = cli->settings.link.out;
    struct exporting e = {.logs = {.paths = cli->args + 1, .n = cli->n_args - 1, .on_empty = complain_empty}};
    if (catalogue_open(cli, &err) != ERR_OK) return complain_err(NULL, &err);
    if (!engine_settings_has_databases(cli)) return EXIT_ERROR;
    if (!path) {
        complain("--out is required" ERR_HINT "set --out=FILE, or --out=- for standard output");
        return EXIT_ERROR;
    }
    if (strcmp(path, "-") == 0) path = NULL;
    if (destination_open(&e.to, path, false, &err) != ERR_OK) return complain_err(NULL, &err);
    return destination_close(&e.to, with_databases(cli, &e));
}
