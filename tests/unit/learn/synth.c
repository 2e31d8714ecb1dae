#include "synth.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

const double synth_view[2][4] = {{0.10, 0.15, 0.25, 0.50}, {0.45, 0.25, 0.20, 0.10}};

static uint8_t draw_level(const double *p, uint64_t *state)
{
    double u = learn_random_unit(state);
    for (uint8_t l = 0; l < 3; l++)
        if ((u -= p[l]) < 0) return l;
    return 3;
}

static struct lm_matrix *new_matrix(unsigned m, unsigned views)
{
    static char names[SYNTH_MAX + 1][16];
    struct lm_column columns[SYNTH_MAX + 1] = {0};
    unsigned parents[SYNTH_MAX];
    for (unsigned i = 0; i < m + views; i++) {
        snprintf(names[i], sizeof names[i], i < m ? "s%u" : "v%u", i);
        columns[i] = (struct lm_column){
            .name = names[i], .kind = i < m ? LM_SIGNAL : LM_VIEW, .levels = i < m ? 2 : 4, .order = LM_MORE_RIGHT};
        parents[i] = i;
    }
    columns[m + views] = (struct lm_column){.name = "all", .kind = LM_POSITIVE, .parents = parents, .n_parents = m};
    struct err err;
    struct lm_matrix *matrix = lm_matrix_new(columns, m + views + 1, &err);
    cr_assert_not_null(matrix, "%s", err.text);
    return matrix;
}

struct synth synth_make(const struct synth_signal *signals, unsigned m, unsigned views, double prior_wrong, size_t n,
                        uint64_t seed)
{
    struct synth out = {new_matrix(m, views), malloc(n), n};
    for (size_t i = 0; i < n; i++) {
        uint8_t votes[SYNTH_MAX + 1] = {0}, shown[SYNTH_MAX + 1];
        bool wrong = learn_random_unit(&seed) < prior_wrong;
        out.wrong[i] = wrong;
        for (unsigned j = 0; j < m; j++) {
            bool own = learn_random_unit(&seed) < (wrong ? signals[j].wrong : signals[j].right);
            bool copies = signals[j].copy_of >= 0 && learn_random_unit(&seed) < signals[j].copy;
            votes[j] = copies ? votes[signals[j].copy_of] : own;
        }
        for (unsigned j = 0; j < m; j++)
            shown[j] = learn_random_unit(&seed) < signals[j].missing ? LM_MISSING : votes[j];
        for (unsigned j = 0; j < views; j++) shown[m + j] = draw_level(synth_view[wrong], &seed);
        shown[m + views] = 0;
        cr_assert_eq(lm_matrix_add(out.matrix, shown, 1, NULL), ERR_OK);
    }
    return out;
}

void synth_free(struct synth *synth)
{
    lm_matrix_free(synth->matrix);
    free(synth->wrong);
}

double *synth_scores(const struct synth *synth, const struct lm_model *model)
{
    double *out = malloc(synth->n * sizeof *out);
    const char *names[LM_MAX_COLUMNS];
    for (unsigned i = 0; i < lm_matrix_columns(synth->matrix); i++) names[i] = lm_matrix_column(synth->matrix, i)->name;
    struct lm_map map;
    lm_map_init(&map, model, names, lm_matrix_columns(synth->matrix));
    for (size_t i = 0; i < synth->n; i++) out[i] = 1 - lm_p_correct(model, &map, lm_matrix_row(synth->matrix, i));
    return out;
}

double *synth_counts(const struct synth *synth)
{
    double *out = malloc(synth->n * sizeof *out);
    for (size_t i = 0; i < synth->n; i++) out[i] = lm_count_fired(synth->matrix, i);
    return out;
}
