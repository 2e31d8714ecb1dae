/* Fills the two vectors of a candidate (votes.h): levels for the label model, and features for the classifier.
 *
 * One table of signals and request columns defines the names and values of both vectors, so training and judging cannot
 * differ. The layouts of the vectors are built once. A caller may compute the sums over all candidates once
 * (votes_company) and pass them for each candidate. */
#include "scoring/votes.h"

#include "signals/vsig.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NAMES = 3 * VSIG_ID_END + 32, VOTE_LEVELS = 3 };

/* --- comparison with the other candidates --- */

struct others {
    double share;      /* the candidate's share of all votes */
    double agreement;  /* share of its result, its own votes included, among votes of candidates that ran */
    double better;     /* share of results with more votes than its own, among votes of candidates that ran */
    double executable; /* share of the judged candidates that ran */
    double results;    /* number of different results */
    double fired_gap;  /* its fired signals minus the least number among candidates that ran */
    double same_shape; /* share of results with as many columns, among votes of candidates that ran */
    double rank;       /* position among the distinct candidates */
    double score_gap;  /* best score minus its generator's score */
};

bool votes_ran(const struct msg_judged *judged)
{
    return judged->judged && !judged->invalid && judged->execution && judged->execution->code &&
           strcmp(judged->execution->code, "ok") == 0;
}

bool votes_same_result(const struct msg_judged *a, const struct msg_judged *b)
{
    return votes_ran(a) && votes_ran(b) && a->execution->rows == b->execution->rows &&
           memcmp(a->execution->digest, b->execution->digest, sizeof a->execution->digest) == 0;
}

double votes_count(const struct msg_judged *judged)
{
    return judged->count ? judged->count : 1;
}

/* True for signals of a language model. They are not counted, because a language model reports only on some
 * candidates. */
static bool is_llm(uint32_t id)
{
    const struct vsig_def *def = vsig_by_id((enum vsig_id)id);
    return def && def->family == VSIG_LLM;
}

static unsigned count_fired(const struct msg_judged *judged)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < judged->n_signals; i++)
        n += judged->signals[i].state == MSG_FIRED && !is_llm(judged->signals[i].id);
    return n;
}

/* Returns the index in `company` of the candidate's result. Returns -1 if it is not there. */
static int find_result(const struct votes_company *company, const struct msg_judged *judged)
{
    for (uint32_t i = 0; i < company->n_results; i++)
        if (votes_same_result(company->results[i].first, judged)) return (int)i;
    return -1;
}

static void look_at_seen(struct votes_company *out, const struct msg_judged *judged)
{
    out->judged += judged->judged;
    if (!votes_ran(judged)) return;
    unsigned fired = count_fired(judged);
    int result = find_result(out, judged);
    if (fired < out->least_fired) out->least_fired = fired;
    if (result >= 0) out->results[result].votes += votes_count(judged);
    out->ran++;
    out->ran_votes += votes_count(judged);
}

void votes_look_around(const struct msg_judged *candidates, uint32_t n, uint32_t n_seen, struct votes_company *out)
{
    *out = (struct votes_company){.best_score = NAN, .least_fired = UINT_MAX};
    for (uint32_t i = 0; i < n; i++) {
        if (candidates[i].same_as) continue;
        out->votes += votes_count(&candidates[i]);
        if (!(candidates[i].score <= out->best_score)) out->best_score = fmax(out->best_score, candidates[i].score);
    }
    for (uint32_t i = 0; i < n_seen && i < VOTES_MAX_RESULTS; i++)
        if (votes_ran(&candidates[i]) && find_result(out, &candidates[i]) < 0)
            out->results[out->n_results++].first = &candidates[i];
    for (uint32_t i = 0; i < n_seen; i++) look_at_seen(out, &candidates[i]);
}

/* Computes the numbers from votes, rank and score. These are known before any candidate runs, so all candidates
 * count. */
static void compare_lists(const struct votes_subject *s, const struct votes_company *company, struct others *out)
{
    const struct msg_judged *own = &s->candidates[s->index];
    for (uint32_t i = 0; s->places && i < s->index; i++) out->rank += !s->candidates[i].same_as;
    if (!s->places) out->rank = NAN;
    out->share = votes_count(own) / company->votes;
    out->score_gap = company->best_score - own->score;
}

static double votes_for_result(const struct votes_subject *s, const struct votes_company *company)
{
    const struct msg_judged *own = &s->candidates[s->index];
    int result = find_result(company, own);
    if (result >= 0) return company->results[result].votes;
    double votes = 0;
    for (uint32_t i = 0; i < s->n_seen; i++)
        if (votes_same_result(own, &s->candidates[i])) votes += votes_count(&s->candidates[i]);
    return votes;
}

