/* Compares two verdicts field by field, and counts the differences (diff.h). Numbers are equal within the tolerance;
 * SQL is equal in normal form. Signals are compared by name for each candidate. Names come from the files, so the table
 * of signals is bounded. */
#include "eval/diff.h"
#include "lib/sql/sql.h"

#include <math.h>
#include <string.h>

const double diff_steps[DIFF_STEPS] = {0.01, 0.05, 0.1, 0.25, 0.5, 1};

const char *diff_field_name(enum diff_field field)
{
    static const char *const names[] = {"status",  "reason",     "sql",         "p_correct",
                                        "signals", "candidates", "explanations"};
    return names[field];
}

/* --- a line ------------------------------------------------------------------------------------------------------ */

static const char *text_at(const json_t *json, const char *key)
{
    return json_string_value(json_object_get(json, key));
}

bool diff_verdict_read(const struct lines *lines, struct diff_verdict *out, struct err *err)
{
    *out = (struct diff_verdict){.line = lines->number};
    if (lines->too_long) {
        err_set(err, ERR_LIMIT_BYTES, "the line is longer than %d bytes", INPUT_MAX_BYTES);
        return false;
    }
    json_error_t error;
    json_t *json = json_loadb(lines->text, lines->len, 0, &error);
    const char *status_name = text_at(json, "status");
    int status = status_name ? msg_status_by_name(status_name) : -1;
    const char *id = text_at(json, "id");
    if (!json || !id || status < 0) {
        const char *why = json ? "not a verdict: id is missing, or status is missing or unknown" : error.text;
        err_set(err, ERR_MALFORMED, "%s", why);
        json_decref(json);
        return false;
    }
    const json_t *p = json_object_get(json, "p_correct");
    *out = (struct diff_verdict){.json = json,
                                 .id = id,
                                 .db = text_at(json, "db"),
                                 .reason = text_at(json, "reason"),
                                 .sql = text_at(json, "sql"),
                                 .gold = text_at(json, "gold"),
                                 .status = (enum msg_status)status,
                                 .p = json_is_number(p) ? json_number_value(p) : (double)NAN,
                                 .line = lines->number};
    return true;
}

void diff_verdict_free(struct diff_verdict *verdict)
{
    json_decref(verdict->json);
    *verdict = (struct diff_verdict){0};
}

/* --- SQL -------------------------------------------------------------------------------------------------------- */

static const char *normal_form(struct arena *arena, const char *sql)
{
    struct sql_stmt *stmt = NULL;
    if (sql_parse(arena, sql, strlen(sql), NULL, &stmt) != ERR_OK) return NULL;
    return sql_normal_form(arena, stmt->root);
}

bool diff_same_sql(const char *a, const char *b)
{
    if (!a || !b || strcmp(a, b) == 0) return a == b || (a && b);
    struct arena arena;
    arena_init(&arena, 0);
    const char *form_a = normal_form(&arena, a), *form_b = form_a ? normal_form(&arena, b) : NULL;
    bool same = form_a && form_b && strcmp(form_a, form_b) == 0;
    arena_free(&arena);
    return same;
}

/* --- candidates ------------------------------------------------------------------------------------------------- */

static bool same_text(const json_t *a, const json_t *b, const char *key)
{
    return g_strcmp0(text_at(a, key), text_at(b, key)) == 0;
}

static int state_of(const json_t *state)
{
    const char *name = json_string_value(state);
    for (int i = 0; name && i < MSG_STATE_COUNT; i++)
        if (strcmp(msg_state_name((enum msg_state)i), name) == 0) return i;
    return -1;
}

/* Records a change of a signal's state. If only one side has a signal, it counts as silent on the other side. So a new
 * signal that fires is a gain. A candidate that one side did not judge is not compared. */
static void note_signal(struct diff_pair *pair, uint32_t candidate, const char *name, const json_t *a, const json_t *b)
{
    int from = a ? state_of(a) : MSG_SILENT, to = b ? state_of(b) : MSG_SILENT;
    if (from < 0 || to < 0 || from == to) return;
    struct diff_signal signal = {candidate, name, (enum msg_state)from, (enum msg_state)to};
    g_array_append_val(pair->signals, signal);
}

static void compare_signals(struct diff_pair *pair, uint32_t candidate, json_t *a, json_t *b)
{
    const char *name;
    json_t *state;
    if (!json_is_object(a) || !json_is_object(b)) return;
    json_object_foreach(a, name, state) note_signal(pair, candidate, name, state, json_object_get(b, name));
    json_object_foreach(b, name, state) if (!json_object_get(a, name)) note_signal(pair, candidate, name, NULL, state);
}

