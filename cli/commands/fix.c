/* assay fix: one query, and what is one edit away from it and more likely right. */
#include "cli/output/format.h"
#include "cli/output/terminal.h"
#include "cli/settings/catalogue.h"
#include "cli/settings/engine_settings.h"
#include "engine/assay_internal.h"
#include "repair/propose.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct fixing {
    struct cli *cli;
    struct arena arena;
    struct worker_database database;
    struct assay_engine *engine;
    const char *name, *sql;
    struct msg_verdict *before; /* of the query as it is */
    struct repair_suspect suspects[REPAIR_MAX_SUSPECTS];
    uint32_t n_suspects;
    struct repair_proposal *proposals;
    int n_proposals;
    const struct repair_proposal *best;
    double p_before, p_after, threshold;
    bool proposes; /* the database and its schema are there: what fails then is the query */
    bool repaired;
};

/* --- judging --- */

/* Each query is judged alone: beside others it would be asked for votes. */
static struct msg_verdict *judge(struct fixing *f, const char *sql, struct err *err)
{
    const struct settings *s = &f->cli->settings;
    struct msg_candidate candidate = {.sql = {sql, (uint32_t)strlen(sql)}, .count = 1, .score = NAN};
    struct msg_request request = {.id = "fix",
                                  .db = f->name,
                                  .question = s->check.question,
                                  .evidence = s->check.evidence,
                                  .candidates = &candidate,
                                  .n_candidates = 1};
    struct msg_verdict *verdict = NULL;
    enum err_code code = assay_judge_request(f->engine, &request, &verdict, err);
    return code == ERR_OK ? verdict : NULL;
}

/* NAN: it was not judged. */
static double p_of(const struct msg_verdict *verdict)
{
    return verdict && verdict->n_candidates && verdict->candidates[0].judged ? verdict->candidates[0].p_correct : NAN;
}

static void read_suspects(struct fixing *f)
{
    const struct msg_judged *judged = f->before->n_candidates ? &f->before->candidates[0] : NULL;
    for (uint32_t i = 0; judged && i < judged->n_findings; i++)
        for (uint32_t c = 0; c < judged->findings[i].n_clauses && f->n_suspects < REPAIR_MAX_SUSPECTS; c++) {
            const struct msg_clause *clause = &judged->findings[i].clauses[c];
            f->suspects[f->n_suspects++] =
                (struct repair_suspect){clause->start, clause->end, judged->findings[i].message};
        }
}

static enum err_code propose(struct fixing *f, struct err *err)
{
    const struct schema_options options = engine_settings_schema_options(f->cli, &f->database);
    struct schema_index *schema = NULL;
    struct db *db = NULL;
    enum err_code code = db_open(f->database.path, &f->database.limits, &db, err);
    if (code == ERR_OK) code = schema_build(db, f->name, f->database.path, &options, &schema, err);
    f->proposes = code == ERR_OK;
    if (f->proposes) {
        bool values = f->database.expose != MSG_EXPOSE_NONE;
        f->n_proposals = repair_propose(&f->arena, schema, values, f->sql, strlen(f->sql), f->suspects, f->n_suspects,
                                        &f->proposals, err);
        if (f->n_proposals < 0) code = err->code;
    }
    schema_unref(schema);
    if (db) db_close(db);
    return code;
}

static void judge_proposals(struct fixing *f)
{
    f->p_after = NAN;
    for (int i = 0; i < f->n_proposals; i++) {
        struct err err = {0};
        struct msg_verdict *verdict = judge(f, f->proposals[i].sql, &err);
        double p = p_of(verdict);
        if (p > f->p_after || (isnan(f->p_after) && !isnan(p))) {
            f->p_after = p;
            f->best = &f->proposals[i];
            f->threshold = verdict->threshold;
        }
        msg_verdict_free(verdict);
    }
    f->repaired = f->best && repair_is_better(f->p_before, f->p_after, f->threshold, f->cli->settings.fix.margin);
}

/* --- output --- */

static void print_line(enum style style, const char *sign, const char *text)
{
    printf("%s%s ", style_start(style), sign);
    print_safe(stdout, text, strlen(text), false);
    printf("%s\n", style_end());
}

static void print_steps(struct fixing *f)
{
    struct repair_step steps[REPAIR_MAX_STEPS];
    int n = repair_steps(&f->arena, f->sql, f->best->sql, steps);
    for (int i = 0; i < n; i++) {
        printf("  %s: ", steps[i].clause);
        if (steps[i].was) print_safe(stdout, steps[i].was, strlen(steps[i].was), false);
        printf(steps[i].was ? steps[i].is ? " becomes " : " goes" : "comes ");
        if (steps[i].is) print_safe(stdout, steps[i].is, strlen(steps[i].is), false);
        putchar('\n');
    }
}

static void print_text(struct fixing *f)
{
    if (!f->best) {
        printf("%skept%s  P(correct) %.2f; nothing one edit away could be judged\n", style_start(STYLE_BOLD),
               style_end(), f->p_before);
        return;
    }
    printf("%s%s%s  P(correct) %.2f, %s %.2f\n", style_start(f->repaired ? STYLE_GOOD : STYLE_BOLD),
           f->repaired ? "repaired" : "kept", style_end(), f->p_before, f->repaired ? "now" : "the best of the others",
           f->p_after);
    print_line(STYLE_BAD, "-", f->sql);
    print_line(STYLE_GOOD, "+", f->best->sql);
    print_steps(f);
    if (f->best->reason) print_paragraph(stdout, "  because: ", 11, f->best->reason);
    if (!f->repaired)
        printf("Not applied: it is not surer by %.2f, or below the threshold of %.2f (--margin, --threshold).\n",
               f->cli->settings.fix.margin, f->threshold);
}

