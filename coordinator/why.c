/* Explains why a candidate was rejected, in one sentence for people: the failed test, its number, and the evidence.
 *
 * A sentence contains only facts that contributed to the decision. It names the test that failed. Its evidence is a
 * finding of that candidate, with the clause of its SQL. Values of the database never appear in a sentence, because
 * messages of findings contain none. This file also writes the notes: other facts that help to understand the
 * judgement.
 */
#include "coordinator/internal.h"

#include "lib/base/digits.h"
#include "lib/learn/logit.h"
#include "lib/sql/sql.h"
#include "proto/message/findings.h"

#include <string.h>

enum { CLAUSE_BYTES = 60, MAX_GROUPS = 4, MAX_NOTES = 3 + 3 * MAX_GROUPS };

/* --- one sentence --- */

/* Returns the finding with the highest severity, among those that vote and notes about the data. Returns the first one
 * of equal severity, or NULL if there is none. */
static const struct msg_finding *worst_finding(const struct msg_judged *judged)
{
    const struct msg_finding *worst = NULL;
    for (uint32_t i = 0; i < judged->n_findings; i++) {
        const struct msg_finding *finding = &judged->findings[i];
        bool counts = finding->severity != MSG_NOTE || vsig_tells_of_data((enum vsig_id)finding->signal);
        if (!counts || !finding->message) continue;
        if (!worst || finding->severity > worst->severity) worst = finding;
    }
    return worst;
}

/* Returns the text with each run of white space as one blank, cut to at most `max` bytes at the end of a character. */
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

/* Returns the worst finding as text, such as "; `T1.id = T2.friend_id`: no foreign key joins these columns
 * (incorrect_join_predicate)". Returns "" if there is none. */
static const char *evidence(struct arena *arena, const struct msg_judged *judged)
{
    const struct msg_finding *finding = worst_finding(judged);
    if (!finding) return "";
    const char *text = finding->n_clauses && finding->clauses[0].text ? finding->clauses[0].text : NULL;
    const char *clause = text ? shorten(arena, text, CLAUSE_BYTES) : NULL;
    const char *mark = clause ? sql_quote_mark(clause, strlen(clause)) : "";
    const char *out = arena_printf(arena, "; %s%s%s%s%s (%s%s)", mark, clause ? clause : "", mark, clause ? ": " : "",
                                   finding->message, finding->name ? finding->name : FINDINGS_INVALID_SQL,
                                   finding->severity == MSG_NOTE ? ", a note" : "");
    return out ? out : "";
}

/* Returns an addition to the sentence if the candidate failed the built-in verifier only because of the other
 * candidates: its own content reached the threshold. Returns "" otherwise. */
static const char *context_sentence(const struct request *request, uint32_t index)
{
    const struct msg_judged *judged = &request->judged[index];
    const struct verifier_model *model = request->core->config.models->verifier;
    const struct candidate_state *state = &request->states[index];
    if (!model || !state->features || !judged->verifier || strcmp(judged->verifier, "builtin") != 0) return "";
    struct verifier_subject subject = {request->message,       request->judged, request->n,
                                       request->n_done_prefix, index,           state->features,
                                       request->options.order};
    struct verifier_parts parts = verifier_parts(model, &subject);
    double least = learn_logit(request->entailment_threshold, 0);
    return parts.content >= least && parts.context < 0 ? ", judged in comparison with the other candidates" : "";
}

static enum err_code code_of(const char *name)
{
    return name ? err_from_name(name) : ERR_INTERNAL;
}

/* Returns true if the statement was refused without running it. */
static bool is_refusal(enum err_code code)
{
    switch (code) {
    case ERR_REFUSED:
    case ERR_ENCODING:
    case ERR_LIMIT_TOKENS:
    case ERR_LIMIT_DEPTH:
    case ERR_LIMIT_COUNT:
    case ERR_DENIED:
    case ERR_TOO_COSTLY: return true;
    default: return false;
    }
}

