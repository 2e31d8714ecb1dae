/* Summarises a run: counts verdict by verdict and writes one JSON object (docs/runs.md). */
#include "eval/eval.h"
#include "eval/runs/run_index_int.h"
#include "lib/learn/metrics.h"
#include "lib/learn/risk.h"
#include "scoring/guarantee.h"

#include <math.h>

enum {
    P_BINS = 20,
    POINTS = 200,   /* maximum number of points of the curve of risk against coverage */
    ALPHAS = 60,    /* number of values of alpha, in steps of ALPHA_STEP, for which a guarantee is computed */
    DATABASES = 200 /* databases that are listed individually, those with the most verdicts */
};
static const double ALPHA_STEP = 0.005, DELTA = 0.1, Z_95 = 1.96;

struct of_signal {
    uint64_t fired, missing;
    uint64_t known, wrong;                 /* labelled answers on which the signal fired; the wrong ones among them */
    uint64_t missing_known, missing_wrong; /* the same counts for answers on which it was unavailable */
};

struct of_database {
    uint32_t id;
    uint64_t verdicts, validated, answered, known, right;
    double p;
    uint64_t with_p;
};

struct run_tally {
    uint64_t status[MSG_STATUS_COUNT], p_bins[P_BINS], with_p;
    double p;
    uint64_t answered, known, right, unanswered; /* unanswered: verdicts with gold but without an answer */
    /* labelled answers that are candidates, not repairs, so that their signals count; the wrong ones among them */
    uint64_t pointed_known, pointed_wrong;
    struct of_signal signals[RUN_SIGNALS];
    GArray *databases; /* struct of_database, by id */
    struct eval_reliability reliability;
    /* struct risk_record; a random sample of them if there are more than GUARANTEE_MAX_RECORDS */
    GArray *records;
    uint64_t offered, random;
};

struct run_tally *run_tally_new(void)
{
    struct run_tally *tally = g_new0(struct run_tally, 1);
    tally->databases = g_array_new(FALSE, TRUE, sizeof(struct of_database));
    tally->records = g_array_new(FALSE, FALSE, sizeof(struct risk_record));
    return tally;
}

void run_tally_free(struct run_tally *tally)
{
    g_array_free(tally->databases, TRUE);
    g_array_free(tally->records, TRUE);
    g_free(tally);
}

/* --- counting --------------------------------------------------------------------------------------------------- */

static void count_signals(struct run_tally *tally, const struct run_row *row)
{
    bool known = row->right >= 0 && row->chosen >= 0, wrong = known && !row->right;
    tally->pointed_known += known;
    tally->pointed_wrong += wrong;
    for (uint64_t bits = row->fired; bits; bits &= bits - 1) {
        struct of_signal *signal = &tally->signals[__builtin_ctzll(bits)];
        signal->fired++;
        signal->known += known;
        signal->wrong += wrong;
    }
    for (uint64_t bits = row->missing; bits; bits &= bits - 1) {
        struct of_signal *signal = &tally->signals[__builtin_ctzll(bits)];
        signal->missing++;
        signal->missing_known += known;
        signal->missing_wrong += wrong;
    }
}

static void count_database(struct run_tally *tally, const struct run_row *row, uint32_t db)
{
    if (tally->databases->len <= db) g_array_set_size(tally->databases, db + 1);
    struct of_database *database = &g_array_index(tally->databases, struct of_database, db);
    database->id = db;
    database->verdicts++;
    database->validated += row->status == MSG_STATUS_VALIDATED || row->status == MSG_STATUS_REPAIRED;
    database->answered += row->answered;
    database->known += row->right >= 0;
    database->right += row->right == 1;
    if (isnan(row->p)) return;
    database->with_p++;
    database->p += row->p;
}

/* Reservoir sampling: each record is kept with the same probability. */
static void keep_record(struct run_tally *tally, struct risk_record record)
{
    uint64_t at = tally->offered++;
    if (at < GUARANTEE_MAX_RECORDS) {
        g_array_append_val(tally->records, record);
        return;
    }
    at = learn_random(&tally->random) % tally->offered;
    if (at < GUARANTEE_MAX_RECORDS) g_array_index(tally->records, struct risk_record, at) = record;
}

