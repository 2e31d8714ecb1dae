/* The input row of the verifier's content model for one candidate. Training and judging use the same row.
 *
 *    features   of scoring/features/features.h, as received
 *    signals    of the other families: 0 silent, 0.5 a note, 1 a warning, 2 an error, NAN unavailable
 *    expected   for each component of lib/sql/components.h: the probability P that the question requires it, then the
 *               surprise. The surprise is -log P if the candidate has the component, otherwise log(1 - P). So a
 *               positive sign means a superfluous component, and a negative sign a missing one. Sums and extremes of
 *               the surprises follow, over all components and by group.
 *    findings   number of signals with an error, number with a warning, the sum of these levels, and number of errors
 *               of rare signals. Rare signals fire too seldom for trees to learn each of them. */
#ifndef ASSAY_SCORING_VERIFIER_ROW_H
#define ASSAY_SCORING_VERIFIER_ROW_H

#include "proto/message/msg.h"
#include "scoring/features/features.h"

enum {
    VERIFIER_ROW_SIGNALS = FEATURE_COUNT,
    VERIFIER_ROW_EXPECTS = VERIFIER_ROW_SIGNALS + VSIG_ID_END,
    VERIFIER_ROW_SURPRISE = VERIFIER_ROW_EXPECTS + SQL_COMPONENT_COUNT,
    VERIFIER_ROW_TOTALS = VERIFIER_ROW_SURPRISE + SQL_COMPONENT_COUNT,
    VERIFIER_TOTALS = 8, /* sum, three greatest; of superfluous and of missing components: sums, then greatest */
    VERIFIER_ROW_GROUPS = VERIFIER_ROW_TOTALS + VERIFIER_TOTALS,
    VERIFIER_GROUP_TOTALS = 3, /* sum, greatest of superfluous components, greatest of missing ones */
    VERIFIER_ROW_FINDINGS = VERIFIER_ROW_GROUPS + VERIFIER_GROUP_TOTALS * SQL_PART_COUNT,
    VERIFIER_FINDINGS = 4, /* errors, warnings, sum of the levels, errors of rare signals */
    VERIFIER_ROW = VERIFIER_ROW_FINDINGS + VERIFIER_FINDINGS
};

/* Returns the names of the columns. The array is static. */
const char *const *verifier_row_names(void);
enum feature_group verifier_row_group(unsigned column);

/* Fills row[VERIFIER_ROW]. `signals` has levels by id (VSIG_ID_END). `expected` has P of each component, or is NULL
 * without a question. */
void verifier_row(const float *features, const float *signals, const double *expected, float *row);

/* Fills the levels of a judged candidate's signals, by id. */
void verifier_row_signals(const struct msg_judged *judged, float *signals);

/* Computes the keys of a question for the models of expected components: hashes of stems and of their n-grams. Values
 * are masked, so the models learn the form of the question. Writes at most VERIFIER_MAX_KEYS unique keys. Returns their
 * number. Also returns 0 if memory runs out. */
enum { VERIFIER_MAX_KEYS = 1024, VERIFIER_MAX_WORDS = 250 };
uint32_t verifier_keys(struct arena *arena, const char *question, uint64_t keys[VERIFIER_MAX_KEYS]);

#endif
