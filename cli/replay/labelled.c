/* Judges logs with gold or feedback (labelled.h). A table maps tags to the data of a request until its verdict arrives.
 * Candidates are labelled by execution against gold, or by feedback if there is no gold. Requests without either are
 * not judged. */
#include "cli/replay/labelled.h"

#include "cli/output/progress.h"
#include "cli/output/terminal.h"
#include "cli/output/unreached.h"
#include "cli/replay/replay.h"
#include "engine/run.h"
#include "lib/base/input.h"
#include "scoring/verifier_context.h"
#include "train/feedback.h"

#include <string.h>

/* Data of a request, until its verdict arrives. */
struct asked {
    char *question, *generator;
    char **wrong;
};

struct state {
    struct labelled_run *run;
    struct logs logs;
    struct feedback *feedback;
    struct labeler *labeler;
    GHashTable *asked; /* tag → struct asked */
    uint64_t read;
    struct progress progress;
    struct err *err;
    bool failed, show;
};

static void asked_free(gpointer p)
{
    struct asked *asked = p;
    g_free(asked->question);
    g_free(asked->generator);
    g_strfreev(asked->wrong);
    g_free(asked);
}

/* --- requests --- */

static void skip_line(struct state *s, const char *what)
{
    progress_clear(&s->progress);
    complain("%s:%llu: %s", s->logs.lines.path, (unsigned long long)s->logs.lines.number, what);
    s->run->skipped++;
}

/* Finds the truth about a request: its gold query, or the queries that feedback marks as right or wrong. Returns false
 * if there is neither. */
static bool take_truth(struct state *s, struct arena *arena, struct msg_request *request, struct asked *asked)
{
    struct feedback_labels labels = {0};
    if (request->gold) {
        feedback_pass_by(s->feedback, request);
        return true;
    }
    if (!feedback_labels(s->feedback, request, &labels)) return false;
    request->gold = labels.right ? arena_strdup(arena, labels.right) : NULL;
    asked->wrong = g_new0(char *, labels.n_wrong + 1);
    for (uint32_t i = 0; i < labels.n_wrong; i++) asked->wrong[i] = g_strdup(labels.wrong[i]);
    if (labels.generator) {
        g_free(asked->generator);
        asked->generator = g_strdup(labels.generator);
    }
    g_free(labels.wrong);
    return true;
}

static bool is_usable(struct state *s, struct arena *arena, struct msg_request *request)
{
    const char *generator = verifier_generator(request);
    struct asked *asked = g_new0(struct asked, 1);
    asked->question = g_strdup(request->question ? request->question : "");
    asked->generator = g_strdup(generator ? generator : "*");
    if (!request->n_candidates || !take_truth(s, arena, request, asked)) {
        asked_free(asked);
        return false;
    }
    request->tag = s->read;
    g_hash_table_insert(s->asked, GSIZE_TO_POINTER(request->tag), asked);
    return true;
}

static int next_request(void *ctx, struct arena *arena, struct msg_request **out)
{
    struct state *s = ctx;
    uint64_t limit = (uint64_t)s->run->cli->settings.log.limit;
    while (!limit || s->read < limit) {
        struct err err = {0};
        int more = logs_next(&s->logs, &err);
        if (more < 0) {
            s->failed = true;
            *s->err = err;
        }
        if (more <= 0) return more;
        s->read++;
        const struct lines *line = &s->logs.lines;
        if (feedback_is_meant(line->text, line->len) || feedback_is_verdict(line->text, line->len)) continue;
        enum err_code code =
            line->too_long ? ERR_LIMIT_BYTES : msg_request_from_json(arena, line->text, line->len, out, &err);
        if (code != ERR_OK)
            skip_line(s, err.text[0] ? err.text : err_meaning(code));
        else if (is_usable(s, arena, *out))
            return 1;
    }
    return 0;
}

/* --- verdicts --- */

/* Labels the candidates of a verdict. Returns false if the gold query has no result, or the database is unavailable. */
static bool label(struct state *s, struct arena *arena, const struct msg_verdict *verdict, struct labels *out)
{
    struct err err = {0};
    enum err_code code = label_line(s->labeler, arena, verdict->db, verdict->gold, verdict->candidates,
                                    verdict->n_candidates, out, &err);
    if (code == ERR_OK) code = label_repair(s->labeler, verdict, out, &err);
    if (code != ERR_OK) {
        progress_clear(&s->progress);
        complain("%s: %s", verdict->id, err.text);
    }
    return code == ERR_OK && !out->gold_failed;
}

static bool on_verdict(void *ctx, struct msg_verdict *verdict)
{
    struct state *s = ctx;
    gpointer tag = GSIZE_TO_POINTER(verdict->tag);
    const struct asked *asked = g_hash_table_lookup(s->asked, tag);
    struct arena arena;
    struct labels labels;
    arena_init(&arena, 0);
    progress_count(&s->progress, verdict);
    struct labelled one = {.verdict = verdict,
                           .question = asked->question,
                           .generator = asked->generator,
                           .wrong = (const char *const *)asked->wrong};
    bool known = !verdict->gold || label(s, &arena, verdict, &labels);
    struct schema_index *schema = known && s->run->schemas
                                      ? labeler_schema(s->labeler, s->run->schemas, verdict->db, &s->run->config.limits)
                                      : NULL;
    if (known && verdict->gold) one.labels = &labels;
    one.schema = schema;
    if (known)
        s->run->each(s->run->ctx, &one);
    else
        s->run->skipped++;
    if (schema) schema_unref(schema);
    arena_free(&arena);
    g_hash_table_remove(s->asked, tag);
    msg_verdict_free(verdict);
    return true;
}

static void on_tick(void *ctx)
{
    struct state *s = ctx;
    double size = (double)s->logs.lines.size;
    if (s->show) progress_draw(&s->progress, size > 0 ? (double)s->logs.lines.offset / size : -1);
}

enum err_code labelled_run(struct labelled_run *run, struct err *err)
{
    struct engine *engine = NULL;
    const char *const *paths = run->cli->args + run->first;
    int n = run->cli->n_args - run->first;
    struct state s = {.run = run,
                      .err = err,
                      .logs = {.paths = paths, .n = n, .on_empty = complain_empty},
                      .labeler = labeler_new(&run->config.databases),
                      .asked = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, asked_free),
                      .show = terminal_progress() && !run->cli->settings.general.quiet};
    struct engine_loop loop = {.next = next_request, .each = on_verdict, .tick = on_tick, .ctx = &s, .in_order = true};
    enum err_code code = replay_read_feedback(run->cli, paths, n, NULL, &s.feedback, err);
    if (!code) code = engine_open(&run->config, &engine, err);
    progress_start(&s.progress);
    if (!code) code = engine_run(engine, &loop, err);
    progress_clear(&s.progress);
    engine_close(engine);
    logs_rewind(&s.logs);
    feedback_free(s.feedback);
    if (!code) run->unreached = report_unreached(s.labeler, 0) != 0;
    labeler_free(s.labeler);
    g_hash_table_destroy(s.asked);
    return code ? code : s.failed ? err->code : ERR_OK;
}
