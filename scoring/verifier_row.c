/* Fills the row of the verifier's content model (verifier_row.h), and hashes the words of a question into keys.
 *
 * The functions for names and for values fill the columns in the same order. Totals and findings follow the columns
 * that they are computed from. */
#include "scoring/verifier_row.h"

#include "lib/text/text.h"

#include <glib.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <xxhash.h>

static const double LEAST_P = 0.002; /* bounds a surprise to that of an event with probability 1/500 */

/* --- names --- */

static const char *names[VERIFIER_ROW];

static void name_totals(void)
{
    static const char *const totals[VERIFIER_TOTALS] = {
        "surprise_sum",          "surprise_first",          "surprise_second",         "surprise_third",
        "surprise_too_much_sum", "surprise_too_little_sum", "surprise_too_much_first", "surprise_too_little_first"};
    static const char *const parts[SQL_PART_COUNT] = {"aggregate", "items",    "from",     "condition",
                                                      "nesting",   "grouping", "ordering", "sets"};
    static const char *const kinds[VERIFIER_GROUP_TOTALS] = {"sum", "too_much", "too_little"};
    for (unsigned i = 0; i < VERIFIER_TOTALS; i++) names[VERIFIER_ROW_TOTALS + i] = totals[i];
    for (unsigned p = 0; p < SQL_PART_COUNT; p++)
        for (unsigned k = 0; k < VERIFIER_GROUP_TOTALS; k++)
            names[VERIFIER_ROW_GROUPS + VERIFIER_GROUP_TOTALS * p + k] =
                g_strdup_printf("surprise_%s_%s", parts[p], kinds[k]);
}

static void make_names(void)
{
    for (unsigned i = 0; i < FEATURE_COUNT; i++) names[i] = features_name(i);
    for (unsigned i = 0; i < VSIG_ID_END; i++) {
        const struct vsig_def *def = vsig_by_id((enum vsig_id)i);
        names[VERIFIER_ROW_SIGNALS + i] =
            def ? g_strdup_printf("signal_%s", def->name) : g_strdup_printf("signal_%u", i);
    }
    for (unsigned i = 0; i < SQL_COMPONENT_COUNT; i++) {
        const char *name = sql_component_name((enum sql_component)i);
        names[VERIFIER_ROW_EXPECTS + i] = g_strdup_printf("expects_%s", name);
        names[VERIFIER_ROW_SURPRISE + i] = g_strdup_printf("surprise_%s", name);
    }
    name_totals();
    static const char *const findings[VERIFIER_FINDINGS] = {"findings_errors", "findings_warnings", "findings_weight",
                                                            "findings_seldom"};
    for (unsigned i = 0; i < VERIFIER_FINDINGS; i++) names[VERIFIER_ROW_FINDINGS + i] = findings[i];
}

const char *const *verifier_row_names(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_names);
    return names;
}

enum feature_group verifier_row_group(unsigned column)
{
    if (column < FEATURE_COUNT) return features_group(column);
    bool signals = column < VERIFIER_ROW_EXPECTS || column >= VERIFIER_ROW_FINDINGS;
    return signals ? FEATURE_GROUP_SIGNALS : FEATURE_GROUP_COMPONENTS;
}

/* --- the row --- */

static void fill_unknown(float *from, unsigned n)
{
    for (unsigned i = 0; i < n; i++) from[i] = (float)NAN;
}

/* Inserts a surprise into the list of the three greatest. */
static void keep_greatest(float *greatest, float surprise)
{
    for (unsigned i = 0; i < 3; i++)
        if (surprise > greatest[i]) {
            float lower = greatest[i];
            greatest[i] = surprise;
            surprise = lower;
        }
}

