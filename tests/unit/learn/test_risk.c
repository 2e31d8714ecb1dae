/* Guarantees on the share of wrong answers must hold in many draws from worlds with known truth. */
#include "lib/learn/risk.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { DRAWS = 1000, RECORDS = 400, FRESH = 4000 };
static const double ALPHA = 0.05, DELTA = 0.1;

static uint64_t state;

static double uniform(void)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(state >> 11) * 0x1p-53;
}

/* Three worlds. In the first, P(correct) is calibrated. In the second, it is overconfident everywhere. In the third,
 * the most confident answers are the worst. */
static double honest(double p)
{
    return p;
}
static double too_sure(double p)
{
    return p * p * 0.97;
}
static double upside_down(double p)
{
    return p > 0.97 ? 0.9 : 0.93;
}

static void draw_records(double (*right)(double), struct risk_record *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        double p = 1 - pow(uniform(), 2) * 0.6;
        out[i] = (struct risk_record){.p = p, .right = uniform() < right(p)};
    }
}

/* Returns the share of wrong answers at the threshold, measured on many fresh answers. */
static double risk_at(double (*right)(double), double threshold)
{
    static struct risk_record fresh[FRESH];
    uint32_t given = 0, wrong = 0;
    draw_records(right, fresh, FRESH);
    for (uint32_t i = 0; i < FRESH; i++) {
        if (fresh[i].p < threshold) continue;
        given++;
        wrong += !fresh[i].right;
    }
    return given ? (double)wrong / given : 0;
}

Test(risk, guarantee_fails_at_most_with_probability_delta)
{
    double (*const worlds[])(double) = {honest, too_sure, upside_down};
    static struct risk_record records[RECORDS];
    for (unsigned w = 0; w < 3; w++) {
        unsigned broken = 0, held = 0;
        state = 7 + w;
        for (unsigned d = 0; d < DRAWS; d++) {
            draw_records(worlds[w], records, RECORDS);
            risk_sort(records, RECORDS);
            struct risk_promise promise = risk_control(records, RECORDS, ALPHA, DELTA, 1);
            held += promise.held;
            /* Fresh answers estimate the true risk. Three standard errors of this estimate are allowed. */
            broken +=
                promise.held && risk_at(worlds[w], promise.threshold) > ALPHA + 3 * sqrt(ALPHA * (1 - ALPHA) / 1000);
        }
        double allowed = DELTA + 3 * sqrt(DELTA * (1 - DELTA) / DRAWS);
        cr_expect_leq((double)broken / DRAWS, allowed, "world %u: %u of %u broken, %u held", w, broken, DRAWS, held);
        if (w == 0) cr_expect_gt(held, DRAWS / 4, "an honest P is worth something: %u", held);
    }
}

Test(risk, tail_and_bound_match_tables)
{
    cr_expect_float_eq(risk_tail(10, 0, 0.1), pow(0.9, 10), 1e-12);
    cr_expect_float_eq(risk_tail(20, 3, 0.25), 0.2251560, 1e-6);
    cr_expect_float_eq(risk_tail(100000, 5000, 0.05), 0.503, 0.002, "no underflow");
    cr_expect_float_eq(risk_tail(5, 5, 0.5), 1, 0);
    for (uint32_t n = 1; n <= 60; n += 7) /* compares it with the sum of its terms */
        for (uint32_t k = 0; k < n; k++) {
            double sum = 0;
            for (uint32_t i = 0; i <= k; i++)
                sum +=
                    exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(0.07) + (n - i) * log(0.93));
            cr_expect_float_eq(risk_tail(n, k, 0.07), sum, 1e-11, "%u of %u: %.15f %.15f", k, n, risk_tail(n, k, 0.07),
                               sum);
        }
    cr_expect_float_eq(risk_tail(1000000, 49000, 0.05), 2.2e-6, 2e-7, "as fast as for few");
    cr_expect_float_eq(risk_upper(45, 0, 0.1), 0.0499, 1e-3);
    cr_expect_float_eq(risk_upper(100, 5, 0.05), 0.1022, 1e-3);
    cr_expect_float_eq(risk_upper(0, 0, 0.1), 1, 0);
}

static struct risk_record *alike(uint32_t n, double p, bool right)
{
    struct risk_record *out = calloc(n ? n : 1, sizeof *out);
    for (uint32_t i = 0; i < n; i++) out[i] = (struct risk_record){p, 0, right};
    return out;
}

Test(risk, too_few_records_report_required_number)
{
    struct risk_record *records = alike(45, 0.9, true);
    struct risk_promise few = risk_control(records, 44, ALPHA, DELTA, 1),
                        enough = risk_control(records, 45, ALPHA, DELTA, 1);
    cr_expect(!few.held && few.threshold == 1);
    cr_expect_eq(risk_records_needed(records, 44, ALPHA, DELTA, 1), 45);
    cr_expect(enough.held && enough.answered == 45 && enough.wrong == 0);
    cr_expect_not(risk_control(records, 45, ALPHA, DELTA, 2).held, "half of what they seem");
    cr_expect_not(risk_control(records, 0, ALPHA, DELTA, 1).held);
    cr_expect_not(risk_control(records, 45, NAN, DELTA, 1).held);
    free(records);
}

