/* assay fix: one query, and what is near it and surer to be right. */
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
            printf(
                "Not applied: it is not surer by the margin, or does not validate (--repair-margin, --threshold).\n");
        return;
    }
    if (isnan(verdict->p_correct))
        printf("nothing near it could be judged\n");
    else
        printf("P(correct) %.3f; nothing near it is surer\n", verdict->p_correct);
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
        complain(
            "--db=FILE and --question=TEXT say which database and what the SQL should answer; without them nothing can "
            "be judged");
        return EXIT_ERROR;
    }
    return fix_query(cli, format);
}

const struct command command_fix = {
    .name = "fix",
    .sentence = "look for a query near this one that is surer to be right",
    .args = "--db FILE --question TEXT SQL",
    .description =
        "Judges the query, then up to 40 queries near it: another comparison, column, value, join, aggregate, order or "
        "limit, DISTINCT or a condition more or less. Where one of them is right with a probability that is higher by "
        "--repair-margin, and validates, that is the repair; otherwise the query is kept, and the best of the others "
        "is "
        "shown beside it where it is surer. The same as `assay check --repair=apply` with one candidate, shown as a "
        "change. No model is asked but Assay's own; every query runs read-only, within the limits.\n\n"
        "--apply prints the SQL alone, the repaired one or else the old one, for pipes.\n\n"
        "The exit status is 0 when the query is repaired or validates as it is, 1 when neither, 2 when nothing could "
        "be judged.",
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