static double votes_for_shape(const struct votes_subject *s)
{
    const struct msg_judged *own = &s->candidates[s->index];
    double votes = 0;
    for (uint32_t i = 0; i < s->n_seen; i++) {
        const struct msg_judged *other = &s->candidates[i];
        if (votes_ran(other) && other->execution->columns == own->execution->columns) votes += votes_count(other);
    }
    return votes;
}

/* Computes the numbers from the results of the candidates judged so far. */
static void compare_results(const struct votes_subject *s, const struct votes_company *company, struct others *out)
{
    const struct msg_judged *own = &s->candidates[s->index];
    bool ran = votes_ran(own);
    double own_votes = ran ? votes_for_result(s, company) : 0;
    for (uint32_t i = 0; i < company->n_results; i++)
        if (company->results[i].votes > own_votes) out->better += company->results[i].votes;
    out->results = company->n_results;
    out->executable = company->judged > 0 ? company->ran / company->judged : NAN;
    /* While no other candidate has run and more follow, the agreement is unknown, not full. */
    bool alone = company->ran <= 1 && s->n_seen < s->n_candidates;
    out->agreement = ran && !alone ? own_votes / company->ran_votes : NAN;
    out->better = ran ? out->better / company->ran_votes : NAN;
    out->same_shape = ran ? votes_for_shape(s) / company->ran_votes : NAN;
    unsigned fired = count_fired(own);
    out->fired_gap = fired > company->least_fired ? fired - (double)company->least_fired : 0;
}

static struct others compare(const struct votes_subject *s)
{
    struct others out = {0};
    struct votes_company found;
    const struct votes_company *company = s->company;
    if (!company) {
        votes_look_around(s->candidates, s->n_candidates, s->n_seen, &found);
        company = &found;
    }
    compare_lists(s, company, &out);
    compare_results(s, company, &out);
    return out;
}

/* --- votes --- */

static double rank_of(const struct others *o)
{
    return o->rank;
}
static double share_of(const struct others *o)
{
    return o->share;
}
static double agreement_of(const struct others *o)
{
    return o->agreement;
}
static double better_of(const struct others *o)
{
    return o->better;
}
static double executable_of(const struct others *o)
{
    return o->executable;
}
static double results_of(const struct others *o)
{
    return o->results;
}
static double fired_gap_of(const struct others *o)
{
    return o->fired_gap;
}
static double same_shape_of(const struct others *o)
{
    return o->same_shape;
}
static double score_gap_of(const struct others *o)
{
    return o->score_gap;
}

/* Columns about the request. Each is a feature. A column with steps is also a view of the label model. */
static const struct {
    const char *name;
    double (*value)(const struct others *others);
    enum lm_order order;
    unsigned n_steps;                /* 0 if the column is not a view */
    double steps[LM_MAX_LEVELS - 1]; /* the level is the number of steps that the value reaches */
} request_columns[] = {
    {"rank", rank_of, LM_MORE_WRONG, 3, {1, 2, 4}},
    {"vote_share", share_of, LM_MORE_RIGHT, 4, {0.15, 0.3, 0.5, 0.8}},
    {"agreement", agreement_of, LM_MORE_RIGHT, 5, {0.2, 0.4, 0.6, 0.8, 0.999}},
    {"better_results", better_of, LM_MORE_WRONG, 0, {0}},
    {"executable_share", executable_of, LM_FREE, 0, {0}},
    {"distinct_results", results_of, LM_FREE, 0, {0}},
    {"fired_gap", fired_gap_of, LM_MORE_WRONG, 0, {0}},
    {"same_shape", same_shape_of, LM_MORE_RIGHT, 0, {0}},
    {"score_gap", score_gap_of, LM_MORE_WRONG, 0, {0}},
};
enum { N_REQUEST_COLUMNS = sizeof request_columns / sizeof *request_columns };

/* Tests of the positive labelers (SQLens §3.2). Each returns true if the labeler covers the signal. lambda_all and
 * lambda_db cover families that check every candidate, lambda_llm those of a language model. */
static bool in_all(const struct vsig_def *def)
{
    return !def->off_by_default && def->family != VSIG_LLM;
}
static bool in_db(const struct vsig_def *def)
{
    return in_all(def) && def->family != VSIG_QUESTION;
}
static bool in_llm(const struct vsig_def *def)
{
    return !def->off_by_default && def->family == VSIG_LLM;
}

static const struct {
    const char *name;
    bool (*covers)(const struct vsig_def *def);
} labelers[] = {{"lambda_all", in_all}, {"lambda_db", in_db}, {"lambda_llm", in_llm}};
enum { N_LABELERS = sizeof labelers / sizeof *labelers };

