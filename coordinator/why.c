/* Why a candidate was passed over, in one sentence for a person: the judge that spoke against it with its number, and
 * what it points at. Nothing is claimed that was not decided by: a sentence names the test that failed, and its
 * evidence is a finding of that candidate, marked in its SQL. Values of the database never enter a sentence (messages
 * of findings have none). And notes: what else to know of how the judgement came about. */
#include "coordinator/internal.h"

#include "proto/invalid.h"

#include <string.h>

enum { CLAUSE_BYTES = 60, MAX_NOTES = 8 };

/* --- one sentence --- */

/* The worst finding that votes; the first of equals. NULL: none. */
static const struct msg_finding *worst_finding(const struct msg_judged *judged)
{
    const struct msg_finding *worst = NULL;
    for (uint32_t i = 0; i < judged->n_findings; i++) {
        const struct msg_finding *finding = &judged->findings[i];
        if (finding->severity == MSG_NOTE || !finding->message) continue;
        if (!worst || finding->severity > worst->severity) worst = finding;
    }
    return worst;
}

/* At most `max` bytes, at the end of a character; white space as single blanks. */
static const char *shorten(struct arena *arena, const char *text, size_t max)
{
    char *out = arena_strndup(arena, text, strnlen(text, max + 1));
    size_t len = 0;
    for (const char *c = out; out && *c; c++) {
        bool blank = *c == ' ' || *c == '\t' || *c == '\n' || *c == '\r';
        if (!blank || (len && out[len - 1] != ' ')) out[len++] = blank ? ' ' : *c;
    }
    if (!out) return NULL;
    bool cut = len > max;
    if (cut)
        for (len = max; len && ((unsigned char)out[len] & 0xC0) == 0x80;) len--;
    out[len] = '\0';
    return cut ? arena_printf(arena, "%s...", out) : out;
}

/* "; `T1.id = T2.friend_id`: no foreign key joins these columns (incorrect_join_predicate)", or nothing. */
static const char *evidence(struct arena *arena, const struct msg_judged *judged)
{
    const struct msg_finding *finding = worst_finding(judged);
    if (!finding) return "";
    const char *text = finding->n_clauses && finding->clauses[0].text ? finding->clauses[0].text : NULL;
    const char *clause = text ? shorten(arena, text, CLAUSE_BYTES) : NULL;
    const char *out =
        arena_printf(arena, "; %s%s%s%s (%s)", clause ? "`" : "", clause ? clause : "", clause ? "`: " : "",
                     finding->message, finding->name ? finding->name : MSG_INVALID_NAME);
    return out ? out : "";
}

/* What the built-in verifier went by, where that says more than its number: the candidate alone would have passed. */
static const char *against(const struct request *request, uint32_t index)
{
    const struct msg_judged *judged = &request->judged[index];
    const struct verifier_model *model = request->core->config.models->verifier;
    const struct slot *slot = &request->slots[index];
    if (!model || !slot->features || !judged->verifier || strcmp(judged->verifier, "builtin") != 0) return "";
    struct verifier_subject subject = {request->asked,   request->judged, request->n,
                                       request->decided, index,           slot->features};
    struct verifier_parts parts = verifier_parts(model, &subject);
    double least = log(request->entailment_threshold / (1 - request->entailment_threshold));
    return parts.content >= least && parts.context < 0 ? ", because of what the other candidates say" : "";
}

static const char *of_invalid(struct arena *arena, const struct msg_judged *judged)
{
    for (uint32_t i = 0; i < judged->n_findings; i++)
        if (judged->findings[i].signal == MSG_INVALID_SQL && judged->findings[i].message)
            return arena_printf(arena, "it does not execute: %s", judged->findings[i].message);
    return "it does not execute";
}

static const char *of_run(struct arena *arena, const struct msg_judged *judged)
{
    const char *code = judged->execution ? judged->execution->code : NULL;
    return code ? arena_printf(arena, "it did not run to its end: %s", err_meaning(err_from_name(code)))
                : "it did not run to its end";
}

/* It passed, or fails no more than the one that was preferred. */
static const char *of_rank(struct request *request, uint32_t index, uint32_t best)
{
    const struct msg_judged *judged = &request->judged[index], *other = &request->judged[best];
    if (isnan(judged->p_correct) || isnan(other->p_correct))
        return arena_printf(&request->arena, "candidate %u is preferred%s", best + 1,
                            evidence(&request->arena, judged));
    const char *how = other->p_correct > judged->p_correct ? "is likelier to be right" : "comes first";
    return arena_printf(&request->arena, "candidate %u %s: P(correct) %.2f against %.2f%s", best + 1, how,
                        other->p_correct, judged->p_correct, evidence(&request->arena, judged));
}

