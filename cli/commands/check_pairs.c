/* Judges the queries of files with one engine, and writes the verdicts in the order of the files. Statements run in
 * separate processes, because a pull request is untrusted. */
#include "cli/commands/check_pairs.h"

#include "cli/commands/pair_files.h"
#include "cli/output/output.h"
#include "cli/settings/catalogue.h"
#include "cli/settings/denied_settings.h"
#include "cli/settings/engine_settings.h"
#include "engine/run.h"
#include "lib/db/executor.h"

#include <math.h>
#include <string.h>

struct check {
    struct cli *cli;
    GPtrArray *pairs;
    guint asked, told; /* asked: pairs submitted or skipped; told: pairs whose outcome is written */
    struct output *output;
    const char *db; /* database for files that name none; NULL uses the name of their folder */
    unsigned held, skipped, failed;
    int exit;
};

static const struct pair *pair_at(const struct check *check, guint at)
{
    return check->pairs->pdata[at];
}

static void raise_exit(struct check *check, int exit)
{
    check->exit = MAX(check->exit, exit);
}

/* --- outcomes --------------------------------------------------------------------------------------------------- */

static void tell(struct check *check, const struct pair *pair, const struct msg_verdict *verdict)
{
    bool failed = verdict->status == MSG_STATUS_FAILED, holds = verdict_holds(verdict, &pair->file);
    check->held += holds;
    check->failed += failed;
    raise_exit(check, holds ? EXIT_VALIDATED : failed ? EXIT_ERROR : EXIT_JUDGED);
    output_verdict_of_file(check->output, &pair->file, verdict);
}

/* Returns the path of the file as an id. If it is too long, returns the end of it. */
static const char *id_of(const struct pair *pair)
{
    const char *id = pair->file.path, *end = id + strlen(id);
    while (end - id > MSG_MAX_NAME) id = g_utf8_next_char(id);
    return id;
}

static const char *db_of(const struct check *check, const struct pair *pair)
{
    return pair->db ? pair->db : check->db ? check->db : pair->folder;
}

static void tell_unjudged(struct check *check, const struct pair *pair)
{
    bool quiet = check->cli->settings.general.quiet, strict = check->cli->settings.pairs.strict;
    if (!pair->code && !strict) {
        if (!quiet) complain("%s: skipped: %s", pair->file.path, pair->why);
        check->skipped++;
        output_skipped(check->output, &pair->file, pair->why);
        return;
    }
    complain("%s: %s", pair->file.path, pair->why);
    const struct msg_verdict verdict = {.id = id_of(pair),
                                        .db = db_of(check, pair),
                                        .status = MSG_STATUS_FAILED,
                                        .reason = err_name(pair->code ? pair->code : ERR_MALFORMED),
                                        .message = pair->why,
                                        .p_correct = (double)NAN,
                                        .threshold = (double)NAN,
                                        .entailment_threshold = (double)NAN};
    tell(check, pair, &verdict);
}

/* Writes the outcome of the pairs before `end` that were not submitted. */
static void tell_until(struct check *check, guint end)
{
    for (; check->told < end; check->told++) tell_unjudged(check, pair_at(check, check->told));
}

/* --- through the engine ----------------------------------------------------------------------------------------- */

static int next_request(void *ctx, struct arena *arena, struct msg_request **out)
{
    struct check *check = ctx;
    while (check->asked < check->pairs->len && pair_at(check, check->asked)->why) check->asked++;
    if (check->asked == check->pairs->len) return 0;
    const struct pair *pair = pair_at(check, check->asked++);
    struct msg_candidate *candidate = arena_new(arena, struct msg_candidate);
    struct msg_request *request = arena_new(arena, struct msg_request);
    if (!candidate || !request) return -1;
    *candidate = (struct msg_candidate){.sql = pair->sql, .count = 1, .score = (double)NAN};
    *request = (struct msg_request){.id = id_of(pair),
                                    .db = db_of(check, pair),
                                    .question = pair->question,
                                    .evidence = pair->evidence,
                                    .candidates = candidate,
                                    .n_candidates = 1,
                                    .tag = check->asked};
    *out = request;
    return 1;
}