Test(risk, all_wrong_kind_has_no_guarantee)
{
    struct risk_record *records = alike(500, 0.99, false);
    struct risk_promise promise = risk_control(records, 500, ALPHA, DELTA, 1);
    cr_expect_not(promise.held);
    cr_expect_eq(risk_records_needed(records, 500, ALPHA, DELTA, 1), 0);
    cr_expect_float_eq(risk_least_alpha(records, 500, DELTA, 1), 1, 0);
    free(records);
}

Test(risk, ties_are_on_one_side_of_threshold)
{
    struct risk_record *records = alike(200, 0.8, true);
    for (unsigned i = 0; i < 40; i++) records[i].p = 0.9;
    for (unsigned i = 100; i < 200; i++) records[i].right = false;
    risk_sort(records, 200);
    cr_expect_not(risk_control(records, 200, ALPHA, DELTA, 1).held, "160 share their P, and 100 of them are wrong");
    free(records);
}

Test(risk, correlated_records_reduce_effective_number)
{
    struct risk_record *records = alike(400, 0.9, true);
    for (unsigned i = 0; i < 400; i++) records[i].cluster = i / 20;
    for (unsigned i = 0; i < 20; i++) records[i].right = false; /* all wrong answers are in one database */
    double together = risk_design_effect(records, 400);
    for (unsigned i = 0; i < 400; i++) records[i].right = i % 20 != 0; /* one wrong answer in each database */
    cr_expect_gt(together, 10);
    cr_expect_float_eq(risk_design_effect(records, 400), 1, 0);
    cr_expect_float_eq(risk_design_effect(records, 0), 1, 0);
    free(records);
}

static const struct risk_scale alike_all;

Test(risk, conformal_p_values_are_uniform)
{
    static struct risk_record records[RECORDS];
    unsigned small = 0, wrong = 0;
    state = 3;
    for (unsigned d = 0; d < DRAWS; d++) {
        struct risk_record fresh;
        draw_records(too_sure, records, RECORDS);
        do draw_records(too_sure, &fresh, 1);
        while (fresh.right);
        wrong++;
        small += risk_p_value(records, RECORDS, &alike_all, &fresh) <= 0.1;
    }
    cr_expect_leq((double)small / wrong, 0.1 + 3 * sqrt(0.1 * 0.9 / DRAWS));
    cr_expect_gt(small, wrong / 25);
}

/* Two kinds of answers, which a trait distinguishes. In one kind, the wrong answers have a higher P(correct). Nine in
 * ten labelled answers are of the other kind, but the request is of this kind. */
static struct risk_record of_two_kinds(bool sure)
{
    struct risk_record out = {.p = uniform()};
    if (sure) out.p = sqrt(out.p);
    out.traits[3] = sure ? 1 : 0;
    return out;
}

Test(risk, weighted_p_value_holds_under_shift)
{
    enum { LABELLED = 600, ASKED = 4000 };
    static struct risk_record records[LABELLED];
    unsigned near = 0, plain = 0;
    state = 4;
    for (unsigned d = 0; d < ASKED; d++) {
        if (d % 100 == 0)
            for (unsigned i = 0; i < LABELLED; i++) records[i] = of_two_kinds(i % 10 == 0);
        const struct risk_record fresh = of_two_kinds(true);
        struct risk_scale scale = risk_measure(records, LABELLED);
        scale.by[3] *= 4; /* separates the kinds clearly */
        near += risk_p_value(records, LABELLED, &scale, &fresh) <= 0.1;
        plain += risk_p_value(records, LABELLED, &alike_all, &fresh) <= 0.1;
    }
    cr_expect_gt(plain, ASKED * 0.14, "%u: the test asks nothing", plain);
    cr_expect_leq(near, ASKED * 0.1 + 3 * sqrt(ASKED * 0.1 * 0.9), "%u", near);
}

Test(risk, p_value_without_similar_records_is_uninformative)
{
    struct risk_record records[100], fresh = {.p = 1};
    for (unsigned i = 0; i < 100; i++)
        records[i] = (struct risk_record){.p = 0.5, .traits = {[0] = i % 2 ? 1.0F : -1.0F}};
    const struct risk_scale scale = risk_measure(records, 100);
    fresh.traits[0] = 1;
    cr_expect_lt(risk_p_value(records, 100, &scale, &fresh), 0.05);
    fresh.traits[0] = 30;
    cr_expect_gt(risk_p_value(records, 100, &scale, &fresh), 0.95);
}

/* Without traits only P(correct) counts. */
static bool saw(struct risk_shift *shift, double p)
{
    return risk_shift_add(shift, (const double[]){p, 0});
}

