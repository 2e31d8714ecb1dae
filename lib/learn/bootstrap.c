/* Draws rows by group, for folds and bootstrap intervals. Also defines the statistics of metrics.h. */
#include "lib/learn/internal.h"
#include "lib/learn/metrics.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t learn_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
}

double learn_random_unit(uint64_t *state)
{
    return (double)(learn_random(state) >> 11) * 0x1p-53;
}

/* Rows by group: the rows of group g are rows[start[g] .. start[g + 1]). */
struct grouping {
    uint32_t n_groups, *start, *rows;
};

static bool grouping_init(struct grouping *grouping, const uint32_t *group, size_t n)
{
    *grouping = (struct grouping){0};
    if (!n || n > UINT32_MAX - 1) return false;
    uint32_t top = 0;
    for (size_t i = 0; i < n; i++) top = group ? (group[i] > top ? group[i] : top) : (uint32_t)i;
    if (top >= n) return false; /* group numbers must be dense */
    grouping->n_groups = top + 1;
    grouping->start = g_try_new0(uint32_t, (size_t)top + 3);
    grouping->rows = g_try_new(uint32_t, n);
    if (!grouping->start || !grouping->rows) return false;
    /* Shifted by one while the rows are placed. Afterwards `start` is correct. */
    uint32_t *start = grouping->start + 1;
    for (size_t i = 0; i < n; i++) start[(group ? group[i] : i) + 1]++;
    for (uint32_t g = 0; g <= top; g++) start[g + 1] += start[g];
    for (size_t i = 0; i < n; i++) grouping->rows[start[group ? group[i] : i]++] = (uint32_t)i;
    return true;
}

static void grouping_free(struct grouping *grouping)
{
    g_free(grouping->start);
    g_free(grouping->rows);
}

struct sized {
    uint32_t group, size;
    uint64_t draw;
};