void run_tally_add(struct run_tally *tally, const struct run_row *row, uint32_t db)
{
    tally->status[row->status]++;
    tally->answered += row->answered;
    tally->unanswered += row->has_gold && !row->answered;
    count_signals(tally, row);
    count_database(tally, row, db);
    if (row->right >= 0) {
        tally->known++;
        tally->right += row->right == 1;
    }
    if (isnan(row->p)) return;
    double p = CLAMP(row->p, 0, 1);
    tally->with_p++;
    tally->p += p;
    tally->p_bins[MIN((unsigned)(p * P_BINS), P_BINS - 1)]++;
    if (row->right < 0) return;
    eval_reliability_add(&tally->reliability, p, row->right == 1);
    keep_record(tally, (struct risk_record){.p = p, .cluster = db, .right = row->right == 1});
}

/* --- the summary as JSON ---------------------------------------------------------------------------------------- */

static json_t *whole(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *ratio(double a, double b)
{
    return b > 0 ? json_real(a / b) : json_null();
}

static json_t *status_json(const struct run_tally *tally)
{
    json_t *json = json_object();
    for (int i = 0; i < MSG_STATUS_COUNT; i++)
        json_object_set_new(json, msg_status_name((enum msg_status)i), whole(tally->status[i]));
    return json;
}

static json_t *p_json(const struct run_tally *tally)
{
    json_t *bins = json_array();
    for (int i = 0; i < P_BINS; i++) json_array_append_new(bins, whole(tally->p_bins[i]));
    return json_pack("{s:o,s:o,s:o}", "n", whole(tally->with_p), "mean", ratio(tally->p, (double)tally->with_p), "bins",
                     bins);
}

static json_t *signal_json(const struct run_tally *tally, const struct of_signal *signal, const char *name)
{
    double known = (double)(tally->pointed_known - signal->missing_known),
           wrong = (double)(tally->pointed_wrong - signal->missing_wrong), base = known > 0 ? wrong / known : 0,
           precision = signal->known ? (double)signal->wrong / (double)signal->known : 0;
    struct learn_interval range = learn_wilson(signal->wrong, signal->known, Z_95);
    json_t *json = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "signal", name, "fired", whole(signal->fired),
                             "unavailable", whole(signal->missing), "known", whole(signal->known), "wrong",
                             whole(signal->wrong), "precision", ratio((double)signal->wrong, (double)signal->known),
                             "lift", signal->known ? ratio(precision, base) : json_null());
    json_object_set_new(json, "precision_interval",
                        signal->known ? json_pack("[f,f]", range.low, range.high) : json_null());
    return json;
}

static json_t *signals_json(const struct run_tally *tally, const struct run_pass *pass)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < pass->n_signals; i++)
        if (tally->signals[i].fired || tally->signals[i].missing)
            json_array_append_new(list, signal_json(tally, &tally->signals[i], pass->signals[i]));
    return list;
}

static gint most_first(gconstpointer a, gconstpointer b)
{
    const struct of_database *x = a, *y = b;
    return (y->verdicts > x->verdicts) - (y->verdicts < x->verdicts);
}

static json_t *databases_json(struct run_tally *tally, const struct run_pass *pass)
{
    json_t *list = json_array();
    g_array_sort(tally->databases, most_first);
    for (guint i = 0; i < MIN(tally->databases->len, DATABASES); i++) {
        const struct of_database *of = &g_array_index(tally->databases, struct of_database, i);
        json_array_append_new(list, json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "db", pass->databases[of->id],
                                              "verdicts", whole(of->verdicts), "validated", whole(of->validated),
                                              "answered", whole(of->answered), "known", whole(of->known), "right",
                                              whole(of->right), "p", ratio(of->p, (double)of->with_p)));
    }
    return list;
}

static json_t *labels_json(const struct run_tally *tally, const struct run_pass *pass)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o}", "by", pass->labelled ? json_string("execution") : json_null(), "known",
                     whole(tally->known), "right", whole(tally->right), "unanswered", whole(tally->unanswered),
                     "gold_failed", whole(pass->gold_failed));
}

/* --- risk against coverage --- */

static json_t *points_json(const struct risk_record *sorted, uint32_t n, double requests)
{
    json_t *list = json_array();
    uint32_t wrong = 0;
    double next = 0;
    for (uint32_t i = 0; i < n; i++) {
        wrong += !sorted[i].right;
        bool ends_tie = i + 1 == n || sorted[i + 1].p < sorted[i].p;
        if (!ends_tie || (i + 1 < next && i + 1 < n)) continue; /* equal scores cannot be separated by a threshold */
        json_array_append_new(list, json_pack("[f,f,f]", sorted[i].p, (i + 1) / requests, (double)wrong / (i + 1)));
        next = i + 1 + (double)n / POINTS;
    }
    return list;
}

