/* Scores a predictor on a recording with gold (evaluate.h).
 *
 * Tables and columns of the same id are scored separately, and together as a joint outcome. Only tokens up to the first
 * branching point of a generation decide abstention, because after it the recording shows a corrected run. The outcome
 * with a person counts all tokens. */
#include "linking/evaluate.h"

#include "lib/learn/metrics.h"
#include "linking/points.h"

#include <glib.h>
#include <math.h>

enum { TRACE_BYTES = 256 << 20 };

static uint64_t all_of(const struct link_outcomes *o)
{
    return o->answered_right + o->answered_wrong + o->abstained_right + o->abstained_wrong;
}

double link_em(const struct link_outcomes *o)
{
    uint64_t answered = o->answered_right + o->answered_wrong;
    return answered ? 100.0 * (double)o->answered_right / (double)answered : NAN;
}

double link_tar(const struct link_outcomes *o)
{
    return 100.0 * (double)o->abstained_wrong / (double)MAX(all_of(o), 1);
}

double link_far(const struct link_outcomes *o)
{
    return 100.0 * (double)o->abstained_right / (double)MAX(all_of(o), 1);
}

static void count(struct link_outcomes *o, bool abstained, bool right)
{
    uint64_t *at[2][2] = {{&o->answered_wrong, &o->answered_right}, {&o->abstained_wrong, &o->abstained_right}};
    (*at[abstained][right])++;
}

/* The outcome of one generation. */
struct generation {
    bool right, abstained, stopped; /* stopped: the surrogate stopped the linker */
    bool missed;                    /* a branching point was not predicted, so no person was asked */
    uint64_t questions;
};

struct evaluating {
    const struct predictor *predictor;
    const struct predictor_options *options;
    const struct link_surrogate *surrogate;
    struct recording recording;
    struct link_evaluation *out;
    GHashTable *tables; /* id → the generation of its tables */
    bool checked[TRACE_STAGES];
};

static bool surrogate_stops(const struct evaluating *e, struct arena *arena, const struct trace *trace, uint32_t token)
{
    if (!e->surrogate) return true;
    return !e->surrogate->confirms(e->surrogate->data, trace, token, trace_back(arena, trace, token));
}

static enum err_code judge_token(struct evaluating *e, struct arena *arena, const struct trace *trace, uint32_t at,
                                 struct generation *g, struct err *err)
{
    struct predictor_verdict verdict;
    struct link_counts *counts = &e->out->stages[trace->stage];
    enum err_code code = predictor_judge(e->predictor, e->options, &e->recording, trace, at, &verdict, err);
    if (code) return code;
    bool branching = trace_is_branching(&trace->tokens[at]), flagged = verdict.set & CONFORMAL_POSITIVE;
    bool held = verdict.set & (branching ? CONFORMAL_POSITIVE : CONFORMAL_NEGATIVE);
    bool by_itself = g->right; /* true before the first branching point, while the run is uncorrected */
    counts->tokens++;
    counts->branching += branching;
    counts->held += held;
    counts->branching_held += branching && held;
    counts->extra += flagged && !branching;
    g->questions += flagged;
    g->missed |= branching && !flagged;
    if (by_itself && flagged) {
        g->abstained = true;
        g->stopped |= surrogate_stops(e, arena, trace, at);
    }
    g->right &= !branching;
    return ERR_OK;
}

static void count_joint(struct evaluating *e, const struct trace *trace, const struct generation *g)
{
    if (trace->stage == TRACE_TABLES) {
        g_hash_table_insert(e->tables, g_strdup(trace->id), g_memdup2(g, sizeof *g));
        return;
    }
    const struct generation *tables = g_hash_table_lookup(e->tables, trace->id);
    if (!tables) return;
    /* The columns were recorded with the right tables. If wrong tables were not noticed, the joint result is wrong. */
    bool abstained = tables->abstained || (tables->right && g->abstained);
    count(&e->out->joint, abstained, tables->right && g->right);
    e->out->joint_human_right += !tables->missed && !g->missed;
    e->out->joint_human_in_vain += (tables->questions || g->questions) && tables->right && g->right;
}

static enum err_code judge_generation(struct evaluating *e, struct arena *arena, const struct trace *trace,
                                      struct err *err)
{
    struct generation g = {.right = true};
    struct link_counts *counts = &e->out->stages[trace->stage];
    if (!trace->has_gold)
        return err_set(err, ERR_MALFORMED, "%s:%llu: gold_id is missing, which evaluation needs", e->recording.path,
                       (unsigned long long)e->recording.lines.number);
    enum err_code code = ERR_OK;
    if (!e->checked[trace->stage]) code = predictor_check(e->predictor, e->options, trace->stage, &e->recording, err);
    e->checked[trace->stage] = !code;
    for (uint32_t i = 0; !code && i < trace->n_tokens; i++) code = judge_token(e, arena, trace, i, &g, err);
    if (code) return code;
    counts->generations++;
    counts->right += g.right;
    counts->questions += g.questions;
    count(&counts->abstention, g.abstained, g.right);
    count(&counts->surrogate, g.stopped, g.right);
    counts->human_right += !g.missed;
    counts->human_in_vain += g.questions && g.right;
    count_joint(e, trace, &g);
    return ERR_OK;
}

enum err_code link_evaluate(const struct predictor *predictor, const struct predictor_options *options,
                            const char *recording, const struct link_surrogate *surrogate, struct link_evaluation *out,
                            struct err *err)
{
    struct evaluating e = {.predictor = predictor, .options = options, .surrogate = surrogate, .out = out};
    struct arena arena;
    struct trace *trace = NULL;
    *out = (struct link_evaluation){0};
    enum err_code code = recording_open(recording, &e.recording, err);
    if (code) return code;
    e.tables = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    arena_init(&arena, TRACE_BYTES);
    while (!(code = recording_next(&e.recording, &arena, &trace, err)) && trace) {
        if ((code = judge_generation(&e, &arena, trace, err))) break;
        arena_reset(&arena);
    }
    arena_free(&arena);
    g_hash_table_destroy(e.tables);
    recording_close(&e.recording);
    return code;
}

enum err_code link_layer_auc(const struct predictor *predictor, enum trace_stage stage, const char *recording,
                             double *out, struct err *err)
{
    const struct predictor_stage *s = &predictor->stages[stage];
    struct points points;
    enum err_code code = points_read(&recording, 1, stage, &points, err);
    double *score = g_new(double, points.n + 1);
    for (uint32_t i = 0; !code && i < s->n_layers; i++) {
        float *states = points_states(&points, s->layers[i].number, predictor->hidden, err);
        if (!states) {
            code = err->code;
            break;
        }
        for (size_t k = 0; k < points.n; k++)
            score[k] = perceptron_predict(s->layers[i].perceptron, states + k * predictor->hidden);
        out[i] = learn_auc(score, points.branching, points.n);
        g_free(states);
    }
    g_free(score);
    points_free(&points);
    return code;
}
