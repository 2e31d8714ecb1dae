/* Judges random statements over a database with denied columns, and fails if a canary reaches a verdict or the log. The
 * setting is deny_mode hide, because statements with denied columns run only in this mode.
 *
 *   denied_canaries [--postgres DSN | --mariadb URL] [--statements N] [--seconds S] [--seed N] [FILE...]
 *
 * Each FILE holds statements that leaked in earlier runs, one a line. They are judged first. The program ends after N
 * statements or S seconds, whichever comes first. It prints each leaking statement in the format of a FILE.
 *
 * A control run comes first. It judges the same statements with nothing denied until one shows a canary. A search that
 * misses a visible canary would prove nothing about hidden ones. */
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "tests/fuzz/denied_shop.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 8, STATEMENT_MS = 200 };

struct run {
    struct shop shop;
    uint64_t statements, executed, shown, leaks; /* `shown` counts verdicts with rows */
};

/* Returns the verdict as JSON without its times. Free with g_free. */
static char *judge(struct run *run, char *const *statements, unsigned n)
{
    struct msg_candidate candidates[BATCH];
    for (unsigned i = 0; i < n; i++)
        candidates[i] = (struct msg_candidate){.sql = {statements[i], (uint32_t)strlen(statements[i])}, .score = NAN};
    struct msg_request request = {.id = "r",
                                  .db = "shop",
                                  .question = "Which customers of Perth have an address, and how many orders?",
                                  .candidates = candidates,
                                  .n_candidates = n};
    struct msg_verdict *verdict = shop_judge(&run->shop, &request);
    for (uint32_t i = 0; i < verdict->n_candidates; i++) {
        const struct msg_execution *execution = verdict->candidates[i].execution;
        run->executed += execution && strcmp(execution->code, "ok") == 0;
        run->shown += execution && execution->n_sample > 0;
    }
    char *json = msg_verdict_to_json(verdict);
    msg_verdict_free(verdict);
    return json;
}

static bool leaks(struct run *run, char *const *statements, unsigned n, bool tell)
{
    char *json = judge(run, statements, n);
    const char *canary = denied_canary(json, strlen(json));
    if (canary && tell) printf("%s\n  leaks: %.120s\n", statements[0], canary > json + 60 ? canary - 60 : json);
    free(json);
    return canary != NULL;
}

/* Judges each statement of a leaking batch alone. */
static void check(struct run *run, char **statements, unsigned n)
{
    run->statements += n;
    if (!leaks(run, statements, n, false)) return;
    uint64_t before = run->leaks;
    for (unsigned i = 0; i < n; i++) run->leaks += leaks(run, &statements[i], 1, true);
    if (run->leaks > before) return;
    run->leaks++; /* the statements leak only together */
    for (unsigned i = 0; i < n; i++) printf("together with others: %s\n", statements[i]);
}

static unsigned fill(GRand *rand, const struct shop *shop, char **statements)
{
    for (unsigned i = 0; i < BATCH; i++) statements[i] = denied_statement(rand, shop->engine);
    return BATCH;
}

static void empty(char **statements, unsigned n)
{
    for (unsigned i = 0; i < n; i++) g_free(statements[i]);
}

static void check_file(struct run *run, const char *path)
{
    char *text = NULL;
    require(g_file_get_contents(path, &text, NULL, NULL), "cannot read", path);
    char **lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++)
        if (**line && !g_str_has_prefix(*line, "--")) check(run, line, 1);
    g_strfreev(lines);
    g_free(text);
}

static void check_that_canaries_are_seen(struct run *run, guint32 seed)
{
    GRand *rand = g_rand_new_with_seed(seed);
    char *statements[BATCH];
    bool seen = false;
    shop_open(&run->shop, WORKER_DENY_UNSET, STATEMENT_MS);
    for (unsigned i = 0; i < 100 && !seen; i++) {
        unsigned n = fill(rand, &run->shop, statements);
        seen = leaks(run, statements, n, false);
        empty(statements, n);
    }
    engine_close(run->shop.judge);
    g_rand_free(rand);
    require(seen, "without a policy", "no statement shows a canary");
    run->executed = run->shown = 0;
}

static bool log_is_clean(int fd)
{
    char *text = NULL;
    gsize len = 0;
    char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    require(g_file_get_contents(path, &text, &len, NULL), "cannot read", "the log");
    const char *canary = denied_canary(text, len);
    if (canary) printf("the log leaks: %.120s\n", canary);
    g_free(path);
    g_free(text);
    return !canary;
}

int main(int argc, char **argv)
{
    struct run run = {0};
    gint64 statements = G_MAXINT64, seconds = 30, seed = 1;
    char **files = NULL, *postgres = NULL, *mariadb = NULL;
    const GOptionEntry options[] = {{"postgres", 0, 0, G_OPTION_ARG_STRING, &postgres, "a server", "DSN"},
                                    {"mariadb", 0, 0, G_OPTION_ARG_STRING, &mariadb, "a server", "URL"},
                                    {"statements", 0, 0, G_OPTION_ARG_INT64, &statements, "at most", "N"},
                                    {"seconds", 0, 0, G_OPTION_ARG_INT64, &seconds, "at most", "S"},
                                    {"seed", 0, 0, G_OPTION_ARG_INT64, &seed, "of the generator", "N"},
                                    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files, NULL, NULL},
                                    {0}};
    GOptionContext *context = g_option_context_new("[FILE...]");
    g_option_context_add_main_entries(context, options, NULL);
    require(g_option_context_parse(context, &argc, &argv, NULL), "usage", "see the head of denied_main.c");
    g_option_context_free(context);
    char name[] = "/tmp/assay-denied-log-XXXXXX";
    int log = mkstemp(name);
    g_remove(name);
    log_open(log, LOG_FORM_JSON, LOG_LEVEL_INFO);
    shop_make_on(&run.shop, postgres, mariadb, DENIED_CANARIES);

    check_that_canaries_are_seen(&run, (guint32)seed);
    shop_open(&run.shop, WORKER_DENY_HIDE, STATEMENT_MS);
    for (char **file = files; file && *file; file++) check_file(&run, *file);
    GRand *rand = g_rand_new_with_seed((guint32)seed);
    int64_t until = clock_now_ns() + seconds * 1000000000;
    while (run.statements < (uint64_t)statements && clock_now_ns() < until) {
        char *batch[BATCH];
        unsigned n = fill(rand, &run.shop, batch);
        check(&run, batch, n);
        empty(batch, n);
    }
    g_rand_free(rand);
    engine_close(run.shop.judge);
    bool clean = log_is_clean(log);
    shop_remove(&run.shop);
    g_strfreev(files);
    close(log);
    printf("%s: %llu statements, %llu of them ran, rows of %llu were shown, %llu leaked\n", shop_engine_name(&run.shop),
           (unsigned long long)run.statements, (unsigned long long)run.executed, (unsigned long long)run.shown,
           (unsigned long long)run.leaks);
    g_free(postgres);
    g_free(mariadb);
    return run.leaks || !clean || !run.shown;
}
