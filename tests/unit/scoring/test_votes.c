/* Tests votes: the columns of the label matrix, severity levels, missing signals, positive labelers, and votes that
 * compare the results of candidates. */
#include "scoring/votes.h"
#include "signals/vsig.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { ROOM = 512 };

static struct msg_signal signals[VSIG_ID_END];
static struct msg_finding findings[8];
static struct msg_execution executions[4];
static struct msg_judged judged[4];
static unsigned n_all;
static const struct vsig_def *const *all;

/* Makes four candidates whose signals are all silent. Their results are 1, 1, 2 and none; their votes are 1, 2, 5 and
 * 1. */
static void begin(void)
{
    static const uint32_t rows[] = {1, 1, 2, 0}, votes[] = {1, 2, 5, 1};
    all = vsig_all(&n_all);
    for (unsigned i = 0; i < n_all; i++) signals[i] = (struct msg_signal){.id = (uint32_t)all[i]->id};
    for (unsigned i = 0; i < 4; i++) {
        executions[i] = (struct msg_execution){.code = "ok", .rows = rows[i], .columns = 1, .digest = {rows[i], 0}};
        judged[i] = (struct msg_judged){.count = votes[i],
                                        .score = -(double)i,
                                        .judged = true,
                                        .signals = signals,
                                        .n_signals = n_all,
                                        .execution = &executions[i]};
    }
    executions[3].code = "limit_time";
}
TestSuite(votes, .init = begin, .fini = leak_check);

static int at(const char *const *names, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return (int)i;
    cr_assert_fail("no column %s", name);
    return -1;
}

static uint8_t vote(uint32_t index, unsigned flags, const char *name)
{
    uint8_t votes[LM_MAX_COLUMNS];
    unsigned n;
    const char *const *names = votes_names(flags, &n);
    struct votes_subject subject = {judged, 4, 4, index};
    votes_levels(&subject, flags, votes);
    return votes[at(names, n, name)];
}

static bool places = true; /* whether the requests of these tests have an order of candidates */

static float feature_seen(uint32_t index, uint32_t n_seen, const char *name)
{
    float row[ROOM];
    unsigned n;
    const char *const *names = votes_feature_names(VOTES_REQUEST, &n);
    cr_assert_leq(n, ROOM);
    struct votes_subject subject = {
        .candidates = judged, .n_candidates = 4, .n_seen = n_seen, .index = index, .places = places};
    votes_feature_row(&subject, VOTES_REQUEST, 0.25, row);
    return row[at(names, n, name)];
}
static float feature(uint32_t index, const char *name)
{
    return feature_seen(index, 4, name);
}

static void fire(unsigned i, enum msg_severity severity)
{
    signals[i].state = severity == MSG_NOTE ? MSG_SILENT : MSG_FIRED;
    findings[0] = (struct msg_finding){.signal = signals[i].id, .severity = severity};
    judged[0].findings = findings;
    judged[0].n_findings = 1;
}

/* Compares the results of 70 candidates. All differ, except that the last two repeat one of the first, and one beyond
 * VOTES_MAX_RESULTS. */
Test(votes, results_of_many_candidates_are_compared)
{
    enum { MANY = 70 };
    static struct msg_execution ran[MANY];
    static struct msg_judged many[MANY];
    struct votes_company company;
    unsigned n;
    const char *const *names = votes_feature_names(VOTES_REQUEST, &n);
    for (unsigned i = 0; i < MANY; i++) {
        uint8_t result = (uint8_t)(i == MANY - 2 ? 3 : i == MANY - 1 ? 66 : i);
        ran[i] = (struct msg_execution){.code = "ok", .rows = 1, .columns = i < 30 ? 1 : 2, .digest = {result}};
        many[i] = (struct msg_judged){.count = 1, .judged = true, .execution = &ran[i]};
    }
    votes_look_around(many, MANY, MANY, &company);
    cr_expect_eq(company.n_results, VOTES_MAX_RESULTS);
    static const struct {
        unsigned index;
        double votes, better, shape;
    } cases[] = {{3, 2, 0, 30},  {5, 1, 2, 30},        {65, 1, 2, 40},
                 {66, 2, 0, 40}, {MANY - 2, 2, 0, 40}, {MANY - 1, 2, 0, 40}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        float row[ROOM], alone[ROOM];
        struct votes_subject subject = {many, MANY, MANY, cases[i].index, .company = &company};
        votes_feature_row(&subject, VOTES_REQUEST, 0.25, row);
        subject.company = NULL;
        votes_feature_row(&subject, VOTES_REQUEST, 0.25, alone);
        cr_expect_arr_eq(row, alone, n * sizeof *row, "candidate %u", cases[i].index);
        cr_expect_float_eq(row[at(names, n, "agreement")], cases[i].votes / MANY, 1e-6, "candidate %u", cases[i].index);
        cr_expect_float_eq(row[at(names, n, "better_results")], cases[i].better / MANY, 1e-6, "candidate %u",
                           cases[i].index);
        cr_expect_float_eq(row[at(names, n, "same_shape")], cases[i].shape / MANY, 1e-6, "candidate %u",
                           cases[i].index);
    }
}