static const char *fact_of(const struct msg_finding *finding, const char *key)
{
    for (uint32_t i = 0; i < finding->n_facts; i++)
        if (strcmp(finding->facts[i].key, key) == 0) return finding->facts[i].value;
    return NULL;
}

/* Returns true if our parser or the sandbox refused the statement. The sandbox reports this as the engine's error. */
static bool is_refused(const struct msg_judged *judged, const struct msg_finding *invalid)
{
    enum err_code code = code_of(fact_of(invalid, "code"));
    /* ERR_LIMIT_BYTES means here that the text is too long, since the statement never ran */
    bool by_parser = is_refusal(code) || code == ERR_LIMIT_BYTES;
    return by_parser || (judged->execution && is_refusal(code_of(judged->execution->code)));
}

static const char *invalid_sentence(struct arena *arena, const struct msg_judged *judged)
{
    for (uint32_t i = 0; i < judged->n_findings; i++) {
        const struct msg_finding *finding = &judged->findings[i];
        if (finding->signal != MSG_INVALID_SQL || !finding->message) continue;
        return arena_printf(arena, "%s: %s", is_refused(judged, finding) ? "refused" : "the query does not execute",
                            finding->message);
    }
    return "the query does not execute";
}

const char *why_invalid(struct request *request, uint32_t index)
{
    return invalid_sentence(&request->arena, &request->judged[index]);
}

static const char *run_sentence(struct arena *arena, const struct msg_judged *judged)
{
    enum err_code code = code_of(judged->execution ? judged->execution->code : NULL);
    return arena_printf(arena, "%s: %s", is_refusal(code) ? "refused" : "the query did not finish", err_meaning(code));
}

/* Describes how two candidates differ if the first one has no finding. */
static const char *difference(struct arena *arena, const struct msg_judged *judged, const struct msg_judged *other)
{
    if (judged->entailment < other->entailment) {
        struct digits_pair p = digits_apart(judged->entailment, other->entailment, 2);
        const char *out = arena_printf(
            arena, "; the explanation of this candidate answers the question less well (probability %s against %s)",
            p.first, p.second);
        return out ? out : "";
    }
    if (isnan(judged->entailment) && !isnan(other->entailment))
        return "; the explanation of this candidate was not verified";
    if (judged->count < other->count) return "; this candidate has fewer votes";
    return "; no problem was found in this candidate";
}

/* Explains why the preferred candidate ranks above this one. Neither fails an earlier test than the other. */
static const char *rank_sentence(struct request *request, uint32_t index, uint32_t best)
{
    struct arena *arena = &request->arena;
    const struct msg_judged *judged = &request->judged[index], *other = &request->judged[best];
    const char *because = evidence(arena, judged);
    if (!*because) because = difference(arena, judged, other);
    if (isnan(judged->p_correct) || isnan(other->p_correct))
        return arena_printf(arena, "candidate %u is preferred%s", best + 1, because);
    struct digits_pair p = digits_apart(other->p_correct, judged->p_correct, 2);
    const char *how = other->p_correct > judged->p_correct ? "is more likely correct" : "ranks first";
    return arena_printf(arena, "candidate %u %s: P(correct) %s against %s%s", best + 1, how, p.first, p.second,
                        because);
}

/* Formats a number that is below the threshold of a test. The sentence has both numbers and the evidence against the
 * candidate. */
static const char *threshold_sentence(struct arena *arena, const struct msg_judged *judged, double p, double least,
                                      const char *before, const char *between, const char *after)
{
    struct digits_pair digits = digits_apart(p, least, 2);
    return arena_printf(arena, "%s%s%s%s%s%s", before, digits.first, between, digits.second, after,
                        evidence(arena, judged));
}

/* Says that the best candidate ties with another one, and how their results differ. */
static const char *tie_sentence(struct request *request, uint32_t best)
{
    uint32_t other = request->tied - 1, first = MIN(best, other), second = MAX(best, other);
    uint32_t rows = request->judged[first].execution->rows, others = request->judged[second].execution->rows;
    const char *how = rows == others ? "they have as many rows, with other values"
                                     : arena_printf(&request->arena, "%u and %u rows", rows, others);
    return arena_printf(&request->arena, "cannot tell candidates %u and %u apart; their results differ: %s", first + 1,
                        second + 1, how ? how : "");
}

