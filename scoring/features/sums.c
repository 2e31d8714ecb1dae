/* Sums over features of the other files, separately for and against the query. Each feature alone is too rare for a
 * tree to learn. The sums show how far the query differs from the question. */
#include "scoring/features/extract.h"

#include <glib.h>
#include <math.h>

/* Features that are above 0 if the query does what the question requests, and below 0 if it does something else. NAN if
 * nothing is requested. */
static const enum feature_index STANCES[] = {
    FEATURE_limit_as_asked,    FEATURE_offset_as_asked,  FEATURE_never_as_set,
    FEATURE_not_all_as_rows,   FEATURE_both_as_asked,    FEATURE_either_as_asked,
    FEATURE_only_as_asked,     FEATURE_each_as_asked,    FEATURE_top_of_each,
    FEATURE_different_counted, FEATURE_different_shown,  FEATURE_difference_as_asked,
    FEATURE_ratio_in_order,    FEATURE_include_as_asked, FEATURE_period_as_asked,
    FEATURE_neither_as_asked,  FEATURE_except_as_asked,  FEATURE_exclusion_as_asked,
    FEATURE_both_met,          FEATURE_either_met,       FEATURE_bound_on_computed,
    FEATURE_formula_different, FEATURE_formula_squared,  FEATURE_formula_order,
    FEATURE_entity_gap,        FEATURE_who_met,          FEATURE_null_as_asked,
};
/* FAULTS has features that are above 0 if the query does something other than requested. MERITS has features that are
 * above 0 if it does as requested. */
static const enum feature_index FAULTS[] = {
    FEATURE_bounds_turned,
    FEATURE_bounds_strictness,
    FEATURE_bounds_missing,
    FEATURE_directions_wrong,
    FEATURE_negated_values_kept,
    FEATURE_values_out_unasked,
    FEATURE_aggregates_swapped,
    FEATURE_evidence_ignored,
    FEATURE_evidence_inverted,
    FEATURE_evidence_other_value,
    FEATURE_units_missed,
    FEATURE_contradictions,
    FEATURE_flags_disagree,
    FEATURE_years_unmet,
    FEATURE_month_unmet,
    FEATURE_values_unmet,
    FEATURE_keep_unmet,
    FEATURE_role_mismatch,
    FEATURE_ends_mismatch,
    FEATURE_date_part_mismatch,
    FEATURE_quotient_inverted,
    FEATURE_distinct_unmet,
    FEATURE_counts_amounts,
    FEATURE_number_held,
    FEATURE_or_loose,
    FEATURE_keys_crossed,
    FEATURE_keys_sized,
    FEATURE_sums_multiplied,
    FEATURE_group_merged_asked,
    FEATURE_formula_missing,
    FEATURE_formula_extra,
    FEATURE_sums_distinct,
    FEATURE_filters_unsaid,
};
static const enum feature_index MERITS[] = {
    FEATURE_bounds_exact,     FEATURE_directions_right, FEATURE_negated_values_out, FEATURE_aggregates_as_asked,
    FEATURE_evidence_kept,    FEATURE_units_met,        FEATURE_flags_agree,        FEATURE_years_met,
    FEATURE_month_met,        FEATURE_role_match,       FEATURE_ends_match,         FEATURE_date_part_match,
    FEATURE_quotient_upright, FEATURE_formula_met,
};

static float count_positive(const float *out, const enum feature_index *list, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++) sum += out[list[i]] > 0; /* a comparison with NAN is false */
    return sum;
}

void extract_sums(struct extraction *ex)
{
    float against = count_positive(ex->out, FAULTS, G_N_ELEMENTS(FAULTS));
    float in_favour = count_positive(ex->out, MERITS, G_N_ELEMENTS(MERITS));
    if (!ex->question) return;
    for (size_t i = 0; i < G_N_ELEMENTS(STANCES); i++) {
        in_favour += ex->out[STANCES[i]] > 0;
        against += ex->out[STANCES[i]] < 0;
    }
    ex->out[FEATURE_asked_against] = against;
    ex->out[FEATURE_asked_in_favour] = in_favour;
    ex->out[FEATURE_asked_balance] = in_favour - against;
}