static const char *why(struct request *request, uint32_t index, uint32_t best)
{
    struct arena *arena = &request->arena;
    const struct msg_judged *judged = &request->judged[index];
    if (judged->invalid) return of_invalid(arena, judged);
    switch (decide_test(request, index)) {
    case DECIDE_RUNS: return of_run(arena, judged);
    case DECIDE_VERIFIER:
        return arena_printf(arena, "the explanation does not answer the question (P %.2f < %.2f)%s%s",
                            judged->entailment, request->entailment_threshold, against(request, index),
                            evidence(arena, judged));
    case DECIDE_SIGNALS:
        return arena_printf(arena, "its signals speak against it (P %.2f < %.2f)%s", request->slots[index].score.p,
                            request->core->config.models->label_threshold, evidence(arena, judged));
    case DECIDE_BOTH:
        if (!isnan(judged->p_correct) && best == NO_CANDIDATE)
            return arena_printf(arena, "P(correct) %.2f is below %.2f%s", judged->p_correct, request->threshold,
                                evidence(arena, judged));
        break;
    case DECIDE_PASSES: break;
    }
    if (best != NO_CANDIDATE && best != index) return of_rank(request, index, best);
    return isnan(judged->p_correct) ? "without a model nothing validates"
                                    : arena_printf(arena, "P(correct) %.2f is below %.2f%s", judged->p_correct,
                                                   request->threshold, evidence(arena, judged));
}

void why_not_chosen(struct request *request, uint32_t chosen, uint32_t best)
{
    for (uint32_t i = 0; i < request->decided; i++) {
        struct msg_judged *judged = &request->judged[i];
        if (!judged->why && judged->judged && i != chosen) judged->why = why(request, i, best);
    }
}

const char *why_not_valid(struct request *request, uint32_t best)
{
    return arena_printf(&request->arena, "nothing validates; candidate %u comes nearest, but %s", best + 1,
                        why(request, best, best));
}

/* --- notes --- */

/* Candidates of which the same is to be said, because of the same reason. */
struct group {
    const char *reason; /* wire name of an error, or a word of ours */
    GString *numbers;
    uint32_t n;
};

static void add_to_group(struct group *groups, uint32_t *n, const char *reason, uint32_t index)
{
    uint32_t g = 0;
    while (g < *n && strcmp(groups[g].reason, reason) != 0) g++;
    if (g == MAX_NOTES / 2) return;
    if (g == *n) groups[(*n)++] = (struct group){reason, g_string_new(NULL), 0};
    g_string_append_printf(groups[g].numbers, "%s%u", groups[g].n++ ? ", " : "", index + 1);
}

/* Why the verifier had nothing to say of a candidate that executes; NULL: it had. */
static const char *why_unverified(const struct request *request, uint32_t index)
{
    const struct msg_judged *judged = &request->judged[index];
    const struct slot *slot = &request->slots[index];
    const struct msg_result *result = slot->results[VSIG_EXPLAIN];
    bool ran = judged->execution && err_from_name(judged->execution->code) == ERR_OK;
    if (!slot->asks || !judged->judged || judged->invalid || !ran || !isnan(judged->entailment)) return NULL;
    if (!result) return err_name(ERR_DEADLINE);
    if (slot->asked && slot->remote.code) return err_name(slot->remote.code);
    return err_from_name(result->code) ? result->code : "nothing to verify";
}

static const char *why_stood_in(const struct request *request, uint32_t index)
{
    const struct slot *slot = &request->slots[index];
    return slot->asked && slot->remote.code ? err_name(slot->remote.code) : NULL;
}

static void add_notes(struct request *request, struct msg_verdict *verdict, const char **notes, const char *said,
                      const char *(*reason_of)(const struct request *request, uint32_t index))
{
    struct group groups[MAX_NOTES / 2];
    uint32_t n = 0;
    for (uint32_t i = 0; i < request->decided; i++) {
        const char *reason = reason_of(request, i);
        if (reason) add_to_group(groups, &n, reason, i);
    }
    for (uint32_t g = 0; g < n; g++) {
        const char *note = arena_printf(&request->arena, "candidate%s %s: %s (%s)", groups[g].n > 1 ? "s" : "",
                                        groups[g].numbers->str, said, groups[g].reason);
        if (note) notes[verdict->n_notes++] = note;
        g_string_free(groups[g].numbers, TRUE);
    }
}

void why_notes(struct request *request, struct msg_verdict *verdict)
{
    const struct core *core = request->core;
    bool built_in = core->config.models->verifier != NULL, explains = request->families >> VSIG_EXPLAIN & 1;
    const char **notes = arena_new_array(&request->arena, MAX_NOTES + 1, const char *);
    if (!notes) return;
    verdict->notes = notes;
    if (request->options.strategy == MSG_CYCLESQL && !(explains && (built_in || core->actions.verify)))
        notes[verdict->n_notes++] = "there is no verifier: the signals alone decided";
    if (!explains) return;
    if (core->actions.verify && built_in)
        add_notes(request, verdict, notes, "the remote verifier did not answer, the built-in one judged", why_stood_in);
    if (core->actions.verify || built_in)
        add_notes(request, verdict, notes, "not verified, the signals alone decided", why_unverified);
}
