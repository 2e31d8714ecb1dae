/* Walks a log of queries. Databases stay open and schemas stay cached for the whole walk. */
#include "cli/replay/learning_log.h"

#include "cli/output/terminal.h"
#include "cli/settings/engine_settings.h"
#include "eval/label.h"
#include "lib/base/input.h"

struct log_walk {
    const struct learning_log *log;
    struct engine_config config;
    struct labeler *labeler; /* keeps the databases open */
    struct schema_cache *schemas;
    struct lines lines;
    bool failed;
};

static enum err_code read_line(struct log_walk *walk, const json_t *line, struct err *err)
{
    const char *path = NULL, *name = json_string_value(json_object_get(line, "db"));
    struct schema_index *index = NULL;
    if (!name) return err_set(err, ERR_MALFORMED, "the line lacks db");
    struct db *db = labeler_db(walk->labeler, name, &path, err);
    enum err_code code = db ? schema_cache_get(walk->schemas, db, name, path, &index, err) : err->code;
    if (code) return code;
    const char *lacks = walk->log->each(walk->log->ctx, name, index, line);
    schema_unref(index);
    return lacks ? err_set(err, ERR_MALFORMED, "%s", lacks) : ERR_OK;
}

static int walk_lines(struct log_walk *walk, const char *path)
{
    struct err err = {0};
    if (lines_open(path, &walk->lines, &err) != ERR_OK) return complain_err(path, &err);
    int more = 0;
    if (walk->lines.empty) complain_empty(path);
    while ((more = lines_next(&walk->lines)) > 0) {
        const struct lines *lines = &walk->lines;
        json_t *line = lines->too_long ? NULL : json_loadb(lines->text, lines->len, JSON_REJECT_DUPLICATES, NULL);
        enum err_code code = read_line(walk, line, &err);
        if (code) complain("%s:%llu: %s", lines->path, (unsigned long long)lines->number, err.text);
        walk->failed |= code != ERR_OK;
        json_decref(line);
    }
    if (more < 0) complain("%s: cannot be read: %s", path, lines_error(&walk->lines));
    lines_close(&walk->lines);
    return more < 0 ? EXIT_ERROR : walk->failed ? EXIT_JUDGED : 0;
}

int learning_log_walk(struct cli *cli, const char *path, const struct learning_log *log)
{
    struct log_walk walk = {.log = log};
    struct err err = {0};
    if (!engine_settings_has_databases(cli)) return EXIT_ERROR;
    engine_settings(cli, &walk.config);
    walk.schemas = engine_settings_schemas(cli, &walk.config, &err);
    if (!walk.schemas) return complain_err(NULL, &err);
    walk.labeler = labeler_new(&walk.config.databases);
    int code = walk_lines(&walk, path);
    schema_cache_free(walk.schemas);
    labeler_free(walk.labeler);
    return code;
}