/* The layout of both vectors, with or without request columns. It is built once. */
struct layout {
    struct lm_column columns[LM_MAX_COLUMNS];
    const char *votes[LM_MAX_COLUMNS];
    unsigned parents[N_LABELERS][LM_MAX_COLUMNS];
    unsigned n_votes;
    const char *features[MAX_NAMES];
    unsigned n_features;
};

static struct layout layouts[2];
static char note_names[VSIG_ID_END][LM_NAME_MAX];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add_column(struct layout *layout, struct lm_column column)
{
    layout->columns[layout->n_votes] = column;
    layout->votes[layout->n_votes++] = column.name;
}

static void add_labelers(struct layout *layout)
{
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned k = 0; k < N_LABELERS; k++) {
        unsigned n_parents = 0;
        for (unsigned i = 0; i < n; i++) /* the first columns are the signals, in order */
            if (labelers[k].covers(all[i])) layout->parents[k][n_parents++] = i;
        add_column(layout, (struct lm_column){.name = labelers[k].name,
                                              .kind = LM_POSITIVE,
                                              .levels = 2,
                                              .parents = layout->parents[k],
                                              .n_parents = n_parents});
    }
}

static void lay_out_votes(struct layout *layout, bool request)
{
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++)
        add_column(layout, (struct lm_column){
                               .name = all[i]->name, .kind = LM_SIGNAL, .levels = VOTE_LEVELS, .order = LM_MORE_WRONG});
    for (unsigned i = 0; request && i < N_REQUEST_COLUMNS; i++)
        if (request_columns[i].n_steps)
            add_column(layout, (struct lm_column){.name = request_columns[i].name,
                                                  .kind = LM_VIEW,
                                                  .levels = request_columns[i].n_steps + 1,
                                                  .order = request_columns[i].order});
    add_labelers(layout);
}

static const char *const shape_names[] = {"label_model_p", "fired", "notes",  "executed",
                                          "rows_log",      "empty", "columns"};
enum { N_SHAPE = sizeof shape_names / sizeof *shape_names };

static void lay_out_features(struct layout *layout, bool request)
{
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++) layout->features[layout->n_features++] = all[i]->name;
    for (unsigned i = 0; i < n; i++) layout->features[layout->n_features++] = note_names[all[i]->id];
    for (unsigned i = 0; i < N_LABELERS; i++) layout->features[layout->n_features++] = labelers[i].name;
    for (unsigned i = 0; i < N_SHAPE; i++) layout->features[layout->n_features++] = shape_names[i];
    for (unsigned i = 0; request && i < N_REQUEST_COLUMNS; i++)
        layout->features[layout->n_features++] = request_columns[i].name;
}

static void lay_out(void)
{
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++) snprintf(note_names[all[i]->id], sizeof note_names[0], "%s.notes", all[i]->name);
    for (unsigned request = 0; request < 2; request++) {
        lay_out_votes(&layouts[request], request);
        lay_out_features(&layouts[request], request);
    }
}

static const struct layout *layout_of(unsigned flags)
{
    pthread_once(&once, lay_out);
    return &layouts[(flags & VOTES_REQUEST) != 0];
}

const struct lm_column *votes_columns(unsigned flags, unsigned *n)
{
    const struct layout *layout = layout_of(flags);
    *n = layout->n_votes;
    return layout->columns;
}

const char *const *votes_names(unsigned flags, unsigned *n)
{
    const struct layout *layout = layout_of(flags);
    *n = layout->n_votes;
    return layout->votes;
}

const char *const *votes_feature_names(unsigned flags, unsigned *n)
{
    const struct layout *layout = layout_of(flags);
    *n = layout->n_features;
    return layout->features;
}

/* Returns the worst severity of a signal's findings as a level: 1 for a warning, 2 for an error. Returns `unavailable`
 * for an unavailable signal. */
static uint8_t level_of(const struct msg_judged *judged, const struct msg_signal *signal, uint8_t unavailable)
{
    if (signal->state == MSG_UNAVAILABLE) return unavailable;
    if (signal->state == MSG_SILENT) return LM_SILENT;
    uint8_t level = LM_FIRED;
    for (uint32_t i = 0; i < judged->n_findings; i++)
        if (judged->findings[i].signal == signal->id && judged->findings[i].severity == MSG_ERROR)
            level = VOTE_LEVELS - 1;
    return level;
}