static void add_surprise(float *row, enum sql_component component, float signed_surprise)
{
    enum { SUM, FIRST, MUCH_SUM = 4, LITTLE_SUM, MUCH, LITTLE };
    float *totals = row + VERIFIER_ROW_TOTALS, size = fabsf(signed_surprise);
    float *group = row + VERIFIER_ROW_GROUPS + (size_t)VERIFIER_GROUP_TOTALS * sql_component_group_of(component);
    totals[SUM] += size;
    keep_greatest(totals + FIRST, size);
    totals[signed_surprise > 0 ? MUCH_SUM : LITTLE_SUM] += size;
    totals[signed_surprise > 0 ? MUCH : LITTLE] = MAX(totals[signed_surprise > 0 ? MUCH : LITTLE], size);
    group[0] += size;
    group[1] = MAX(group[1], signed_surprise);
    group[2] = MIN(group[2], signed_surprise);
}

static void fill_expected(const float *features, const double *expected, float *row)
{
    memset(row + VERIFIER_ROW_TOTALS, 0, (VERIFIER_ROW_FINDINGS - VERIFIER_ROW_TOTALS) * sizeof *row);
    for (unsigned i = 0; i < SQL_COMPONENT_COUNT; i++) {
        double p = CLAMP(expected[i], LEAST_P, 1 - LEAST_P);
        bool has = features[FEATURE_COMPONENTS + i] > 0.5F;
        float surprise = (float)(has ? -log(p) : log(1 - p));
        row[VERIFIER_ROW_EXPECTS + i] = (float)p;
        row[VERIFIER_ROW_SURPRISE + i] = surprise;
        add_surprise(row, (enum sql_component)i, surprise);
    }
}

/* Signals that fire on fewer than one right query in 200, and on few wrong ones. An error of such a signal is seldom a
 * false alarm. */
static const enum vsig_id SELDOM[] = {
    VSIG_ID_contradicted_value, VSIG_ID_null_first,      VSIG_ID_unit_mismatch,        VSIG_ID_inverted_ratio,
    VSIG_ID_counted_amount,     VSIG_ID_wrong_role,      VSIG_ID_wrong_grouping,       VSIG_ID_date_part,
    VSIG_ID_loose_or,           VSIG_ID_crossed_keys,    VSIG_ID_set_mismatch,         VSIG_ID_evidence_ignored,
    VSIG_ID_text_number,        VSIG_ID_dropped_rows,    VSIG_ID_not_in_null,          VSIG_ID_contradiction,
    VSIG_ID_integer_division,   VSIG_ID_window_mismatch, VSIG_ID_calculation_mismatch, VSIG_ID_constant_result,
    VSIG_ID_lost_last_day,      VSIG_ID_repeated_total,
};

static void fill_findings(const float *signals, float *out)
{
    enum { ERRORS, WARNINGS, WEIGHT, OF_SELDOM };
    for (unsigned i = 0; i < VERIFIER_FINDINGS; i++) out[i] = 0;
    for (unsigned i = 0; i < VSIG_ID_END; i++) {
        if (!(signals[i] >= 1)) continue; /* NAN means unavailable */
        out[signals[i] >= 2 ? ERRORS : WARNINGS]++;
        out[WEIGHT] += signals[i];
    }
    for (size_t i = 0; i < G_N_ELEMENTS(SELDOM); i++) out[OF_SELDOM] += signals[SELDOM[i]] >= 2;
}

void verifier_row(const float *features, const float *signals, const double *expected, float *row)
{
    memcpy(row, features, FEATURE_COUNT * sizeof *row);
    memcpy(row + VERIFIER_ROW_SIGNALS, signals, VSIG_ID_END * sizeof *row);
    if (expected && !isnan(features[FEATURE_COMPONENTS]))
        fill_expected(features, expected, row);
    else
        fill_unknown(row + VERIFIER_ROW_EXPECTS, VERIFIER_ROW_FINDINGS - VERIFIER_ROW_EXPECTS);
    fill_findings(signals, row + VERIFIER_ROW_FINDINGS);
}