Test(votes, names_are_unique_with_plain_signals_first)
{
    unsigned n_plain, n_full;
    const char *const *plain = votes_feature_names(0, &n_plain), *const *full =
                                                                     votes_feature_names(VOTES_REQUEST, &n_full);
    cr_assert_gt(n_full, n_plain);
    for (unsigned i = 0; i < n_full; i++) {
        if (i < n_plain) cr_assert_str_eq(plain[i], full[i]);
        for (unsigned k = 0; k < i; k++) cr_assert_str_neq(full[i], full[k]);
    }
}

Test(votes, columns_form_label_matrix)
{
    for (unsigned flags = 0; flags < 2; flags++) {
        unsigned n;
        struct err err = {0};
        uint8_t votes[LM_MAX_COLUMNS];
        const struct lm_column *columns = votes_columns(flags, &n);
        struct lm_matrix *matrix = lm_matrix_new(columns, n, &err);
        cr_assert(matrix, "%s", err.text);
        fire(2, MSG_ERROR);
        struct votes_subject subject = {judged, 4, 4, 0};
        votes_levels(&subject, flags, votes);
        cr_assert_eq(lm_matrix_add(matrix, votes, 1, &err), ERR_OK, "%s", err.text);
        cr_assert_eq(memcmp(lm_matrix_row(matrix, 0), votes, n), 0, "positive labelers are computed alike");
        lm_matrix_free(matrix);
    }
}

Test(votes, votes_encode_severity)
{
    cr_assert_eq(vote(0, 0, all[0]->name), LM_SILENT);
    fire(0, MSG_WARNING);
    cr_assert_eq(vote(0, 0, all[0]->name), 1);
    fire(0, MSG_ERROR);
    cr_assert_eq(vote(0, 0, all[0]->name), 2);
    fire(0, MSG_NOTE);
    cr_assert_eq(vote(0, 0, all[0]->name), LM_SILENT, "a note is an abstention to the label model");
    signals[0].state = MSG_UNAVAILABLE;
    cr_assert_eq(vote(0, 0, all[0]->name), LM_MISSING, "which is not silent");
}

Test(votes, absent_signal_is_missing_vote)
{
    judged[0].n_signals = 1;
    cr_assert_eq(vote(0, 0, all[0]->name), LM_SILENT);
    cr_assert_eq(vote(0, 0, all[1]->name), LM_MISSING);
}

static bool is_in_all(const struct vsig_def *def)
{
    return !def->off_by_default && def->family != VSIG_LLM;
}

/* The labeler votes "right" if all signals that could run are silent. It abstains if more than 20 % are unavailable. */
Test(votes, language_model_has_own_positive_labeler)
{
    unsigned fired = 0;
    cr_assert_eq(vote(0, 0, "lambda_llm"), 1);
    for (unsigned i = 0; i < n_all; i++)
        if (all[i]->family == VSIG_LLM && !fired++) signals[i].state = MSG_FIRED;
    cr_assert_eq(vote(0, 0, "lambda_llm"), LM_SILENT);
    cr_assert_eq(vote(0, 0, "lambda_all"), 1, "which the others do not see");
    judged[0].n_signals = 1; /* as if the model was not called */
    cr_assert_eq(vote(0, 0, "lambda_llm"), LM_MISSING);
}