static json_t *promise_json(const struct risk_record *sorted, uint32_t n, double alpha)
{
    struct risk_promise promise = risk_control(sorted, n, alpha, DELTA, 1);
    if (promise.held)
        return json_pack("{s:f,s:b,s:f,s:o,s:o}", "alpha", alpha, "held", 1, "threshold", promise.threshold, "answered",
                         whole(promise.answered), "wrong", whole(promise.wrong));
    return json_pack("{s:f,s:b,s:o}", "alpha", alpha, "held", 0, "needed",
                     whole(risk_records_needed(sorted, n, alpha, DELTA, 1)));
}

static json_t *coverage_json(struct run_tally *tally)
{
    uint32_t n = tally->records->len;
    struct risk_record *records = (struct risk_record *)(void *)tally->records->data;
    json_t *promises = json_array();
    if (!n) {
        json_decref(promises);
        return json_null();
    }
    risk_sort(records, n);
    /* for a sample, the unanswered requests are scaled down in proportion */
    double requests = n + (double)tally->unanswered * n / (double)tally->offered;
    for (int i = 1; i <= ALPHAS; i++) json_array_append_new(promises, promise_json(records, n, i * ALPHA_STEP));
    return json_pack("{s:o,s:o,s:f,s:f,s:o,s:o}", "answers", whole(n), "of", whole(tally->offered), "requests",
                     requests, "delta", DELTA, "points", points_json(records, n, requests), "promises", promises);
}

/* --- values computed from the rows --- */

/* Returns the first column of the first row, or NAN. */
static double number_of(sqlite3 *db, const char *sql, int64_t offset)
{
    sqlite3_stmt *stmt = NULL;
    double value = (double)NAN;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_bind_int64(stmt, 1, offset) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        value = sqlite3_column_double(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

static json_t *times_json(sqlite3 *db)
{
    static const struct {
        const char *name;
        double share;
    } at[] = {{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}, {"max", 1}};
    json_t *json = json_object();
    double n = number_of(db, "SELECT count(ms) FROM verdict WHERE ?1 = 0", 0);
    json_object_set_new(json, "n", json_integer((json_int_t)n));
    for (unsigned i = 0; i < G_N_ELEMENTS(at); i++) {
        int64_t place = (int64_t)fmin(floor(at[i].share * n), n - 1);
        double ms =
            n > 0 ? number_of(db, "SELECT ms FROM verdict WHERE ms IS NOT NULL ORDER BY ms LIMIT 1 OFFSET ?", place)
                  : (double)NAN;
        json_object_set_new(json, at[i].name, isnan(ms) ? json_null() : json_real(ms));
    }
    return json;
}

static json_t *reasons_json(sqlite3 *db)
{
    static const char sql[] =
        "SELECT text, count(*) FROM verdict JOIN name ON kind = ? AND id = reason GROUP BY reason "
        "ORDER BY 2 DESC, 1 LIMIT 100";
    sqlite3_stmt *stmt = NULL;
    json_t *list = json_array();
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK) {
        sqlite3_bind_int(stmt, 1, RUN_REASON);
        while (sqlite3_step(stmt) == SQLITE_ROW)
            json_array_append_new(list, json_pack("{s:s,s:I}", "reason", sqlite3_column_text(stmt, 0), "verdicts",
                                                  (json_int_t)sqlite3_column_int64(stmt, 1)));
    }
    sqlite3_finalize(stmt);
    return list;
}

json_t *run_tally_summary(struct run_tally *tally, const struct run_pass *pass)
{
    struct eval_calibration reliability = eval_reliability_end(&tally->reliability);
    json_t *json = json_pack("{s:i,s:o,s:o,s:o,s:o,s:b}", "schema_version", 1, "verdicts", whole(pass->verdicts),
                             "broken_lines", whole(pass->broken), "long_lines", whole(pass->too_long), "bytes",
                             whole(pass->bytes), "questions", pass->questions);
    json_object_set_new(json, "status", status_json(tally));
    json_object_set_new(json, "answered", whole(tally->answered));
    json_object_set_new(json, "reasons", reasons_json(pass->db));
    json_object_set_new(json, "p_correct", p_json(tally));
    json_object_set_new(json, "times_ms", times_json(pass->db));
    json_object_set_new(json, "signals", signals_json(tally, pass));
    json_object_set_new(json, "n_databases", whole(tally->databases->len));
    json_object_set_new(json, "databases", databases_json(tally, pass));
    json_object_set_new(json, "labels", labels_json(tally, pass));
    json_object_set_new(json, "reliability", tally->known ? eval_calibration_json(&reliability) : json_null());
    json_object_set_new(json, "coverage", coverage_json(tally));
    return json;
}