static int larger_first(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    if (x->draw != y->draw) return x->draw < y->draw ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

/* Assigns groups to folds: the largest group first, each to the fold with the fewest rows. The seed determines the
 * order of groups of equal size. */
static bool deal(const struct grouping *grouping, unsigned k, uint64_t seed, uint8_t *fold)
{
    struct sized *sized = g_try_new(struct sized, grouping->n_groups);
    if (!sized) return false;
    uint32_t used = 0;
    for (uint32_t g = 0; g < grouping->n_groups; g++) {
        uint32_t size = grouping->start[g + 1] - grouping->start[g];
        sized[g] = (struct sized){g, size, learn_random(&seed)};
        used += size > 0;
    }
    qsort(sized, grouping->n_groups, sizeof *sized, larger_first);
    size_t filled[256] = {0};
    for (uint32_t i = 0; i < grouping->n_groups; i++) {
        unsigned to = 0;
        for (unsigned f = 1; f < k; f++)
            if (filled[f] < filled[to]) to = f;
        filled[to] += sized[i].size;
        for (uint32_t r = grouping->start[sized[i].group]; r < grouping->start[sized[i].group + 1]; r++)
            fold[grouping->rows[r]] = (uint8_t)to;
    }
    g_free(sized);
    return used >= k;
}

bool learn_folds(const uint32_t *group, size_t n, unsigned k, uint64_t seed, uint8_t *fold)
{
    struct grouping grouping;
    bool ok = k >= 2 && k <= 255;
    ok = grouping_init(&grouping, group, n) && ok && deal(&grouping, k, seed, fold);
    grouping_free(&grouping);
    return ok;
}

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Returns a quantile, interpolated linearly between the sorted values. */
static double quantile(const double *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t low = (size_t)at;
    if (low + 1 >= n) return sorted[n - 1];
    return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

/* Draws groups with replacement, as many as exist. Returns the number of rows drawn. */
static size_t draw_rows(const struct grouping *grouping, uint64_t *state, uint32_t *rows, size_t room)
{
    size_t n = 0;
    for (uint32_t i = 0; i < grouping->n_groups; i++) {
        uint32_t g = (uint32_t)(learn_random_unit(state) * grouping->n_groups);
        for (uint32_t r = grouping->start[g]; r < grouping->start[g + 1] && n < room; r++)
            rows[n++] = grouping->rows[r];
    }
    return n;
}

static size_t largest_group(const struct grouping *grouping)
{
    size_t most = 0;
    for (uint32_t g = 0; g < grouping->n_groups; g++)
        most = MAX(most, (size_t)(grouping->start[g + 1] - grouping->start[g]));
    return most;
}

struct learn_interval learn_bootstrap(learn_statistic statistic, const void *data, const uint32_t *group, size_t n,
                                      unsigned rounds, double level, uint64_t seed)
{
    struct learn_interval interval = {NAN, NAN};
    struct grouping grouping = {0};
    double *drawn = NULL;
    uint32_t *rows = NULL;
    if (!rounds || !grouping_init(&grouping, group, n)) goto done;
    /* Capacity for a draw that repeats the largest group. A draw of over four times the data is cut, which hardly
     * affects the interval. */
    size_t room = MIN(largest_group(&grouping) * grouping.n_groups, 4 * n + largest_group(&grouping));
    drawn = g_try_new(double, rounds);
    rows = g_try_new(uint32_t, room);
    if (!drawn || !rows) goto done;
    size_t kept = 0;
    for (unsigned round = 0; round < rounds; round++) {
        double value = statistic(data, rows, draw_rows(&grouping, &seed, rows, room));
        if (!isnan(value)) drawn[kept++] = value;
    }
    if (kept) {
        qsort(drawn, kept, sizeof *drawn, by_double);
        interval.low = quantile(drawn, kept, (1 - level) / 2);
        interval.high = quantile(drawn, kept, (1 + level) / 2);
    }
done:
    g_free(drawn);
    g_free(rows);
    grouping_free(&grouping);
    return interval;
}

static double auc_of(const double *score, const uint8_t *positive, const uint32_t *rows, size_t n)
{
    double *drawn_score = n ? g_try_new(double, n) : NULL;
    uint8_t *drawn_label = n ? g_try_new(uint8_t, n) : NULL;
    double auc = NAN;
    if (drawn_score && drawn_label) {
        for (size_t i = 0; i < n; i++) {
            drawn_score[i] = score[rows[i]];
            drawn_label[i] = positive[rows[i]];
        }
        auc = learn_auc(drawn_score, drawn_label, n);
    }
    g_free(drawn_score);
    g_free(drawn_label);
    return auc;
}

double learn_stat_auc(const void *scored, const uint32_t *rows, size_t n)
{
    const struct learn_scored *data = scored;
    return auc_of(data->score, data->positive, rows, n);
}

double learn_stat_auc_difference(const void *pair, const uint32_t *rows, size_t n)
{
    const struct learn_pair *data = pair;
    return auc_of(data->a, data->positive, rows, n) - auc_of(data->b, data->positive, rows, n);
}

double learn_stat_mean(const void *pair, const uint32_t *rows, size_t n)
{
    const struct learn_pair *data = pair;
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += data->a[rows[i]];
    return n ? sum / (double)n : NAN;
}

double learn_stat_difference(const void *pair, const uint32_t *rows, size_t n)
{
    const struct learn_pair *data = pair;
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += data->a[rows[i]] - data->b[rows[i]];
    return n ? sum / (double)n : NAN;
}

double learn_stat_vote_precision(const void *vote, const uint32_t *rows, size_t n)
{
    const struct learn_vote *data = vote;
    size_t fired = 0, right = 0;
    for (size_t i = 0; i < n; i++) {
        fired += data->fired[rows[i]] != 0;
        right += data->fired[rows[i]] && data->positive[rows[i]];
    }
    return fired ? (double)right / (double)fired : NAN;
}

double learn_stat_lift(const void *vote, const uint32_t *rows, size_t n)
{
    const struct learn_vote *data = vote;
    size_t positives = 0;
    for (size_t i = 0; i < n; i++) positives += data->positive[rows[i]] != 0;
    return positives ? learn_stat_vote_precision(vote, rows, n) * (double)n / (double)positives : NAN;
}