static const char *sentence_for(struct request *request, uint32_t index, uint32_t best)
{
    struct arena *arena = &request->arena;
    const struct msg_judged *judged = &request->judged[index];
    if (judged->invalid) return invalid_sentence(arena, judged);
    if (request->tied && (index == best || index == request->tied - 1)) return tie_sentence(request, best);
    switch (rules_test(request, index)) {
    case RULES_NOT_RUN: return run_sentence(arena, judged);
    case RULES_LOW_COVERAGE: return arena_printf(arena, "it was not judged: %s", coverage_why(request, index));
    case RULES_NO_DATA: return "it was judged from the schema alone, and no model is trained for that";
    case RULES_LINKING:
        return arena_printf(arena, "the schema linker was not sure about a table or column%s", evidence(arena, judged));
    case RULES_VERIFIER: {
        const char *after = arena_printf(arena, ")%s", context_sentence(request, index));
        return threshold_sentence(arena, judged, judged->entailment, request->entailment_threshold,
                                  "the explanation does not answer the question (probability ", " < ",
                                  after ? after : ")");
    }
    case RULES_SIGNALS:
        return threshold_sentence(arena, judged, request->states[index].score.p,
                                  request->core->config.models->label_threshold,
                                  "its signals indicate an error (P(correct) ", " < ", ")");
    case RULES_COMBINED:
    case RULES_PASSES: break;
    }
    if (best != NO_CANDIDATE && best != index) return rank_sentence(request, index, best);
    if (request->ask.clarification) return "the clarification question must be answered first";
    if (rules_test(request, index) == RULES_PASSES) return "the deadline passed before all candidates were judged";
    return isnan(judged->p_correct) ? "no candidate can be validated without a model"
                                    : threshold_sentence(arena, judged, judged->p_correct, request->threshold,
                                                         "P(correct) ", " is below the threshold ", "");
}

void why_not_chosen(struct request *request, uint32_t chosen, uint32_t best)
{
    for (uint32_t i = 0; i < request->n_done_prefix; i++) {
        struct msg_judged *judged = &request->judged[i];
        if (!judged->why && judged->judged && i != chosen) judged->why = sentence_for(request, i, best);
    }
}

const char *why_not_valid(struct request *request, uint32_t best)
{
    if (request->tied) return tie_sentence(request, best);
    return arena_printf(&request->arena, "no candidate validates; candidate %u is the closest, but %s", best + 1,
                        sentence_for(request, best, best));
}

const char *why_none(struct request *request, const char **reason)
{
    for (uint32_t i = 0; i < request->n_done_prefix; i++) {
        const struct msg_judged *judged = &request->judged[i];
        if (!judged->judged || judged->invalid || !judged->execution) continue;
        *reason = err_name(code_of(judged->execution->code));
        return arena_printf(&request->arena, "no candidate finishes; candidate %u: %s", i + 1,
                            run_sentence(&request->arena, judged));
    }
    *reason = "invalid_sql";
    return "no candidate executes";
}

/* --- notes --- */

/* Candidates that get the same note for the same reason. */
struct group {
    const char *reason; /* wire name of an error, or other text */
    const char *detail; /* further text about the first candidate; may be NULL */
    GString *numbers;
    uint32_t n;
};

static void add_to_group(struct group *groups, uint32_t *n, const char *reason, const char *detail, uint32_t index)
{
    uint32_t g = 0;
    while (g < *n && strcmp(groups[g].reason, reason) != 0) g++;
    if (g == MAX_GROUPS) return;
    if (g == *n) groups[(*n)++] = (struct group){reason, detail, g_string_new(NULL), 0};
    g_string_append_printf(groups[g].numbers, "%s%u", groups[g].n++ ? ", " : "", index + 1);
}