static json_t *number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *steps_json(struct fixing *f)
{
    struct repair_step steps[REPAIR_MAX_STEPS];
    json_t *list = json_array();
    int n = f->best ? repair_steps(&f->arena, f->sql, f->best->sql, steps) : 0;
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:s,s:o,s:o}", "clause", steps[i].clause, "was",
                                              format_text(steps[i].was), "is", format_text(steps[i].is)));
    return list;
}

static void print_json(struct fixing *f, enum format format)
{
    const struct repair_proposal *best = f->best;
    json_t *json = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:i,s:o,s:o}", "status", f->repaired ? "repaired" : "kept",
                             "sql", format_text(f->repaired ? best->sql : f->sql), "old_sql", format_text(f->sql),
                             "proposal", format_text(best ? best->sql : NULL), "p_before", number(f->p_before),
                             "p_after", number(f->p_after), "proposals", f->n_proposals, "steps", steps_json(f),
                             "because", format_text(best ? best->reason : NULL));
    format_json(json, format, stdout);
    json_decref(json);
}

static int finish(struct fixing *f, enum format format)
{
    bool valid = f->before->status == MSG_STATUS_VALIDATED;
    if (f->cli->settings.fix.apply)
        puts(f->repaired ? f->best->sql : f->sql);
    else if (format == FORMAT_TEXT)
        print_text(f);
    else
        print_json(f, format);
    if (fflush(stdout) != 0 && errno != EPIPE) return EXIT_ERROR;
    return f->repaired || valid ? EXIT_VALIDATED : EXIT_JUDGED;
}

/* --- one query --- */

static int fix_query(struct fixing *f, enum format format)
{
    struct err err = {0};
    f->before = judge(f, f->sql, &err);
    if (!f->before) return complain_err(NULL, &err);
    f->p_before = p_of(f->before);
    read_suspects(f);
    enum err_code code = propose(f, &err);
    if (code != ERR_OK) {
        complain_err("nothing can be proposed for the query", &err);
        if (f->cli->settings.fix.apply) puts(f->sql);
        return f->proposes ? EXIT_JUDGED : EXIT_ERROR;
    }
    judge_proposals(f);
    return finish(f, format);
}

static int open_engine(struct fixing *f)
{
    struct err err = {0};
    struct engine_config config;
    if (catalogue_pick(f->cli, f->cli->settings.check.db, &f->database, &err)) return complain_err(NULL, &err);
    char *name = db_path_name(f->database.path);
    f->name = f->database.name = arena_strdup(&f->arena, name);
    g_free(name);
    engine_settings(f->cli, &config);
    config.databases = (struct worker_databases){.files = &f->database, .n_files = 1};
    config.defaults.explain = MSG_EXPLAIN_ON; /* a repair is as good as its judge: the verifier always looks */
    return assay_open_config(&config, &f->engine, &err) == ERR_OK ? 0 : complain_err(NULL, &err);
}

static int fix_run(struct cli *cli)
{
    enum format format;
    if (!format_choose(cli, 1U << FORMAT_TEXT | 1U << FORMAT_JSONL | 1U << FORMAT_JSON, &format)) return EXIT_ERROR;
    if (!cli->settings.check.db || !cli->settings.check.question || !*cli->settings.check.question) {
        complain(
            "--db=FILE and --question=TEXT say which database and what the SQL should answer; without them nothing can "
            "be judged");
        return EXIT_ERROR;
    }
    struct fixing f = {.cli = cli, .sql = cli->args[0]};
    arena_init(&f.arena, 0);
    int code = open_engine(&f);
    if (code == 0) code = fix_query(&f, format);
    msg_verdict_free(f.before);
    assay_close(f.engine);
    arena_free(&f.arena);
    return code;
}

const struct command command_fix = {
    .name = "fix",
    .sentence = "look for a query near this one that is surer to be right",
    .args = "--db FILE --question TEXT SQL",
    .description =
        "Judges the query, then up to 40 queries that are one edit away from it: another comparison, column, value, "
        "join, "
        "aggregate, order or limit, DISTINCT or a condition more or less. Where one of them is right with a "
        "probability that "
        "is higher by --margin, and validates, that is the repair; otherwise the query is kept and the best of the "
        "others is shown beside it. No model is asked but Assay's own; every query runs read-only, within the "
        "limits.\n\n"
        "--apply prints the SQL alone, the repaired one or else the old one, for pipes.\n\n"
        "The exit status is 0 when the query is repaired or validates as it is, 1 when neither, 2 when nothing could "
        "be "
        "judged.",
    .examples = "assay fix --db shop.sqlite --question 'How many customers are from France?' \\\n"
                "    \"SELECT count(*) FROM customer WHERE country = 'French'\"\n"
                "assay fix --db shop.sqlite --question 'Name all products.' --apply 'SELECT name FROM product LIMIT 1'",
    .main_flags = "db question evidence margin apply format threshold",
    .groups = (const struct option_group *const[]){&options_check, &options_fix, &options_judge, &options_verifier,
                                                   &options_output, &options_signals, &options_database,
                                                   &options_schema, &options_redis, &options_general, NULL},
    .min_args = 1,
    .max_args = 1,
    .run = fix_run,
};