static void begin_watch(struct risk_shift *shift, const struct risk_record *records)
{
    risk_shift_begin(shift, 0.01);
    for (unsigned i = 0; i < RECORDS; i++) risk_shift_know(shift, (const double[]){records[i].p, 0});
}

Test(risk, drift_is_detected_without_false_alarm)
{
    static struct risk_record records[RECORDS], fresh[2000];
    unsigned false_alarms = 0;
    uint32_t latest = 0;
    for (unsigned d = 0; d < 100; d++) {
        struct risk_shift shift;
        state = 100 + d;
        draw_records(honest, records, RECORDS);
        draw_records(honest, fresh, 2000);
        begin_watch(&shift, records);
        for (unsigned i = 0; i < 2000; i++) saw(&shift, fresh[i].p);
        false_alarms += shift.shifted;
        begin_watch(&shift, records);
        uint32_t after = 0;
        while (after < 2000 && !saw(&shift, fresh[after].p * 0.8)) after++;
        latest = after > latest ? after : latest;
    }
    cr_expect_leq(false_alarms, 4, "%u of 100", false_alarms);
    cr_expect_lt(latest, 300, "seen after %u at the latest", latest);
}

/* Bets placed during a quiet time are lost. Later drift must still be detected. */
Test(risk, drift_after_long_quiet_time_is_detected)
{
    enum { QUIET = 30000, AFTER = 4000 };
    static struct risk_record records[RECORDS], fresh[1];
    struct risk_shift shift;
    unsigned after = 0;
    state = 77;
    draw_records(honest, records, RECORDS);
    begin_watch(&shift, records);
    for (unsigned i = 0; i < QUIET; i++) {
        draw_records(honest, fresh, 1);
        saw(&shift, fresh->p);
    }
    cr_assert_not(shift.shifted);
    cr_assert_leq(risk_shift_value(&shift), 1.5, "%g", risk_shift_value(&shift));
    do draw_records(honest, fresh, 1);
    while (after++ < AFTER && !saw(&shift, fresh->p * 0.8));
    cr_expect_lt(after, 500, "seen after %u", after);
}

static void draw_traits(struct risk_record *record, double shift)
{
    record->p = uniform();
    for (unsigned t = 0; t < RISK_TRAITS; t++)
        record->traits[t] = (float)(uniform() + uniform() + (t == 2 ? shift : 0));
}

/* The answers change to another kind with the same P(correct): drift is reported. Without such a change, no drift is
 * reported. */
Test(risk, drift_in_kind_at_equal_p_is_detected)
{
    enum { N = 300, AFTER = 3000 };
    static struct risk_record records[N];
    static struct risk_shift shift;
    unsigned false_alarms = 0, latest = 0;
    state = 9;
    for (unsigned d = 0; d < 60; d++) {
        for (unsigned i = 0; i < N; i++) draw_traits(&records[i], 0);
        struct risk_scale scale = risk_measure(records, N);
        for (int other = 0; other < 2; other++) {
            unsigned after = 0;
            struct risk_record fresh = {0};
            risk_shift_begin(&shift, 0.01);
            for (unsigned i = 0; i < N; i++)
                risk_shift_know(
                    &shift, (const double[]){records[i].p, risk_strangeness(records, N, &scale, records[i].traits, i)});
            do draw_traits(&fresh, other ? 2.0 : 0);
            while (after++ < AFTER &&
                   !risk_shift_add(&shift,
                                   (const double[]){fresh.p, risk_strangeness(records, N, &scale, fresh.traits, N)}));
            if (!other) false_alarms += shift.shifted;
            if (other && after > latest) latest = after;
        }
    }
    cr_expect_leq(false_alarms, 3, "%u of 60", false_alarms);
    cr_expect_lt(latest, 200, "seen after %u at the latest", latest);
}

/* --- choice of answers to label --- */

Test(risk, labels_are_requested_near_possible_thresholds)
{
    double p[1000];
    for (int i = 0; i < 1000; i++) p[i] = i < 600 ? 0.99 : 0.5; /* 2.5 % of the first 617 are wrong */
    struct risk_wanted some = risk_labels_wanted(p, 1000, 0.05, 0.1);
    cr_expect_eq(some.region, 618, "%u", some.region);
    cr_expect(some.labels > 45 && some.labels < 200, "more than a faultless sample takes: %u", some.labels);
    cr_expect_leq(risk_tail(some.labels, (uint32_t)lround(0.025 * some.labels), 0.05), 0.1);
    cr_expect_gt(risk_labels_wanted(p, 1000, 0.03, 0.1).labels, some.labels, "a stricter promise takes more");
    for (int i = 0; i < 1000; i++) p[i] = 0.6;
    struct risk_wanted unsure = risk_labels_wanted(p, 1000, 0.05, 0.1);
    cr_expect_eq(unsure.region, 250, "a quarter at least: P may be too low");
    cr_expect_eq(risk_labels_wanted(p, 20, 0.05, 0.1).labels, 0, "all twenty would not do");
    cr_expect_eq(risk_labels_wanted(p, 0, 0.05, 0.1).region, 0);
}