static bool on_verdict(void *ctx, struct msg_verdict *verdict)
{
    struct check *check = ctx;
    guint at = (guint)verdict->tag - 1;
    tell_until(check, at);
    tell(check, pair_at(check, at), verdict);
    check->told = at + 1;
    msg_verdict_free(verdict);
    return !ferror(stdout);
}

/* Returns the name of the database of --db: that of its catalogue entry, or a name derived from the path. Returns NULL
 * if --db is not set. Free with g_free. */
static char *name_of_flag(const struct cli *cli)
{
    const struct worker_databases all = catalogue_databases(cli);
    const char *path = cli->settings.check.db;
    if (!path) return NULL;
    return worker_database_find(&all, path) ? g_strdup(path) : db_path_name(path);
}

/* Returns the catalogue's databases and the one of --db. */
static struct worker_databases databases_of(struct cli *cli, const char *db)
{
    struct worker_databases all = catalogue_databases(cli);
    const char *path = cli->settings.check.db;
    if (!path || worker_database_find(&all, path)) return all;
    struct worker_database *files = arena_new_array(&cli->arena, all.n_files + 1, struct worker_database);
    if (!files) return all; /* memory is exhausted; the verdicts then report that the database is missing */
    files[0] = (struct worker_database){.name = db, .path = path};
    if (all.n_files) memcpy(files + 1, all.files, all.n_files * sizeof *files);
    all.files = files;
    all.n_files++;
    return all;
}

static enum err_code judge_all(struct check *check, struct err *err)
{
    struct engine_config config;
    struct engine *engine = NULL;
    engine_settings(check->cli, &config);
    config.shows_locations = true;
    engine_settings_polisher(check->cli, &config);
    config.databases = databases_of(check->cli, check->db);
    config.executor = EXECUTOR_SELF;
    const struct engine_loop loop = {.next = next_request, .each = on_verdict, .ctx = check, .in_order = true};
    enum err_code code = ERR_OK;
    if (check->db) code = denied_settings_check(check->cli, &config.databases, denied_settings_warn, err);
    if (!code) code = engine_open(&config, &engine, err);
    if (!code) code = engine_run(engine, &loop, err);
    engine_close(engine);
    if (!code && !ferror(stdout)) tell_until(check, check->pairs->len);
    return code;
}

static int run(struct check *check, enum format format)
{
    struct err err = {0};
    check->output = output_begin(format, false, stdout);
    err.code = judge_all(check, &err);
    bool written = output_end(check->output);
    if (!err.code && !written) err.code = ERR_NOMEM;
    if (err.code) return complain_err(NULL, &err);
    guint n = check->pairs->len;
    if (!check->cli->settings.general.quiet)
        fprintf(stderr, "%u of %u queries validated, %u not validated, %u not judged, %u skipped\n", check->held, n,
                n - check->held - check->failed - check->skipped, check->failed, check->skipped);
    return check->exit;
}

/* --- the command -------------------------------------------------------------------------------------------------- */

/* Prints an error and returns false if the flags contradict each other. */
static bool settings_fit(struct cli *cli)
{
    const struct settings *s = &cli->settings;
    if (s->check.question || s->check.evidence || s->check.answers.n) {
        complain("--pairs cannot be combined with --question, --evidence or --answer" ERR_HINT
                 "write the question and the evidence into each file");
        return false;
    }
    if (!cli->n_args) {
        complain("--pairs needs files" ERR_HINT "name *.sql files, or a folder that holds them");
        return false;
    }
    struct err err = {0};
    return s->check.db ? catalogue_open(cli, &err) == ERR_OK || (complain_err(NULL, &err), false)
                       : engine_settings_has_databases(cli);
}

int check_pairs(struct cli *cli, enum format format)
{
    struct err err = {0};
    struct check check = {.cli = cli};
    if (!settings_fit(cli)) return EXIT_ERROR;
    enum err_code code = pairs_read(cli->args, cli->n_args, &check.pairs, &err);
    char *db = name_of_flag(cli);
    check.db = db;
    int exit = EXIT_ERROR;
    if (code)
        complain_err(NULL, &err);
    else if (!check.pairs->len)
        complain("%s: no *.sql file found", cli->args[0]);
    else
        exit = run(&check, format);
    g_free(db);
    pairs_free(check.pairs);
    return exit;
}
