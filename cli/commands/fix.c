/* assay fix: proposes repairs of one query that raise P(correct). */
#include "cli/output/output.h"
#include "cli/output/terminal.h"
#include "cli/settings/catalogue.h"
#include "cli/settings/engine_settings.h"
#include "engine/run.h"

#include <math.h>
#include <string.h>

static bool is_valid(const struct msg_verdict *verdict)
{
    return verdict->status == MSG_STATUS_VALIDATED || verdict->status == MSG_STATUS_REPAIRED;
}

static void print_text(const struct msg_verdict *verdict)
{
    const struct msg_repaired *repair = verdict->repair;
    bool repaired = verdict->status == MSG_STATUS_REPAIRED;
    printf("%s%s%s  ", style_start(repaired ? STYLE_GOOD : STYLE_BOLD), repaired ? "repaired" : "kept", style_end());
    if (repair) {
        repair_print(stdout, repair);
        if (!repaired)
            printf("Not applied: P(correct) is not higher by --repair-margin, or the query does not validate "
                   "(--threshold).\n");
        return;
    }
    if (isnan(verdict->p_correct))
        printf("no similar query could be judged\n");
    else
        printf("P(correct) %.3f; no similar query has a higher one\n", verdict->p_correct);
    const char *why = verdict->n_notes ? verdict->notes[0] : verdict->message;
    if (why) print_paragraph(stdout, "  ", 2, why);
}

static int print_verdict(const struct cli *cli, const struct msg_verdict *verdict, enum format format)
{
    if (cli->settings.fix.apply) {
        puts(verdict->status == MSG_STATUS_REPAIRED ? verdict->sql : cli->args[0]);
    } else if (format == FORMAT_TEXT) {
        print_text(verdict);
    } else {
        struct output *output = output_begin(format, true, stdout);
        output_verdict(output, 0, verdict);
        if (!output_end(output)) return complain_err(NULL, &(struct err){.code = ERR_NOMEM});
    }
    if (verdict->status == MSG_STATUS_FAILED) return EXIT_ERROR;
    return is_valid(verdict) ? EXIT_VALIDATED : EXIT_JUDGED;
}

static int fix_query(struct cli *cli, enum format format)
{
    struct err err = {0};
    struct engine_config config;
    struct worker_database database;
    struct msg_verdict *verdict = NULL;
    if (catalogue_pick(cli, cli->settings.check.db, &database, &err)) return complain_err(NULL, &err);
    char *name = db_path_name(database.path);
    database.name = name;
    engine_settings(cli, &config);
    config.shows_locations = true;
    config.databases = (struct worker_databases){.files = &database, .n_files = 1};
    config.defaults.repair = MSG_REPAIR_APPLY;
    struct msg_candidate candidate = {
        .sql = {cli->args[0], (uint32_t)strlen(cli->args[0])}, .count = 1, .score = (double)NAN};
    const struct msg_request request = {.id = "fix",
                                        .db = name,
                                        .question = cli->settings.check.question,
                                        .evidence = cli->settings.check.evidence,
                                        .candidates = &candidate,
                                        .n_candidates = 1};
    enum err_code code = engine_judge(&config, &request, &verdict, &err);
    int exit = code == ERR_OK ? print_verdict(cli, verdict, format) : complain_err(NULL, &err);
    if (code == ERR_OK && verdict->status == MSG_STATUS_FAILED) complain("%s", verdict->message);
    msg_verdict_free(verdict);
    g_free(name);
    return exit;
}

static int fix_run(struct cli *cli)
{
    enum format format;
    if (!format_choose(cli, 1U << FORMAT_TEXT | 1U << FORMAT_JSONL | 1U << FORMAT_JSON, &format)) return EXIT_ERROR;
    if (!cli->settings.check.db || !cli->settings.check.question || !*cli->settings.check.question) {
        complain("--db and --question are required" ERR_HINT
                 "set --db=FILE, and --question=TEXT to the question that the SQL should answer");
        return EXIT_ERROR;
    }
    return fix_query(cli, format);
}

const struct command command_fix = {
    .name = "fix",
    .guide = "correction.md",
    .sentence = "search for a similar query that is more likely to be correct",
    .args = "--db FILE --question TEXT SQL",
    .description =
        "Judges the query and up to 40 similar queries. A similar query differs in a comparison, column, value, join, "
        "aggregate, order or limit, or by an added or removed DISTINCT or condition.\n\n"
        "The repair is a query that validates and whose P(correct) is higher by at least --repair-margin. If there is "
        "no repair, the query stays unchanged. If another query is more likely to be correct, the best "
        "such query is also shown. The result is the one of `assay check --repair=apply` with one candidate, displayed "
        "as a change to the query. Only Assay's own models are used. Every query runs read-only, within the limits.\n\n"
        "--apply prints only SQL, for use in pipes: the repaired query, or the original query if there is no "
        "repair.\n\n"
        "The exit status is 0 if the query is repaired or validates unchanged, 1 if neither, and 2 if nothing could be "
        "judged.",
    .examples = "assay fix --db shop.sqlite --question 'How many customers are from France?' \\\n"
                "    \"SELECT count(*) FROM customer WHERE country = 'French'\"\n"
                "assay fix --db shop.sqlite --question 'Name all products.' --apply 'SELECT name FROM product LIMIT 1'",
    .main_flags = "db question evidence apply format repair-margin threshold",
    .groups = (const struct option_group *const[]){&options_check, &options_fix, &options_judge, &options_verifier,
                                                   &options_repair, &options_encoder, &options_llm, &options_consult,
                                                   &options_corrector, &options_polish, &options_output,
                                                   &options_signals, &options_database, &options_schema, &options_redis,
                                                   &options_general, NULL},
    .min_args = 1,
    .max_args = 1,
    .run = fix_run,
};
