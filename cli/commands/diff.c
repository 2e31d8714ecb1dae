/* assay diff: compares two sets of verdicts on the same requests. eval/diff.h describes the design. */
#include "cli/output/diff_output.h"
#include "cli/settings/engine_settings.h"

static void take_pair(void *ctx, const struct diff_pair *pair)
{
    diff_write_pair(ctx, pair);
}

static void take_lone(void *ctx, const char *id, unsigned side, uint64_t line, bool only)
{
    diff_write_lone(ctx, id, side, line, only);
}

static void left_out(void *ctx, const char *text)
{
    (void)ctx;
    complain("%s", text);
}

static int exit_code(const struct diff_totals *t)
{
    if (t->bad[0] || t->bad[1] || t->bad_requests) return EXIT_ERROR;
    if (!t->verdicts[0] && !t->verdicts[1]) {
        complain("neither file contains a verdict");
        return EXIT_ERROR;
    }
    bool same = !t->changed && !t->only[0] && !t->only[1] && !t->repeated[0] && !t->repeated[1];
    return same ? 0 : EXIT_JUDGED;
}

static int diff_run(struct cli *cli)
{
    const struct settings *s = &cli->settings;
    struct engine_config config = {0};
    struct diff_totals totals;
    struct err err = {0};
    enum format format;
    if (!format_choose(cli, FORMATS_TABLE, &format)) return EXIT_ERROR;
    if (s->diff.gold && !engine_settings_has_databases(cli)) return EXIT_ERROR;
    engine_settings(cli, &config);
    diff_totals_init(&totals);
    struct diff_files files = {.names = {cli->args[0], cli->args[1]},
                               .log = s->diff.log,
                               .databases = s->diff.gold ? &config.databases : NULL,
                               .rules = {s->diff.tolerance, s->diff.explanations},
                               .pair = take_pair,
                               .lone = take_lone,
                               .left_out = left_out};
    struct diff_writer *writer = diff_writer_new(format, files.names, (uint64_t)s->diff.list, stdout);
    files.ctx = writer;
    enum err_code code = diff_files(&files, &totals, &err);
    diff_writer_end(writer, code ? NULL : &totals);
    if (code) complain_text(&err);
    int status = code ? EXIT_ERROR : exit_code(&totals);
    diff_totals_free(&totals);
    return status;
}

const struct command command_diff = {
    .name = "diff",
    .guide = "runs.md",
    .sentence = "compare two sets of verdicts on the same requests",
    .args = "A B",
    .description =
        "Compares the verdicts in A with the verdicts in B. A and B are files with one verdict per line, as written by "
        "`assay replay --out` or read from the topic of verdicts. Requests are matched by id, in any order. One of the "
        "two may be `-` (standard input) or a pipe.\n\n"
        "The output lists each request whose verdict changed. A change is a different status, reason, answer or signal "
        "state, or a change of p_correct by more than --tolerance. Answers are "
        "compared by normal form, so that spelling does not count. With --explanations, explanations are compared too. "
        "The output also lists ids that are missing on one side, and repeated verdicts of an id. Only the first "
        "verdict of an id is compared. A summary shows statuses, the change of p_correct, and how often each signal "
        "fired more or less.\n\n"
        "Reference (gold) queries come from the requests or from --log. With them, the summary shows which answers got "
        "better or worse, with McNemar's exact sign test. With --gold, both answers and the gold query are run and "
        "compared, as in `assay eval`. Without --gold, an answer is correct if its normal form equals that of the gold "
        "query. Any other answer counts as unknown, because a different query may also be correct.\n\n"
        "A line that is not a verdict is reported with its number. Memory use is about 45 bytes per verdict, plus the "
        "longest line.\n\n"
        "The exit status is 0 if nothing changed, and 1 if a verdict changed. It is 2 if a line could not be read or "
        "the comparison failed.",
    .examples = "assay diff before.jsonl after.jsonl\n"
                "assay diff before.jsonl after.jsonl --gold --db-root databases --format json | jq .summary.gold\n"
                "kcat -C -e -t assay.verdicts -b kafka:9092 | assay diff before.jsonl -",
    .main_flags = "gold db-root log list tolerance format",
    .groups =
        (const struct option_group *const[]){&options_diff, &options_output, &options_database, &options_general, NULL},
    .min_args = 2,
    .max_args = 2,
    .run = diff_run,
};
