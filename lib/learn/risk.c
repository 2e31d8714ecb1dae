/* Risk control, p-values and shift detection for validated answers (risk.h).
 *
 * risk_control tests thresholds in a fixed order, from the highest P down, and stops at the first test that does not
 * reject. So the confidence needs no correction for multiple tests. A threshold includes all records of equal P or
 * none. The design effect divides the number of dependent records. The shift martingale ranks each new value among all
 * earlier ones, and bets on small ranks, large ranks and no change. Pure functions; ties are broken by a counter
 * instead of randomness. */
#include "lib/learn/risk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double FIRST = 0.25, STEP = 0.05, ALPHA_STEP = 0.005, MORE = 1.05, JUMP = 0.01, TINY = 1e-300,
                    PRECISION = 1e-14;
enum { MAX_NEEDED = 1000000, HALVINGS = 60, BETS = 3, MAX_TERMS = 10000 };

static int surest_first(const void *a, const void *b)
{
    const struct risk_record *x = a, *y = b;
    return (y->p > x->p) - (y->p < x->p);
}

void risk_sort(struct risk_record *records, uint32_t n)
{
    qsort(records, n, sizeof *records, surest_first);
}

/* Evaluates the continued fraction of the incomplete beta function (Numerical Recipes §6.4, Lentz's method). It
 * requires x below the mean of the distribution. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / fmax(1 - (a + b) * x / (a + 1), TINY), value = d;
    for (int m = 1; m <= MAX_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        const double steps[] = {even, odd};
        double before = value;
        for (int i = 0; i < 2; i++) {
            d = 1 + steps[i] * d;
            c = 1 + steps[i] / c;
            d = 1 / (fabs(d) < TINY ? TINY : d);
            if (fabs(c) < TINY) c = TINY;
            value *= d * c;
        }
        if (fabs(value - before) < value * PRECISION) break;
    }
    return value;
}

/* Returns the logarithm of the gamma function. Plain lgamma stores the sign in a global variable. */
static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* Returns the regularised incomplete beta function I_x(a, b). */
static double incomplete_beta(double a, double b, double x)
{
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double risk_tail(uint32_t n, uint32_t wrong, double alpha)
{
    if (wrong >= n || alpha <= 0) return 1;
    if (alpha >= 1) return 0;
    return fmin(fmax(incomplete_beta((double)n - wrong, wrong + 1.0, 1 - alpha), 0), 1);
}

double risk_upper(uint32_t n, uint32_t wrong, double delta)
{
    double low = 0, high = 1;
    if (wrong >= n) return 1;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        if (risk_tail(n, wrong, middle) > delta)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* --- the guarantee --- */

/* Tests the hypothesis that the risk is above alpha. `effect` dependent records count as one trial. Rounding is
 * conservative: trials are rounded down and errors up. */
static bool is_rejected(uint32_t n, uint32_t wrong, double alpha, double delta, double effect)
{
    double trials = floor(n / effect), errors = ceil(wrong / effect);
    return risk_tail((uint32_t)trials, (uint32_t)errors, alpha) <= delta;
}

/* Returns the index after the last record whose P equals that of record `at` - 1. A threshold includes all of these
 * records or none. */
static uint32_t end_of_run(const struct risk_record *sorted, uint32_t n, uint32_t at)
{
    while (at < n && sorted[at].p >= sorted[at - 1].p) at++;
    return at;
}

/* Returns the least number of records for which a guarantee is possible, if all are right. */
static uint32_t least_records(double alpha, double delta, double effect)
{
    double least = ceil(log(delta) / log1p(-alpha)) * effect;
    return least < MAX_NEEDED ? (uint32_t)ceil(least) : MAX_NEEDED;
}

static bool makes_sense(double alpha, double delta)
{
    return alpha > 0 && alpha < 1 && delta > 0 && delta < 1;
}

/* Returns the number of records of the first test: a quarter, or more if no guarantee is possible from a quarter. */
static uint32_t first_size(const struct risk_record *sorted, uint32_t n, uint32_t least)
{
    double share = FIRST;
    while (share < 1 && ceil(share * n) < least) share += STEP;
    return n ? end_of_run(sorted, n, (uint32_t)fmin(ceil(share * n), n)) : 0;
}

struct risk_promise risk_control(const struct risk_record *sorted, uint32_t n, double alpha, double delta,
                                 double design_effect)
{
    struct risk_promise out = {.threshold = 1, .records = n};
    if (!makes_sense(alpha, delta)) return out;
    uint32_t least = least_records(alpha, delta, design_effect), wrong = 0, done = 0;
    uint32_t size = first_size(sorted, n, least);
    while (size >= least && size > done) {
        for (; done < size; done++) wrong += !sorted[done].right;
        if (!is_rejected(size, wrong, alpha, delta, design_effect)) break;
        out = (struct risk_promise){true, sorted[size - 1].p, n, size, wrong};
        uint32_t next = (uint32_t)fmin(size + ceil(STEP * n), n);
        if (next > size) size = end_of_run(sorted, n, next);
    }
    return out;
}

uint32_t risk_records_needed(const struct risk_record *sorted, uint32_t n, double alpha, double delta,
                             double design_effect)
{
    if (!makes_sense(alpha, delta)) return 0;
    uint32_t least = least_records(alpha, delta, design_effect), size = first_size(sorted, n, least), wrong = 0;
    for (uint32_t i = 0; i < size; i++) wrong += !sorted[i].right;
    if (size < least) return wrong ? 0 : least;
    for (double more = 1; more * n < MAX_NEEDED; more *= MORE)
        if (is_rejected((uint32_t)(size * more), (uint32_t)ceil(wrong * more), alpha, delta, design_effect))
            return (uint32_t)ceil(n * more);
    return 0;
}

double risk_least_alpha(const struct risk_record *sorted, uint32_t n, double delta, double design_effect)
{
    for (int i = 1; i * ALPHA_STEP < 1; i++)
        if (risk_control(sorted, n, i * ALPHA_STEP, delta, design_effect).held) return i * ALPHA_STEP;
    return 1;
}

static int by_cluster(const void *a, const void *b)
{
    const struct risk_record *x = a, *y = b;
    return (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

/* Assumed risk as a share of alpha. Hundreds of labels prove such a risk; a risk nearer to alpha would need
 * thousands. */
static const double PROVABLE = 0.5;

struct risk_wanted risk_labels_wanted(const double *sorted, uint32_t n, double alpha, double delta)
{
    uint32_t quarter = (n + 3) / 4;
    struct risk_wanted out = {.region = quarter};
    double wrong = 0, risk = PROVABLE * alpha;
    for (uint32_t i = 0; i < n; i++) {
        wrong += 1 - sorted[i];
        if (i + 1 < quarter || wrong / (i + 1) > PROVABLE * alpha) continue;
        out.region = i + 1;
        risk = wrong / (i + 1);
    }
    for (uint32_t k = 1; k <= out.region && !out.labels; k++)
        if (risk_tail(k, (uint32_t)lround(risk * k), alpha) <= delta) out.labels = k;
    return out;
}

double risk_design_effect(const struct risk_record *records, uint32_t n)
{
    struct risk_record *sorted = n ? malloc(n * sizeof *sorted) : NULL;
    double wrong = 0, between = 0;
    for (uint32_t i = 0; i < n; i++) wrong += !records[i].right;
    double share = n ? wrong / n : 0;
    if (!sorted || share <= 0 || share >= 1) {
        free(sorted);
        return 1;
    }
    memcpy(sorted, records, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_cluster);
    for (uint32_t i = 0; i < n;) {
        double excess = 0;
        uint32_t cluster = sorted[i].cluster;
        for (; i < n && sorted[i].cluster == cluster; i++) excess += !sorted[i].right - share;
        between += excess * excess;
    }
    free(sorted);
    return fmax(1, between / (n * share * (1 - share)));
}

struct risk_scale risk_measure(const struct risk_record *records, uint32_t n)
{
    struct risk_scale scale = {{0}};
    for (unsigned t = 0; t < RISK_TRAITS; t++) {
        double sum = 0, squares = 0;
        for (uint32_t i = 0; i < n; i++) sum += (double)records[i].traits[t];
        double mean = n ? sum / n : 0;
        for (uint32_t i = 0; i < n; i++)
            squares += ((double)records[i].traits[t] - mean) * ((double)records[i].traits[t] - mean);
        double deviation = n ? sqrt(squares / n) : 0;
        scale.by[t] = deviation > 1e-9 ? (float)(1 / deviation) : 0;
    }
    return scale;
}

static double distance(const struct risk_scale *scale, const float *a, const float *b)
{
    double sum = 0;
    for (unsigned t = 0; t < RISK_TRAITS; t++) {
        double apart = (double)((a[t] - b[t]) * scale->by[t]);
        sum += apart * apart;
    }
    return sum / RISK_TRAITS;
}

double risk_strangeness(const struct risk_record *records, uint32_t n, const struct risk_scale *scale,
                        const float traits[RISK_TRAITS], uint32_t skip)
{
    double least = INFINITY;
    uint32_t step = n / RISK_LANDMARKS + 1;
    for (uint32_t i = 0; i < n; i += step)
        if (i != skip) least = fmin(least, distance(scale, records[i].traits, traits));
    return isinf(least) ? 1 : least / (1 + least);
}

double risk_p_value(const struct risk_record *records, uint32_t n, const struct risk_scale *scale,
                    const struct risk_record *answer)
{
    double wrong = 1, surer = 1; /* both start with the weight of the answer itself */
    for (uint32_t i = 0; i < n; i++) {
        if (records[i].right) continue;
        double weight = exp(-distance(scale, records[i].traits, answer->traits));
        wrong += weight;
        if (records[i].p >= answer->p) surer += weight;
    }
    return surer / wrong;
}

/* --- the martingale --- */

static uint32_t bin_of(double value)
{
    double at = floor(value * RISK_SHIFT_BINS);
    return 1 + (uint32_t)fmin(fmax(at, 0), RISK_SHIFT_BINS - 1);
}

static void count_in(struct risk_martingale *m, uint32_t bin)
{
    for (; bin <= RISK_SHIFT_BINS; bin += bin & -bin) m->counts[bin]++;
    m->n++;
}

/* Returns the number of values in bins up to `bin`. */
static uint64_t count_to(const struct risk_martingale *m, uint32_t bin)
{
    uint64_t sum = 0;
    for (; bin; bin -= bin & -bin) sum += m->counts[bin];
    return sum;
}

/* Returns a number evenly distributed in [0, 1): splitmix64 of a counter. */
static double draw(struct risk_martingale *m)
{
    uint64_t z = ++m->draws * 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double staked(const struct risk_martingale *m)
{
    return m->capital[0] + m->capital[1] + m->capital[2];
}

/* Moves a part of the reserve to the bets. The parts 1 / (k (k + 1)) sum to one only in the limit, so a reserve always
 * remains. */
static void stake(struct risk_martingale *m)
{
    double k = (double)(m->answers / RISK_SHIFT_STAKE + 1), part = 1 / (k * (k + 1));
    m->reserve -= part;
    for (int bet = 0; bet < BETS; bet++) m->capital[bet] += part / BETS;
}

static void bet_on(struct risk_martingale *m, double value)
{
    uint32_t bin = bin_of(value);
    uint64_t below = count_to(m, bin - 1), same = count_to(m, bin) - below;
    /* The rank is uniform if the new value is exchangeable with the earlier ones. The value also counts among its
     * equals. */
    double rank = ((double)below + draw(m) * (double)(same + 1)) / (double)(m->n + 1);
    if (m->answers % RISK_SHIFT_STAKE == 0) stake(m);
    m->answers++;
    double sum = staked(m);
    for (int bet = 0; bet < BETS; bet++) {
        double at_stake = (1 - JUMP) * m->capital[bet] + JUMP / BETS * sum;
        m->capital[bet] = at_stake * (1 + (bet - 1) * (rank - 0.5));
    }
    count_in(m, bin);
}

void risk_shift_begin(struct risk_shift *shift, double level)
{
    *shift = (struct risk_shift){.level = level};
    for (int v = 0; v < RISK_SHIFT_VALUES; v++) shift->of[v].reserve = 1;
}

void risk_shift_know(struct risk_shift *shift, const double values[RISK_SHIFT_VALUES])
{
    for (int v = 0; v < RISK_SHIFT_VALUES; v++) count_in(&shift->of[v], bin_of(values[v]));
}

double risk_shift_value(const struct risk_shift *shift)
{
    double sum = 0;
    for (int v = 0; v < RISK_SHIFT_VALUES; v++) sum += shift->of[v].reserve + staked(&shift->of[v]);
    return sum / RISK_SHIFT_VALUES;
}

bool risk_shift_add(struct risk_shift *shift, const double values[RISK_SHIFT_VALUES])
{
    for (int v = 0; v < RISK_SHIFT_VALUES; v++) bet_on(&shift->of[v], values[v]);
    if (risk_shift_value(shift) >= 1 / shift->level) shift->shifted = true;
    return shift->shifted;
}