static void compare_candidates(struct diff_pair *pair, const struct diff_rules *rules)
{
    const json_t *a = json_object_get(pair->side[0].json, "candidates"),
                 *b = json_object_get(pair->side[1].json, "candidates");
    size_t n = json_array_size(a);
    bool same = n == json_array_size(b);
    for (size_t i = 0; same && i < n; i++) same = same_text(json_array_get(a, i), json_array_get(b, i), "sql");
    if (!same) {
        pair->fields |= 1U << DIFF_CANDIDATES;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *of_a = json_array_get(a, i), *of_b = json_array_get(b, i);
        compare_signals(pair, (uint32_t)i, json_object_get(of_a, "signals"), json_object_get(of_b, "signals"));
        if (rules->explanations && !same_text(of_a, of_b, "explanation")) pair->fields |= 1U << DIFF_EXPLANATIONS;
    }
    if (pair->signals->len) pair->fields |= 1U << DIFF_SIGNALS;
}

static bool same_p(double a, double b, double tolerance)
{
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return fabs(a - b) <= tolerance * (1 + 1e-9); /* decimals that differ by exactly the tolerance count as equal */
}

void diff_compare(struct diff_pair *pair, const struct diff_rules *rules)
{
    const struct diff_verdict *a = &pair->side[0], *b = &pair->side[1];
    pair->fields = 0;
    if (a->status != b->status) pair->fields |= 1U << DIFF_STATUS;
    if (g_strcmp0(a->reason, b->reason) != 0) pair->fields |= 1U << DIFF_REASON;
    if (!diff_same_sql(a->sql, b->sql)) pair->fields |= 1U << DIFF_SQL;
    if (!same_p(a->p, b->p, rules->tolerance)) pair->fields |= 1U << DIFF_P;
    compare_candidates(pair, rules);
}

/* --- totals ----------------------------------------------------------------------------------------------------- */

void diff_totals_init(struct diff_totals *totals)
{
    *totals = (struct diff_totals){.signals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
}

void diff_totals_free(struct diff_totals *totals)
{
    g_hash_table_destroy(totals->signals);
}

static void count_p(struct diff_totals *totals, double a, double b)
{
    if (isnan(a) || isnan(b)) return;
    double moved = b - a;
    unsigned step = 0;
    totals->p_pairs++;
    totals->p_sum[0] += a;
    totals->p_sum[1] += b;
    if (moved > 0)
        totals->p_up += moved;
    else
        totals->p_down -= moved;
    while (step + 1 < DIFF_STEPS && fabs(moved) > diff_steps[step]) step++;
    if (moved != 0) (moved > 0 ? totals->up : totals->down)[step]++;
}

/* Returns the tally of a signal. Names come from files, so names beyond DIFF_MAX_SIGNALS share one tally. */
static struct diff_tally *tally_of(struct diff_totals *totals, const char *name)
{
    struct diff_tally *tally = g_hash_table_lookup(totals->signals, name);
    if (tally) return tally;
    if (g_hash_table_size(totals->signals) >= DIFF_MAX_SIGNALS) {
        if (strcmp(name, "(others)") != 0) return tally_of(totals, "(others)");
    }
    tally = g_new0(struct diff_tally, 1);
    g_hash_table_insert(totals->signals, g_strdup(name), tally);
    return tally;
}

static void count_signal(struct diff_totals *totals, const struct diff_signal *signal)
{
    struct diff_tally *tally = tally_of(totals, signal->name);
    tally->gained += signal->to == MSG_FIRED;
    tally->lost += signal->from == MSG_FIRED;
    tally->blinded += signal->to == MSG_UNAVAILABLE;
    tally->sighted += signal->from == MSG_UNAVAILABLE;
}

void diff_count(struct diff_totals *totals, const struct diff_pair *pair)
{
    const struct diff_verdict *a = &pair->side[0], *b = &pair->side[1];
    totals->pairs++;
    totals->changed += pair->fields != 0;
    for (int i = 0; i < DIFF_FIELD_COUNT; i++) totals->by_field[i] += pair->fields >> i & 1;
    totals->status[a->status][b->status]++;
    count_p(totals, a->p, b->p);
    for (guint i = 0; i < pair->signals->len; i++)
        count_signal(totals, &g_array_index(pair->signals, struct diff_signal, i));
    if (!pair->measured) return;
    bool right_a = pair->right[0] == DIFF_RIGHT, right_b = pair->right[1] == DIFF_RIGHT;
    totals->measured++;
    totals->right[0] += right_a;
    totals->right[1] += right_b;
    totals->better += pair->right[0] == DIFF_WRONG && right_b;
    totals->worse += right_a && pair->right[1] == DIFF_WRONG;
    for (int i = 0; i < 2; i++) totals->unknown[i] += pair->right[i] == DIFF_UNKNOWN;
}
