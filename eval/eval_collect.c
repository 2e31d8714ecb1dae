/* Converts verdicts and their labels to the questions and rows of struct eval_data. */
#include "eval/eval.h"
#include "eval/exact.h"
#include "eval/localise.h"

#include <math.h>
#include <string.h>

static const size_t exact_arena = 64U << 20;

struct eval_data *eval_data_new(bool vectors)
{
    struct eval_data *data = g_new0(struct eval_data, 1);
    data->questions = g_array_new(FALSE, TRUE, sizeof(struct eval_question));
    data->rows = g_array_new(FALSE, TRUE, sizeof(struct eval_row));
    data->databases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (vectors) data->vectors = vectors_new(VOTES_REQUEST);
    return data;
}

void eval_data_free(struct eval_data *data)
{
    g_array_free(data->questions, TRUE);
    g_array_free(data->rows, TRUE);
    g_hash_table_destroy(data->databases);
    vectors_free(data->vectors);
    g_free(data);
}

/* Returns the index of the judged candidate for candidate i: for a repeat, the candidate that it repeats. */
static uint32_t original(const struct msg_verdict *verdict, uint32_t i)
{
    uint32_t same = verdict->candidates[i].same_as;
    return same ? same - 1 : i;
}

/* Returns the bits of the signals of family llm, which judges only some candidates. */
static uint64_t llm_signals(void)
{
    unsigned n;
    uint64_t bits = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++)
        if (all[i]->family == VSIG_LLM) bits |= UINT64_C(1) << all[i]->id;
    return bits;
}

static void add_row(struct eval_data *data, const struct msg_verdict *verdict, uint32_t i, bool right, bool detection,
                    const struct sql_catalog *catalog)
{
    const struct msg_judged *judged = &verdict->candidates[i];
    struct eval_row row = {
        .question = data->questions->len, .right = right, .detection = detection, .p = judged->p_correct};
    row.missing = llm_signals();
    for (uint32_t k = 0; k < judged->n_signals; k++) {
        uint64_t bit = judged->signals[k].id < 64 ? 1ULL << judged->signals[k].id : 0;
        if (judged->signals[k].state == MSG_FIRED) row.fired |= bit;
        row.missing = judged->signals[k].state == MSG_UNAVAILABLE ? row.missing | bit : row.missing & ~bit;
    }
    if (!right && catalog && verdict->gold) {
        struct localisation where = localise(catalog, judged, verdict->gold);
        row.known = where.known;
        row.pointed = where.pointed;
        row.hit = where.hit;
        row.by_chance = where.by_chance;
    }
    g_array_append_val(data->rows, row);
}

static void add_rows(struct eval_data *data, const struct msg_verdict *verdict, const struct labels *labels,
                     const struct sql_catalog *catalog)
{
    uint32_t first = labels->first_executable == LABEL_NONE ? LABEL_NONE : original(verdict, labels->first_executable);
    for (uint32_t i = 0; i < verdict->n_candidates; i++) {
        const struct msg_judged *judged = &verdict->candidates[i];
        bool detection = i == first && !labels->gold_empty;
        if (detection && !judged->judged) data->unjudged++;
        if (!judged->judged || judged->same_as || labels->of[i] == LABEL_FAILED) continue;
        add_row(data, verdict, i, labels->of[i] == LABEL_RIGHT, detection, catalog);
    }
}

/* Simulates the loop with a perfect verifier. It tries the candidates in order, without repeats, until one is right. */
static void add_ceiling(const struct eval_data *data, const struct msg_verdict *verdict, const struct labels *labels,
                        struct eval_question *question)
{
    uint32_t most = data->max_iterations ? data->max_iterations : UINT32_MAX;
    for (uint32_t i = 0; i < labels->n && !question->ceiling && question->ceiling_tried < most; i++) {
        if (verdict->candidates[i].same_as) continue;
        question->ceiling_tried++;
        question->ceiling = labels->of[i] == LABEL_RIGHT;
    }
}

/* Records which choices match gold exactly. taken[choice] is the index of its candidate, or LABEL_NONE. */
static void add_matches(const struct msg_verdict *verdict, const struct sql_catalog *catalog, const uint32_t *taken,
                        struct eval_question *question)
{
    struct arena kept, arena; /* the second one is reset for each candidate */
    arena_init(&kept, exact_arena);
    arena_init(&arena, exact_arena);
    const char *gold = exact_form(&kept, catalog, verdict->gold, strlen(verdict->gold));
    question->comparable = gold != NULL;
    for (uint32_t i = 0; gold && i < verdict->n_candidates; i++) {
        const struct msg_text *sql = &verdict->candidates[i].sql;
        const char *form = sql->bytes ? exact_form(&arena, catalog, sql->bytes, sql->len) : NULL;
        bool same = form && strcmp(form, gold) == 0;
        arena_reset(&arena);
        if (!same) continue;
        for (int c = 0; c < CHOICE_ORACLE; c++) question->matches[c] |= taken[c] == i;
        question->matches[CHOICE_ORACLE] = true;
    }
    arena_free(&arena);
    arena_free(&kept);
}