/* Returns the error of the remote verifier. *detail is the verifier's message, or NULL. */
static const char *why_silent(const struct candidate_state *state, const char **detail)
{
    *detail = state->remote_answer.message;
    return err_name(state->remote_answer.code);
}

/* Returns why a candidate that executes was not verified. Returns NULL if it was verified. */
static const char *why_unverified(struct request *request, uint32_t index, const char **detail)
{
    const struct msg_judged *judged = &request->judged[index];
    const struct candidate_state *state = &request->states[index];
    const struct msg_result *result = state->results[VSIG_EXPLAIN];
    bool ran = judged->execution && err_from_name(judged->execution->code) == ERR_OK;
    if (!state->needs_tasks || !judged->judged || judged->invalid || !ran || !isnan(judged->entailment)) return NULL;
    if (coverage_is_low(request, index)) return NULL; /* another note reports this */
    if (!result) return err_name(ERR_DEADLINE);
    if (state->verifier_asked && state->remote_answer.code) return why_silent(state, detail);
    return err_from_name(result->code) ? result->code : "nothing to verify";
}

static const char *why_fallback(struct request *request, uint32_t index, const char **detail)
{
    const struct candidate_state *state = &request->states[index];
    return state->verifier_asked && state->remote_answer.code ? why_silent(state, detail) : NULL;
}

/* Returns the number of unavailable checks and a reason, such as "24 of 24: a name in it cannot be resolved here".
 * Returns NULL if all checks were available. */
static const char *why_not_checked(struct request *request, uint32_t index, const char **detail)
{
    (void)detail;
    struct coverage_count count = coverage_count(&request->judged[index]);
    if (!count.unavailable) return NULL;
    return arena_printf(&request->arena, "%u of %u: %s%s", count.unavailable, count.signals,
                        coverage_reason(count.reason), count.several ? ", and others" : "");
}

static void add_notes(struct request *request, struct msg_verdict *verdict, const char **notes, const char *said,
                      const char *(*reason_of)(struct request *request, uint32_t index, const char **detail))
{
    struct group groups[MAX_GROUPS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < request->n_done_prefix; i++) {
        const char *detail = NULL, *reason = reason_of(request, i, &detail);
        if (reason) add_to_group(groups, &n, reason, detail, i);
    }
    for (uint32_t g = 0; g < n; g++) {
        const char *detail = groups[g].detail;
        const char *note =
            arena_printf(&request->arena, "candidate%s %s: %s (%s%s%s)", groups[g].n > 1 ? "s" : "",
                         groups[g].numbers->str, said, groups[g].reason, detail ? ": " : "", detail ? detail : "");
        if (note) notes[verdict->n_notes++] = note;
        g_string_free(groups[g].numbers, TRUE);
    }
}

void why_notes(struct request *request, struct msg_verdict *verdict)
{
    const struct core *core = request->core;
    bool built_in = core->config.models->verifier != NULL, explains = request->families >> VSIG_EXPLAIN & 1;
    const char **notes = arena_new_array(&request->arena, MAX_NOTES, const char *);
    if (!notes) return;
    verdict->notes = notes;
    if (rules_of(request)->verifier_alone && !(explains && (built_in || core->actions.verify)))
        notes[verdict->n_notes++] = "no verifier is available, so the signals alone decided";
    if (request->consult.note) notes[verdict->n_notes++] = request->consult.note;
    if (request->repair.note) notes[verdict->n_notes++] = request->repair.note;
    if (request->ask.note) notes[verdict->n_notes++] = request->ask.note;
    add_notes(request, verdict, notes, "unavailable checks", why_not_checked);
    if (!explains) return;
    if (core->actions.verify && built_in)
        add_notes(request, verdict, notes, "the remote verifier did not answer, so the built-in verifier judged",
                  why_fallback);
    if (core->actions.verify || built_in)
        add_notes(request, verdict, notes, "not verified, so the signals alone decided", why_unverified);
}
