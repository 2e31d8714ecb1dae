/* assay report: summarises a file of verdicts as text, JSON or one page. It reads the index of
 * eval/runs/run_index.h. */
#include "cli/output/format.h"
#include "cli/output/progress.h"
#include "cli/output/run_output.h"
#include "cli/output/terminal.h"
#include "cli/settings/engine_settings.h"
#include "eval/runs/run_index.h"
#include "lib/base/outfile.h"

#include <string.h>

struct report {
    struct progress progress;
    bool show;
};

static bool on_progress(void *ctx, const struct run_progress *so_far)
{
    struct report *report = ctx;
    report->progress.verdicts = so_far->verdicts;
    if (report->show && so_far->size) progress_draw(&report->progress, (double)so_far->bytes / (double)so_far->size);
    return true;
}

static enum err_code write_page(struct run_index *run, const struct settings *s, const char *path, struct err *err)
{
    char *name = g_path_get_basename(path);
    json_t *report = run_index_report(run, name, (uint32_t)s->report.rows, err);
    GString *html = report ? run_html(report, err) : NULL;
    enum err_code code = html ? outfile_write(s->report.html, html->str, html->len, err) : err->code;
    if (html) g_string_free(html, TRUE);
    json_decref(report);
    g_free(name);
    return code;
}

static int report_run(struct cli *cli)
{
    const struct settings *s = &cli->settings;
    struct engine_config config = {0};
    struct report report = {.show = terminal_progress() && !s->general.quiet};
    struct run_index *run = NULL;
    struct err err = {0};
    enum format format;
    if (!format_choose(cli, 1U << FORMAT_TEXT | 1U << FORMAT_JSONL | 1U << FORMAT_JSON, &format)) return EXIT_ERROR;
    if (s->report.gold && !engine_settings_has_databases(cli)) return EXIT_ERROR;
    engine_settings(cli, &config);
    const struct run_index_build build = {.path = cli->args[0],
                                          .log = s->report.log,
                                          .databases = s->report.gold ? &config.databases : NULL,
                                          .progress = on_progress,
                                          .ctx = &report};
    progress_start(&report.progress);
    enum err_code code = run_index_take(&build, &run, &err);
    progress_clear(&report.progress);
    if (!code && s->report.html)
        code = write_page(run, s, cli->args[0], &err);
    else if (!code && format == FORMAT_TEXT)
        run_print(run_index_summary(run), stdout);
    else if (!code)
        format_json(run_index_summary(run), format, stdout);
    run_index_close(run);
    return code ? complain_err("report", &err) : 0;
}

const struct command command_report = {
    .name = "report",
    .guide = "runs.md",
    .sentence = "summarize a file of verdicts, as text or as an HTML page",
    .args = "VERDICTS",
    .description = "Prints a summary of verdicts: status, P(correct), latency, and how often each signal fired on the "
                   "answer. VERDICTS is a file written by `assay replay --out`. If reference (gold) queries were run, "
                   "the summary also shows how often each signal was right, and whether P(correct) is calibrated. It "
                   "then also shows the share of wrong answers among those with the highest P(correct).\n\n"
                   "--html FILE writes the summary as one page with charts, a table and the most informative verdicts. "
                   "The page needs no server and loads no other file. `assay serve --runs DIR` shows the same page for "
                   "every file in a directory.\n\n"
                   "An index is stored beside the file as VERDICTS.index, and rebuilt when the file changes. With "
                   "--gold, the index stores which answers are correct. With --log, it stores the questions. Later "
                   "reports then need neither flag.\n\n"
                   "Lines that are not verdicts, or are longer than 1 MiB, are counted and left out.",
    .examples = "assay report verdicts.jsonl\n"
                "assay report verdicts.jsonl --log log.jsonl --gold --db-root databases --html run.html\n"
                "assay report verdicts.jsonl --format json | jq .reliability",
    .main_flags = "html gold db-root log rows format",
    .groups = (const struct option_group *const[]){&options_report, &options_output, &options_database,
                                                   &options_general, NULL},
    .min_args = 1,
    .max_args = 1,
    .run = report_run,
};