Test(votes, positive_labelers_need_silent_signals)
{
    unsigned covered = 0, lost = 0;
    for (unsigned i = 0; i < n_all; i++) covered += is_in_all(all[i]);
    cr_assert_eq(vote(0, 0, "lambda_all"), 1);
    for (unsigned i = 0; i < n_all && (lost + 1) * 5 <= covered; i++) {
        if (!is_in_all(all[i])) continue;
        signals[i].state = MSG_UNAVAILABLE;
        lost++;
    }
    cr_assert_eq(vote(0, 0, "lambda_all"), 1, "%u of %u unavailable", lost, covered);
    for (unsigned i = n_all; i-- > 0;) {
        if (!is_in_all(all[i]) || signals[i].state == MSG_UNAVAILABLE) continue;
        signals[i].state = MSG_UNAVAILABLE;
        break;
    }
    cr_assert_eq(vote(0, 0, "lambda_all"), LM_MISSING);
}

Test(votes, question_signal_is_outside_lambda_db)
{
    for (unsigned i = 0; i < n_all; i++)
        if (all[i]->family == VSIG_QUESTION && !all[i]->off_by_default) signals[i].state = MSG_FIRED;
    cr_assert_eq(vote(0, 0, "lambda_all"), 0);
    cr_assert_eq(vote(0, 0, "lambda_db"), 1);
}

Test(votes, notes_are_features_of_classifier)
{
    char name[LM_NAME_MAX];
    fire(3, MSG_NOTE);
    snprintf(name, sizeof name, "%s.notes", all[3]->name);
    cr_assert_float_eq(feature(0, name), 1, 0);
    cr_assert_float_eq(feature(0, all[3]->name), 0, 0);
    cr_assert_float_eq(feature(0, "notes"), 1, 0);
    signals[3].state = MSG_UNAVAILABLE;
    cr_assert(isnan(feature(0, all[3]->name)));
    cr_assert(isnan(feature(0, name)));
}

Test(votes, result_shape_is_a_vote)
{
    cr_assert_float_eq(feature(0, "label_model_p"), 0.25, 0);
    cr_assert_float_eq(feature(2, "rows_log"), log1p(2), 1e-6);
    cr_assert_float_eq(feature(0, "empty"), 0, 0);
    cr_assert_float_eq(feature(0, "executed"), 1, 0);
    cr_assert_float_eq(feature(3, "executed"), 0, 0);
    cr_assert(isnan(feature(3, "rows_log")));
}

Test(votes, other_votes_match_expected_values)
{
    cr_assert_float_eq(feature(2, "vote_share"), 5.0 / 9, 1e-6);
    cr_assert_float_eq(feature(0, "agreement"), 3.0 / 8, 1e-6, "votes for its result among those that ran");
    cr_assert_float_eq(feature(2, "agreement"), 5.0 / 8, 1e-6);
    cr_assert(isnan(feature(3, "agreement")));
    cr_assert_float_eq(feature(0, "better_results"), 5.0 / 8, 1e-6);
    cr_assert_float_eq(feature(2, "better_results"), 0, 0);
    cr_assert_float_eq(feature(0, "executable_share"), 0.75, 1e-6);
    cr_assert_float_eq(feature(0, "distinct_results"), 2, 0);
    cr_assert_float_eq(feature(2, "rank"), 2, 0);
    places = false;
    cr_assert(isnan(feature(2, "rank")), "where places say nothing it is not known");
    places = true;
    cr_assert_float_eq(feature(2, "score_gap"), 2, 1e-6);
}

/* Decisions are made in the order of candidates. Candidates judged ahead of their turn must have no effect. */
Test(votes, only_judged_candidates_count)
{
    cr_assert(isnan(feature_seen(0, 1, "agreement")), "alone so far: not known");
    cr_assert_float_eq(feature_seen(0, 1, "distinct_results"), 1, 0);
    cr_assert_float_eq(feature_seen(0, 1, "vote_share"), 1.0 / 9, 1e-6, "votes are known from the start");
}

Test(votes, duplicates_are_not_separate_candidates)
{
    judged[1].same_as = 1;
    judged[1].judged = false;
    judged[0].count = 3;
    cr_assert_float_eq(feature(2, "rank"), 1, 0);
    cr_assert_float_eq(feature(2, "vote_share"), 5.0 / 9, 1e-6);
    cr_assert_float_eq(feature(0, "agreement"), 3.0 / 8, 1e-6);
}

Test(votes, same_result_needs_two_that_ran)
{
    cr_assert(votes_same_result(&judged[0], &judged[1]));
    cr_assert_not(votes_same_result(&judged[0], &judged[2]));
    cr_assert_not(votes_same_result(&judged[3], &judged[3]));
}
