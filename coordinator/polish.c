/* DESIGN: a model rewords the explanation of the chosen answer.
 *
 * When the verdict is complete, and before it is published, a polisher (a chat model, lib/llm) receives the explanation
 * and nothing else. If it knew the question, it might describe the question instead of the query. The complete verdict
 * waits at most until the polisher's timeout or the request's deadline. Only the reworded text, or a note about its
 * failure, is still added to it. Every other result is therefore stray during this wait.
 *
 * The text is accepted only if it has the same content (lib/text/paraphrase.h). It is shown beside the original
 * explanation.
 *
 * Rejected: polishing in the worker, because every candidate would be polished for one answer. Rejected: publishing the
 * verdict at once and the text later, because a request would then have two messages.
 */
#include "coordinator/internal.h"

#include "lib/sql/sql.h"
#include "lib/text/paraphrase.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 256, SPARE_BYTES = 200 };

bool polish_is_pending(const struct request *request)
{
    return request->polish.pending;
}

static struct msg_judged *chosen(const struct request *request, const struct msg_verdict *verdict)
{
    return verdict->chosen ? &request->judged[verdict->chosen - 1] : NULL;
}

static void add_note(struct request *request, struct msg_verdict *verdict, const char *why)
{
    const char *note = arena_printf(&request->arena, "the explanation was not reworded: %s", why);
    const char **notes = arena_new_array(&request->arena, verdict->n_notes + 1, const char *);
    if (!note || !notes) return;
    for (uint32_t i = 0; i < verdict->n_notes; i++) notes[i] = verdict->notes[i];
    notes[verdict->n_notes++] = note;
    verdict->notes = notes;
    request->core->stats.polish.failed++;
}

/* --- request --- */

/* Returns {"explanation": ...} as text. Returns NULL if the explanation is invalid UTF-8 or memory is short. Free with
 * free. */
static char *data_of(const char *explanation)
{
    json_t *json = json_pack("{s:s}", "explanation", explanation);
    char *data = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    return data;
}

static bool ask(struct request *request, const struct msg_verdict *verdict, int64_t deadline_ns)
{
    const struct core *core = request->core;
    const struct candidate_state *state = &request->states[verdict->chosen - 1];
    char *data = data_of(chosen(request, verdict)->explanation);
    const struct core_model_question question = {.key = request->key,
                                                 .hash = {state->hash[0], state->hash[1]},
                                                 .candidate = verdict->chosen - 1,
                                                 .premise = data,
                                                 .hypothesis = "",
                                                 .deadline_ns = deadline_ns,
                                                 .trace = spans_context(request)};
    bool asked = data && core->actions.polish(core->actions.ctx, &question);
    free(data);
    return asked;
}

bool polish_begin(struct request *request, struct msg_verdict *verdict)
{
    struct core *core = request->core;
    const struct msg_judged *judged = chosen(request, verdict);
    if (!core->actions.polish || !judged || !judged->explanation || !*judged->explanation) return false;
    int64_t now_ns = request->arrived_ns + verdict->total_ns, deadline_ns = now_ns + core->config.polish_ns;
    if (request->deadline_ns && request->deadline_ns < deadline_ns) deadline_ns = request->deadline_ns;
    if (deadline_ns <= now_ns) return false;
    core->stats.polish.asked++;
    if (!ask(request, verdict, deadline_ns)) {
        add_note(request, verdict, err_meaning(ERR_FULL));
        return false;
    }
    request->polish.pending = true;
    request->polish.verdict = *verdict;
    request->deadline_ns = deadline_ns;
    core_note_deadline(core, deadline_ns);
    return true;
}

/* --- response --- */

/* Writes the names of the statement's tables and columns, in the scratch arena. */
static uint32_t names_of(struct arena *scratch, const struct msg_text *sql, const char *names[MAX_NAMES])
{
    struct sql_stmt *stmt = NULL;
    uint32_t n = 0;
    if (sql_parse(scratch, sql->bytes, sql->len, NULL, &stmt) != ERR_OK) return 0;
    for (const struct sql_node *node = stmt->root; node && n < MAX_NAMES; node = sql_walk(stmt->root, node)) {
        bool is_name = (sql_is(node, SQL_COLUMN) || sql_is(node, SQL_TABLE)) && node->text;
        if (is_name && (names[n] = arena_strndup(scratch, node->text, node->text_len))) n++;
    }
    return n;
}

static bool has_control(const char *text)
{
    for (; *text; text++)
        if (g_ascii_iscntrl(*text) && *text != '\n') return true;
    return false;
}

/* Returns why the text is refused, or NULL if it is accepted. */
static const char *why_refused(struct request *request, const struct msg_judged *judged, const char *text)
{
    struct arena *scratch = &request->core->scratch;
    struct paraphrase_difference differs;
    const char *names[MAX_NAMES];
    if (!text || !*text || !g_utf8_validate(text, -1, NULL) || has_control(text))
        return "the model's text is empty or invalid";
    if (strlen(text) > 2 * strlen(judged->explanation) + SPARE_BYTES) return "the model's text is too long";
    arena_reset(scratch);
    uint32_t n = names_of(scratch, &judged->sql, names);
    if (paraphrase_check(scratch, text, judged->explanation, names, n, &differs)) return NULL;
    return arena_printf(&request->arena, "the model %s the %s '%s'", differs.added ? "added" : "lost", differs.kind,
                        differs.what);
}

static void hand_over(struct request *request)
{
    struct msg_verdict verdict = request->polish.verdict;
    request->polish.pending = false;
    decide_publish(request, &verdict);
}

void polish_give_up(struct request *request, const char *why)
{
    add_note(request, &request->polish.verdict, why);
    hand_over(request);
}

bool polish_awaits(const struct request *request, const uint64_t hash[2])
{
    if (!request->polish.pending) return false;
    return memcmp(request->states[request->polish.verdict.chosen - 1].hash, hash, sizeof request->states->hash) == 0;
}

void polish_take(struct request *request, const struct msg_result *result)
{
    enum err_code code = err_from_name(result->code);
    struct msg_judged *judged = chosen(request, &request->polish.verdict);
    const char *text = result->explanation ? result->explanation->prose : NULL;
    const char *why =
        code ? (result->message ? result->message : err_meaning(code)) : why_refused(request, judged, text);
    if (!why) judged->polished = arena_new(&request->arena, struct msg_polished);
    if (judged->polished)
        *judged->polished = (struct msg_polished){text, result->message};
    else
        add_note(request, &request->polish.verdict, why ? why : err_meaning(ERR_LIMIT_MEMORY));
    hand_over(request);
}