static uint32_t chosen(const struct msg_verdict *verdict, uint32_t n)
{
    return verdict->chosen > 0 && verdict->chosen <= n ? verdict->chosen - 1 : LABEL_NONE;
}

/* Records the scores of the answer. If it is a repair instead of a candidate, it has only P. */
static void add_scores(const struct msg_verdict *verdict, uint32_t taken, struct eval_question *question)
{
    double *scores = question->scores;
    for (int i = 0; i < SCORE_COUNT; i++) scores[i] = NAN;
    scores[SCORE_P] = verdict->p_correct;
    scores[SCORE_TRUTH] = question->assay;
    if (taken == LABEL_NONE) return;
    const struct msg_judged *judged = &verdict->candidates[original(verdict, taken)];
    uint32_t findings = 0;
    for (uint32_t i = 0; i < judged->n_findings; i++) findings += judged->findings[i].severity != MSG_NOTE;
    scores[SCORE_LABEL_MODEL] = judged->label_model_p;
    scores[SCORE_VERIFIER] = judged->entailment;
    scores[SCORE_FINDINGS] = -(double)findings;
    scores[SCORE_VOTES] = judged->count;
    scores[SCORE_GENERATOR] = judged->score;
}

static void add_repair(const struct msg_verdict *verdict, const struct labels *labels,
                       const struct sql_catalog *catalog, struct eval_question *question)
{
    const struct msg_repaired *repair = verdict->repair;
    if (!repair || !repair->of || repair->of > labels->n) return;
    bool was_right = labels->of[repair->of - 1] == LABEL_RIGHT, is_right = labels->repair == LABEL_RIGHT;
    const struct msg_judged *old = &verdict->candidates[repair->of - 1];
    for (uint32_t i = 0; i < old->n_signals; i++)
        if (old->signals[i].state == MSG_FIRED && old->signals[i].id < 64)
            question->repair.fired |= UINT64_C(1) << old->signals[i].id;
    question->repair.shown = true;
    question->repair.applied = repair->applied;
    question->repair.fixes = is_right && !was_right;
    question->repair.breaks = was_right && !is_right;
    if (!repair->applied) return;
    question->assay = is_right;
    question->answered = true;
    if (!question->comparable) return;
    struct arena arena;
    arena_init(&arena, exact_arena);
    const char *gold = exact_form(&arena, catalog, verdict->gold, strlen(verdict->gold)),
               *form = exact_form(&arena, catalog, repair->sql, strlen(repair->sql));
    question->matches[CHOICE_ASSAY] = gold && form && strcmp(form, gold) == 0;
    arena_free(&arena);
}

void eval_add(struct eval_data *data, const struct msg_verdict *verdict, const struct labels *labels,
              const struct sql_catalog *catalog)
{
    uint32_t n = labels->n;
    const uint32_t taken[] = {[CHOICE_FIRST] = n ? 0 : LABEL_NONE,
                              [CHOICE_FIRST_EXECUTABLE] = labels->first_executable,
                              [CHOICE_MAJORITY] = n ? labels->majority : LABEL_NONE,
                              [CHOICE_ASSAY] = chosen(verdict, n)};
    bool right[CHOICE_ORACLE];
    for (int c = 0; c < CHOICE_ORACLE; c++) right[c] = taken[c] != LABEL_NONE && labels->of[taken[c]] == LABEL_RIGHT;
    struct eval_question question = {
        .database = vectors_database(data->databases, verdict->db ? verdict->db : ""),
        .n_candidates = n,
        .iterations = verdict->iterations,
        .first = right[CHOICE_FIRST],
        .first_executable = right[CHOICE_FIRST_EXECUTABLE],
        .majority = right[CHOICE_MAJORITY],
        .assay = right[CHOICE_ASSAY],
        .executable = labels->first_executable != LABEL_NONE,
        .answered = taken[CHOICE_ASSAY] != LABEL_NONE,
        .gold_empty = labels->gold_empty,
        .p = verdict->p_correct,
        .difficulty = verdict->gold ? difficulty_of(verdict->gold, strlen(verdict->gold)) : DIFFICULTY_UNKNOWN,
    };
    for (uint32_t i = 0; i < n; i++) question.oracle |= labels->of[i] == LABEL_RIGHT;
    add_ceiling(data, verdict, labels, &question);
    if (catalog && verdict->gold) add_matches(verdict, catalog, taken, &question);
    add_repair(verdict, labels, catalog, &question);
    add_scores(verdict, taken[CHOICE_ASSAY], &question);
    add_rows(data, verdict, labels, catalog);
    g_array_append_val(data->questions, question);
}
