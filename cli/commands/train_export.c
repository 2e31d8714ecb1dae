/* assay train export: writes the input of the learned detector, from logs with candidates or with mutants of gold. */
#include "cli/commands/train_verifier.h"

#include "cli/output/destination.h"
#include "cli/output/terminal.h"
#include "cli/output/unreached.h"
#include "cli/settings/catalogue.h"
#include "cli/settings/engine_settings.h"
#include "lib/base/input.h"
#include "lib/learn/metrics.h"
#include "train/detector_export.h"
#include "lib/schema/edits.h"

#include <math.h>
#include <string.h>

enum { LINE_BYTES = 256 << 20, SAID = 20 };

struct export
{
    struct cli *cli;
    struct engine_config config;
    struct logs logs;
    struct labeler *labeler;
    struct schema_cache *schemas; /* NULL if there are no databases */
    struct destination to;        /* --out */
    uint64_t skipped;
};

/* One line of a log. */
struct item {
    struct arena *arena;
    struct msg_request *request;
    struct schema_index *schema;
    struct labels labels;
    bool made;
};

static void skip(struct export *e, const char *why)
{
    if (e->skipped++ < SAID)
        complain("%s:%llu: skipped: %s", e->logs.lines.path, (unsigned long long)e->logs.lines.number, why);
}

static bool open_schema(struct export *e, struct item *item, struct err *err)
{
    const char *path = NULL, *name = item->request->db;
    struct db *db = labeler_db(e->labeler, name, &path, err);
    if (!db) return false;
    const struct db_limits limits = labeler_limits(e->labeler, name, &e->config.limits);
    db_set_limits(db, &limits);
    return schema_cache_get(e->schemas, db, name, path, &item->schema, err) == ERR_OK;
}

/* Makes candidates from the gold query and its mutants. The gold query has a random position, so that a model cannot
 * learn from the order. */
static bool make_candidates(const struct export *e, struct item *item, struct err *err)
{
    struct msg_request *request = item->request;
    const char *gold = request->gold;
    const struct settings *s = &e->cli->settings;
    uint64_t seed = (uint64_t)s->train.seed ^ g_str_hash(request->id ? request->id : gold);
    struct sql_mutation *mutants = NULL;
    const struct schema_edits_options options = {
        .values = worker_expose(&e->config.databases, request->db, e->config.defaults.expose) != MSG_EXPOSE_NONE,
        .seed = seed,
        .n = (uint32_t)s->train.mutants};
    int n = schema_edits(item->arena, item->schema, &options, gold, strlen(gold), &mutants, err);
    struct msg_candidate *candidates = n < 0 ? NULL : arena_new_array(item->arena, (size_t)n + 1, struct msg_candidate);
    if (!candidates) return false;
    int place = (int)(learn_random(&seed) % ((uint64_t)n + 1));
    for (int i = 0; i <= n; i++) {
        const char *sql = i == place ? gold : mutants[i < place ? i : i - 1].sql;
        candidates[i] = (struct msg_candidate){.sql = {sql, (uint32_t)strlen(sql)}, .count = 1, .score = (double)NAN};
    }
    request->candidates = candidates;
    request->n_candidates = (uint32_t)n + 1;
    return item->made = true;
}

static bool label(const struct export *e, struct item *item, struct err *err)
{
    const struct msg_request *request = item->request;
    struct msg_judged *judged = arena_new_array(item->arena, request->n_candidates, struct msg_judged);
    for (uint32_t i = 0; judged && i < request->n_candidates; i++)
        judged[i] = (struct msg_judged){.sql = request->candidates[i].sql, .count = request->candidates[i].count};
    return judged && label_line(e->labeler, item->arena, request->db, request->gold, judged, request->n_candidates,
                                &item->labels, err) == ERR_OK;
}

static int write_candidates(struct export *e, const struct item *item)
{
    const struct msg_request *request = item->request;
    struct detector_export from = {.arena = item->arena,
                                   .schema = item->schema,
                                   .request = request,
                                   .labels = item->labels.n ? &item->labels : NULL,
                                   .origin = item->made ? "made" : "beam"};
    if (item->schema && request->question)
        from.question = question_read(item->arena, item->schema, request->question, request->evidence);
    for (uint32_t i = 0; i < request->n_candidates; i++) {
        json_t *line = detector_export_candidate(&from, i);
        bool written = !line || (json_dumpf(line, e->to.stream, JSON_COMPACT) == 0 && fputc('\n', e->to.stream) != EOF);
        json_decref(line);
        if (!written) return EXIT_ERROR; /* destination_close reports the error */
    }
    return 0;
}

static int export_line(struct export *e, struct arena *arena)
{
    struct item item = {.arena = arena};
    struct err err = {0};
    const struct lines *line = &e->logs.lines;
    bool good = !line->too_long && msg_request_from_json(arena, line->text, line->len, &item.request, &err) == ERR_OK;
    if (good && e->schemas) good = open_schema(e, &item, &err);
    if (good && e->schemas && !item.request->n_candidates && item.request->gold) good = make_candidates(e, &item, &err);
    if (good && e->schemas && item.request->gold) good = label(e, &item, &err);
    int code = 0;
    if (good && item.request->n_candidates)
        code = write_candidates(e, &item);
    else
        skip(e, err.text[0] ? err.text : "no candidates");
    if (item.schema) schema_unref(item.schema);
    return code;
}

static int export_logs(struct export *e)
{
    struct arena arena;
    struct err err = {0};
    uint64_t limit = (uint64_t)e->cli->settings.log.limit, read = 0;
    int more = 0, code = 0;
    arena_init(&arena, LINE_BYTES);
    while (code == 0 && (!limit || read++ < limit) && (more = logs_next(&e->logs, &err)) > 0) {
        arena_reset(&arena);
        code = export_line(e, &arena);
    }
    arena_free(&arena);
    logs_rewind(&e->logs);
    if (more < 0) return complain_err(NULL, &err);
    if (e->skipped) complain("%llu lines skipped", (unsigned long long)e->skipped);
    return code;
}

static int with_databases(struct export *e)
{
    struct err err = {0};
    engine_settings(e->cli, &e->config);
    e->config.limits.by_steps = true;
    e->schemas = engine_settings_schemas(e->cli, &e->config, &err);
    if (!e->schemas) return complain_err(NULL, &err);
    e->labeler = labeler_new(&e->config.databases);
    labeler_by_steps(e->labeler);
    int code = report_unreached(e->labeler, export_logs(e));
    schema_cache_free(e->schemas);
    labeler_free(e->labeler);
    return code;
}

int train_export(struct cli *cli)
{
    struct err err = {0};
    struct export e = {.cli = cli, .logs = {.paths = cli->args + 1, .n = cli->n_args - 1, .on_empty = complain_empty}};
    const char *path = cli->settings.train.out;
    if (catalogue_open(cli, &err) != ERR_OK) return complain_err(NULL, &err);
    bool known = cli->settings.database.root.n || cli->catalogue;
    if (known && !engine_settings_has_databases(cli)) return EXIT_ERROR;
    if (!path) {
        complain("--out is required" ERR_HINT "set --out=FILE, or --out=- for standard output");
        return EXIT_ERROR;
    }
    if (strcmp(path, "-") == 0) path = NULL;
    if (destination_open(&e.to, path, false, &err) != ERR_OK) return complain_err(NULL, &err);
    return destination_close(&e.to, known ? with_databases(&e) : export_logs(&e));
}