/* Fills the levels by signal id. If two signals have the same id, the first counts. */
static void levels_of(const struct msg_judged *judged, uint8_t unavailable, uint8_t levels[VSIG_ID_END])
{
    memset(levels, LM_MISSING, VSIG_ID_END);
    for (uint32_t i = judged->n_signals; i-- > 0;)
        if (judged->signals[i].id < VSIG_ID_END)
            levels[judged->signals[i].id] = level_of(judged, &judged->signals[i], unavailable);
}

/* Computes the vote of a positive labeler from the votes, with the same result as lm_matrix_add. */
static uint8_t labeler_vote(const struct lm_column *column, const uint8_t *votes)
{
    unsigned missing = 0;
    bool fired = false;
    for (unsigned i = 0; i < column->n_parents; i++) {
        uint8_t vote = votes[column->parents[i]];
        missing += vote == LM_MISSING;
        fired = fired || (vote != LM_MISSING && vote != LM_SILENT);
    }
    if (missing * 5 > column->n_parents) return LM_MISSING;
    return fired ? LM_SILENT : LM_FIRED;
}

static uint8_t view_level(unsigned column, double value)
{
    if (isnan(value)) return LM_MISSING;
    uint8_t level = 0;
    for (unsigned i = 0; i < request_columns[column].n_steps; i++)
        if (value >= request_columns[column].steps[i]) level++;
    return level;
}

static void fill_votes(const struct votes_subject *subject, unsigned flags, const struct others *others, uint8_t *votes)
{
    const struct layout *layout = layout_of(flags);
    unsigned n, at = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    const struct msg_judged *judged = &subject->candidates[subject->index];
    uint8_t levels[VSIG_ID_END];
    levels_of(judged, subject->unavailable_as_silent ? LM_SILENT : LM_MISSING, levels);
    for (unsigned i = 0; i < n; i++) votes[at++] = levels[all[i]->id];
    for (unsigned i = 0; (flags & VOTES_REQUEST) && i < N_REQUEST_COLUMNS; i++)
        if (request_columns[i].n_steps) votes[at++] = view_level(i, request_columns[i].value(others));
    for (unsigned i = 0; i < N_LABELERS; i++, at++) votes[at] = labeler_vote(&layout->columns[at], votes);
}

void votes_levels(const struct votes_subject *subject, unsigned flags, uint8_t *votes)
{
    struct others others = {0};
    if (flags & VOTES_REQUEST) others = compare(subject);
    fill_votes(subject, flags, &others, votes);
}

/* --- features --- */

static float real_of(uint8_t vote)
{
    return vote == LM_MISSING ? NAN : (float)vote;
}

static unsigned count_notes(const struct msg_judged *judged, uint32_t id)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < judged->n_findings; i++)
        n += judged->findings[i].signal == id && judged->findings[i].severity == MSG_NOTE;
    return n;
}

static unsigned fill_signals(const struct msg_judged *judged, const uint8_t *votes, float *row)
{
    unsigned n, at = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++) row[at++] = real_of(votes[i]);
    for (unsigned i = 0; i < n; i++)
        row[at++] = votes[i] == LM_MISSING ? NAN : (float)count_notes(judged, (uint32_t)all[i]->id);
    return at;
}

/* Fills the features of shape_names, in the order of these names. */
static unsigned fill_shape(const struct msg_judged *judged, double label_model_p, float *row)
{
    unsigned notes = 0;
    for (uint32_t i = 0; i < judged->n_findings; i++) notes += judged->findings[i].severity == MSG_NOTE;
    bool executed = votes_ran(judged);
    const float values[N_SHAPE] = {
        (float)label_model_p,
        (float)count_fired(judged),
        (float)notes,
        executed,
        executed ? log1pf((float)judged->execution->rows) : NAN,
        executed ? (float)(judged->execution->rows == 0) : NAN,
        executed ? (float)judged->execution->columns : NAN,
    };
    memcpy(row, values, sizeof values);
    return N_SHAPE;
}

void votes_feature_row(const struct votes_subject *subject, unsigned flags, double label_model_p, float *row)
{
    uint8_t votes[LM_MAX_COLUMNS] = {0};
    const struct msg_judged *judged = &subject->candidates[subject->index];
    struct others others = {0};
    if (flags & VOTES_REQUEST) others = compare(subject);
    fill_votes(subject, flags, &others, votes);
    unsigned n_votes, at = fill_signals(judged, votes, row);
    votes_columns(flags, &n_votes);
    for (unsigned i = 0; i < N_LABELERS; i++) row[at++] = real_of(votes[n_votes - N_LABELERS + i]);
    at += fill_shape(judged, label_model_p, row + at);
    for (unsigned i = 0; (flags & VOTES_REQUEST) && i < N_REQUEST_COLUMNS; i++)
        row[at++] = (float)request_columns[i].value(&others);
}
