/* The vote matrix. Each row holds the levels of one candidate. Adding a row computes the votes of its positive
 * labelers. */
#include "lib/learn/internal.h"

#include <glib.h>
#include <string.h>

static enum err_code check_name(const struct lm_column *columns, unsigned at, struct err *err)
{
    const char *name = columns[at].name;
    if (!name || !*name || strlen(name) >= LM_NAME_MAX)
        return err_set(err, ERR_CONFIG, "column %u: name must have 1 to %d bytes", at, LM_NAME_MAX - 1);
    if (!g_utf8_validate(name, -1, NULL)) return err_set(err, ERR_CONFIG, "column %u: the name is not UTF-8", at);
    for (unsigned i = 0; i < at; i++)
        if (strcmp(columns[i].name, name) == 0) return err_set(err, ERR_CONFIG, "duplicate column name '%s'", name);
    return ERR_OK;
}

static enum err_code check_column(const struct lm_column *columns, unsigned at, struct err *err)
{
    const struct lm_column *c = &columns[at];
    enum err_code code = check_name(columns, at, err);
    if (code) return code;
    if (c->levels == 1 || c->levels > LM_MAX_LEVELS)
        return err_set(err, ERR_CONFIG, "column '%s' must have 2 to %d levels", c->name, LM_MAX_LEVELS);
    if (c->prior_precision < 0 || c->prior_precision >= 1 || c->prior_weight < 0)
        return err_set(err, ERR_CONFIG, "column '%s': prior precision must be in (0, 1), and weight at least 0",
                       c->name);
    if (c->kind != LM_POSITIVE) return ERR_OK;
    if (!c->n_parents) return err_set(err, ERR_CONFIG, "positive labeler '%s' has no signals", c->name);
    for (unsigned i = 0; i < c->n_parents; i++)
        if (c->parents[i] >= at || columns[c->parents[i]].kind != LM_SIGNAL)
            return err_set(err, ERR_CONFIG, "positive labeler '%s' must refer to signals before it", c->name);
    return ERR_OK;
}

static void copy_column(struct lm_column *to, const struct lm_column *from)
{
    *to = *from;
    to->name = g_strdup(from->name);
    if (!to->levels || to->kind == LM_POSITIVE) to->levels = 2;
    if (to->kind == LM_SIGNAL) to->order = LM_MORE_WRONG;
    if (to->kind == LM_POSITIVE)
        to->order = LM_MORE_RIGHT;
    else
        to->n_parents = 0;
    to->parents = to->n_parents ? g_memdup2(from->parents, to->n_parents * sizeof *from->parents) : NULL;
}

struct lm_matrix *lm_matrix_new(const struct lm_column *columns, unsigned n, struct err *err)
{
    if (n == 0 || n > LM_MAX_COLUMNS) {
        err_set(err, ERR_CONFIG, "a vote matrix must have 1 to %d columns, not %u", LM_MAX_COLUMNS, n);
        return NULL;
    }
    for (unsigned i = 0; i < n; i++)
        if (check_column(columns, i, err)) return NULL;
    struct lm_matrix *matrix = g_new0(struct lm_matrix, 1);
    matrix->m = n;
    matrix->columns = g_new0(struct lm_column, n);
    for (unsigned i = 0; i < n; i++) copy_column(&matrix->columns[i], &columns[i]);
    return matrix;
}

void lm_matrix_free(struct lm_matrix *matrix)
{
    if (!matrix) return;
    for (unsigned i = 0; i < matrix->m; i++) {
        g_free((char *)matrix->columns[i].name);
        g_free((unsigned *)matrix->columns[i].parents);
    }
    g_free(matrix->columns);
    g_free(matrix->votes);
    g_free(matrix->weight);
    g_free(matrix);
}

/* Returns 1 ("right") if no available signal of the labeler fired, otherwise 0. Abstains if more than a fifth of its
 * signals are missing. */
static uint8_t positive_vote(const struct lm_column *column, const uint8_t *votes)
{
    unsigned missing = 0, fired = 0;
    for (unsigned i = 0; i < column->n_parents; i++) {
        uint8_t vote = votes[column->parents[i]];
        if (vote == LM_MISSING)
            missing++;
        else
            fired += vote > 0;
    }
    if (missing * 5 > column->n_parents) return LM_MISSING;
    return fired == 0;
}

static bool grow(struct lm_matrix *matrix)
{
    if (matrix->n < matrix->room) return true;
    size_t room = matrix->room ? matrix->room * 2 : 1024;
    uint8_t *votes = g_try_realloc_n(matrix->votes, room, matrix->m);
    if (!votes) return false;
    matrix->votes = votes;
    double *weight = g_try_realloc_n(matrix->weight, room, sizeof *weight);
    if (!weight) return false;
    matrix->weight = weight;
    matrix->room = room;
    return true;
}

enum err_code lm_matrix_add(struct lm_matrix *matrix, const uint8_t *votes, double weight, struct err *err)
{
    if (!(weight > 0) || weight > 1e12) return err_set(err, ERR_MALFORMED, "the weight of a row must be above 0");
    for (unsigned i = 0; i < matrix->m; i++)
        if (matrix->columns[i].kind != LM_POSITIVE && votes[i] != LM_MISSING && votes[i] >= matrix->columns[i].levels)
            return err_set(err, ERR_MALFORMED, "column '%s' has no level %u", matrix->columns[i].name, votes[i]);
    if (!grow(matrix)) return err_set(err, ERR_NOMEM, "out of memory for %zu rows of votes", matrix->n);
    uint8_t *row = matrix->votes + matrix->n * matrix->m;
    for (unsigned i = 0; i < matrix->m; i++) {
        bool positive = matrix->columns[i].kind == LM_POSITIVE;
        row[i] = positive ? positive_vote(&matrix->columns[i], votes) : votes[i];
    }
    matrix->weight[matrix->n++] = weight;
    return ERR_OK;
}

size_t lm_matrix_rows(const struct lm_matrix *matrix)
{
    return matrix->n;
}

unsigned lm_matrix_columns(const struct lm_matrix *matrix)
{
    return matrix->m;
}

const uint8_t *lm_matrix_row(const struct lm_matrix *matrix, size_t row)
{
    return matrix->votes + row * matrix->m;
}

const struct lm_column *lm_matrix_column(const struct lm_matrix *matrix, unsigned column)
{
    return &matrix->columns[column];
}

int lm_matrix_find(const struct lm_matrix *matrix, const char *name)
{
    for (unsigned i = 0; i < matrix->m; i++)
        if (strcmp(matrix->columns[i].name, name) == 0) return (int)i;
    return -1;
}

unsigned lm_count_fired(const struct lm_matrix *matrix, size_t row)
{
    const uint8_t *votes = lm_matrix_row(matrix, row);
    unsigned fired = 0;
    for (unsigned i = 0; i < matrix->m; i++)
        fired += matrix->columns[i].kind == LM_SIGNAL && votes[i] != LM_MISSING && votes[i] > 0;
    return fired;
}

double lm_majority(const struct lm_matrix *matrix, size_t row)
{
    const uint8_t *votes = lm_matrix_row(matrix, row);
    unsigned wrong = lm_count_fired(matrix, row), right = 0;
    for (unsigned i = 0; i < matrix->m; i++) right += matrix->columns[i].kind == LM_POSITIVE && votes[i] == 1;
    return wrong + right ? (double)wrong / (wrong + right) : 0.5;
}