/* False for signals of a language model, which models_hear weighs separately. */
static bool is_learned(uint32_t id)
{
    const struct vsig_def *def = id < VSIG_ID_END ? vsig_by_id((enum vsig_id)id) : NULL;
    return def && def->family != VSIG_LLM;
}

void verifier_row_signals(const struct msg_judged *judged, float *signals)
{
    static const float levels[MSG_SEVERITY_COUNT] = {[MSG_NOTE] = 0.5F, [MSG_WARNING] = 1, [MSG_ERROR] = 2};
    fill_unknown(signals, VSIG_ID_END);
    for (uint32_t i = 0; i < judged->n_signals; i++)
        if (is_learned(judged->signals[i].id) && judged->signals[i].state != MSG_UNAVAILABLE)
            signals[judged->signals[i].id] = 0;
    for (uint32_t i = 0; i < judged->n_findings; i++) {
        const struct msg_finding *f = &judged->findings[i];
        if (is_learned(f->signal) && f->severity < MSG_SEVERITY_COUNT && !(levels[f->severity] <= signals[f->signal]))
            signals[f->signal] = levels[f->severity];
    }
}

/* --- keys of a question --- */

struct keys {
    uint64_t *items;
    uint32_t n;
};

static void add_key(struct keys *keys, uint64_t key)
{
    for (uint32_t i = 0; i < keys->n; i++)
        if (keys->items[i] == key) return;
    if (keys->n < VERIFIER_MAX_KEYS) keys->items[keys->n++] = key;
}

static uint64_t hash_of(const char *word)
{
    return XXH3_64bits(word, strlen(word));
}

/* Returns the word for a token: its stem, or a mask if the token is a value or a name. */
static const char *masked(const struct text_tokens *tokens, uint32_t i)
{
    const struct text_token *t = &tokens->items[i];
    bool starts = i == 0 || (tokens->items[i - 1].kind == TEXT_PUNCT && strchr(".?!", tokens->items[i - 1].norm[0]));
    if (t->kind == TEXT_QUOTED) return "<text>";
    if (t->kind == TEXT_NUMBER) return fabs(t->number - 1) < 1e-9 ? "<one>" : "<number>";
    return t->kind == TEXT_WORD && t->is_capital && !starts ? "<name>" : t->stem;
}

/* Hashes the words, between a start mark and an end mark. Adjacent names become one word. */
static uint32_t read_words(const struct text_tokens *tokens, uint64_t *words)
{
    uint32_t n = 0;
    uint64_t name = hash_of("<name>");
    words[n++] = hash_of("<start>");
    for (uint32_t i = 0; i < tokens->n && n < VERIFIER_MAX_WORDS; i++) {
        uint64_t word = hash_of(masked(tokens, i));
        if (word != name || words[n - 1] != name) words[n++] = word;
    }
    words[n++] = hash_of("<end>");
    return n;
}

static uint64_t combine(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t parts[] = {a, b, c};
    return XXH3_64bits(parts, sizeof parts);
}

uint32_t verifier_keys(struct arena *arena, const char *question, uint64_t keys[VERIFIER_MAX_KEYS])
{
    uint64_t words[VERIFIER_MAX_WORDS + 2], any = hash_of("<any>");
    struct keys out = {keys, 0};
    struct text_tokens tokens = text_tokenize(arena, question, strlen(question));
    if (!tokens.items) return 0;
    uint32_t n = read_words(&tokens, words);
    for (uint32_t i = 0; i < n; i++) {
        add_key(&out, words[i]);
        if (i + 1 < n) add_key(&out, combine(words[i], words[i + 1], 0));
        if (i + 2 < n) add_key(&out, combine(words[i], words[i + 1], words[i + 2]));
        if (i + 2 < n) add_key(&out, combine(words[i], any, words[i + 2]));
    }
    add_key(&out, combine(MIN(n / 4, 8), 0, any));
    return out.n;
}
