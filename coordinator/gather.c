/* Combines a candidate's results, one for each family, into its entry in the verdict. */
#include "coordinator/internal.h"

#include "lib/base/error.h"

#include <stdlib.h>
#include <string.h>

/* Writes the signals of a family without a result to `out`, as unavailable. `out` has VSIG_ID_END entries. Returns
 * their number. */
static uint32_t unavailable_family(enum vsig_family family, const char *reason, struct msg_signal *out)
{
    unsigned n_all;
    uint32_t n = 0;
    const struct vsig_def *const *all = vsig_all(&n_all);
    for (unsigned i = 0; i < n_all; i++)
        if (all[i]->family == family && !all[i]->off_by_default)
            out[n++] = (struct msg_signal){.id = (uint32_t)all[i]->id, .state = MSG_UNAVAILABLE, .reason = reason};
    return n;
}

static int by_id(const void *a, const void *b)
{
    const struct msg_signal *left = a, *right = b;
    return left->id < right->id ? -1 : left->id > right->id;
}

static const char *name_of(uint32_t id)
{
    const struct vsig_def *def = vsig_by_id((enum vsig_id)id);
    return def ? def->name : NULL;
}

/* Returns why this family has no result. Returns NULL if it has a result or had no task. */
static const char *why_unavailable(const struct candidate_state *state, unsigned family)
{
    const struct msg_result *result = state->results[family];
    if (!result) return state->pending >> family & 1 ? err_name(ERR_DEADLINE) : NULL;
    return !result->n_signals && result->code && err_from_name(result->code) != ERR_OK ? result->code : NULL;
}

static void gather_signals(struct request *request, uint32_t index)
{
    const struct candidate_state *state = &request->states[index];
    struct msg_judged *judged = &request->judged[index];
    const char *why[VSIG_FAMILY_COUNT];
    uint32_t room = 0, room_for_unavailable = 0;
    for (unsigned f = 0; f < VSIG_FAMILY_COUNT; f++) {
        why[f] = why_unavailable(state, f);
        if (why[f]) room_for_unavailable = VSIG_ID_END;
        room += state->results[f] ? state->results[f]->n_signals : 0;
    }
    judged->signals = arena_new_array(&request->arena, room + room_for_unavailable, struct msg_signal);
    if (!judged->signals) return;
    for (unsigned f = 0; f < VSIG_FAMILY_COUNT; f++) {
        const struct msg_result *result = state->results[f];
        struct msg_signal *into = judged->signals + judged->n_signals;
        if (why[f]) {
            judged->n_signals += unavailable_family((enum vsig_family)f, why[f], into);
        } else if (result && result->n_signals) {
            memcpy(into, result->signals, result->n_signals * sizeof *into);
            judged->n_signals += result->n_signals;
        }
    }
    qsort(judged->signals, judged->n_signals, sizeof *judged->signals, by_id);
    for (uint32_t i = 0; i < judged->n_signals; i++) judged->signals[i].name = name_of(judged->signals[i].id);
}

/* Removes all signals, and all findings but invalid_sql, of invalid SQL. Some families may have judged the statement
 * before another family failed to run it, and the verdict must not depend on this order. */
static void forget_signals(struct msg_judged *judged)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < judged->n_findings; i++)
        if (judged->findings[i].signal == MSG_INVALID_SQL) judged->findings[n++] = judged->findings[i];
    judged->n_findings = n;
    judged->n_signals = 0;
}

/* Collects the findings. Several families may report the same invalid SQL, which is stored once. */
static void gather_findings(struct request *request, uint32_t index)
{
    const struct candidate_state *state = &request->states[index];
    struct msg_judged *judged = &request->judged[index];
    uint32_t room = 0;
    for (unsigned f = 0; f < VSIG_FAMILY_COUNT; f++) room += state->results[f] ? state->results[f]->n_findings : 0;
    judged->findings = arena_new_array(&request->arena, room, struct msg_finding);
    if (!judged->findings) return;
    for (unsigned f = 0; f < VSIG_FAMILY_COUNT; f++) {
        const struct msg_result *result = state->results[f];
        for (uint32_t i = 0; result && i < result->n_findings; i++) {
            struct msg_finding finding = result->findings[i];
            bool invalid = finding.signal == MSG_INVALID_SQL;
            if (invalid && judged->invalid) continue;
            judged->invalid = judged->invalid || invalid;
            if (!invalid) finding.name = name_of(finding.signal);
            if (finding.name) judged->findings[judged->n_findings++] = finding;
        }
    }
}

/* Returns the outcome of the execution family, which may have a sample. If there is none, returns the outcome of the
 * explain family. */
static struct msg_execution *execution_of(const struct candidate_state *state)
{
    static const enum vsig_family families[] = {VSIG_EXECUTION, VSIG_EXPLAIN};
    for (unsigned i = 0; i < G_N_ELEMENTS(families); i++)
        if (state->results[families[i]] && state->results[families[i]]->execution)
            return state->results[families[i]]->execution;
    return NULL;
}

static void gather_explanation(struct request *request, uint32_t index)
{
    struct candidate_state *state = &request->states[index];
    struct msg_judged *judged = &request->judged[index];
    struct msg_explanation *explanation =
        state->results[VSIG_EXPLAIN] ? state->results[VSIG_EXPLAIN]->explanation : NULL;
    if (!explanation) return;
    judged->explanation = explanation->prose;
    if (request->options.explain == MSG_EXPLAIN_FULL) judged->explained = explanation;
    float *features = arena_new_array(&request->arena, FEATURE_COUNT, float);
    if (features && models_read_features(explanation, features)) state->features = features;
}

void gather_candidate(struct request *request, uint32_t index)
{
    const struct candidate_state *state = &request->states[index];
    struct msg_judged *judged = &request->judged[index];
    judged->judged = true;
    /* the candidate may have been gathered before, without an opinion (consult.c) */
    judged->n_signals = judged->n_findings = 0;
    gather_signals(request, index);
    gather_findings(request, index);
    if (judged->invalid) {
        judged->p_correct = 0;
        forget_signals(judged);
    }
    judged->execution = execution_of(state);
    if (!judged->invalid) gather_explanation(request, index);
}

const char *const *gather_family_names(struct request *request, uint32_t bits, uint32_t *n)
{
    const char **names = arena_new_array(&request->arena, VSIG_FAMILY_COUNT, const char *);
    *n = 0;
    for (unsigned f = 0; names && f < VSIG_FAMILY_COUNT; f++)
        if (bits >> f & 1) names[(*n)++] = vsig_family_name((enum vsig_family)f);
    return names;
}
