/* Collects the verifier's training data (verifier_data.h): reads logs, makes candidates, runs and labels them.
 *
 * The logs are read into memory first. Threads then take one question at a time, in two passes: the first counts the
 * kinds of mutants of each question, the second judges the candidates. Each thread has its own databases and arenas.
 * Samples are stored by question and gathered in the order of the logs.
 *
 * The same logs give the same samples, even on a busy machine. The question and its gold query seed all random choices.
 * A limit on steps, not on time, ends statements. */
#include "train/verifier_data.h"

#include "eval/equal.h"
#include "eval/label.h"
#include "lib/base/input.h"
#include "lib/explain/explain.h"
#include "lib/explain/provenance.h"
#include "lib/learn/metrics.h"
#include "lib/question/question.h"
#include "lib/question/wording.h"
#include "proto/message/msg.h"
#include "scoring/verifier_context.h"
#include "train/mutants.h"
#include "train/word_fit.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { LINE_BYTES = 64 << 20, CANDIDATE_BYTES = 256 << 20, MAX_SIBLINGS = 16, SAID = 20 };

/* The limits of the labeller for gold queries (eval/label.c), with a longer time. */
static const struct db_limits gold_limits = {
    .time_ms = 600000, .max_rows = 2000000, .max_bytes = 512ULL << 20, .sql_bytes = 1000000, .expr_depth = 1000};

/* Limits of candidates and probes. They end by the number of steps, not by the time. So the same logs give the same
 * samples on a busy machine. */
enum { MAX_STEPS = 30000000, AMPLE_MS = 600000 };

struct judge;

/* A line of a log until its question is judged. */
struct line {
    char *text;
    size_t len;
    float *embedding; /* embedding of the question, to find siblings */
    GArray *samples;  /* struct verifier_sample: samples of this question */
};

struct collector {
    const struct verifier_collect *config;
    struct db_limits limits; /* limits of candidates */
    GHashTable *blind;       /* database name → struct wording_model that has not seen it (config->blind); or NULL */
    GArray *lines;           /* struct line */
    GArray *questions;       /* struct verifier_question, parallel to `lines` */
    atomic_uint next, done;
    atomic_uint with[SQL_MUTATOR_COUNT]; /* number of questions with mutants of each kind */
    struct mutant_kinds kinds;           /* the same numbers, set after all questions were counted */
    void (*each)(struct judge *judge, uint32_t index);
    uint64_t unread; /* lines that are neither requests nor verdicts nor feedback */
};

/* The state of one thread. */
struct judge {
    struct collector *collector;
    struct labeler *labeler; /* opens databases */
    struct arena line_arena, arena;
};

/* The result of a query that feedback calls wrong. */
struct wrong {
    struct fingerprint print;
    bool ordered;
};

/* A question while its candidates are judged. */
struct bench {
    struct judge *judge;
    struct verifier_question *question;
    struct line *line;
    struct db *db;
    struct schema_index *schema;
    const struct question *analysis;
    struct fingerprint gold;
    bool ordered;
    struct wrong *wrong; /* results of queries that feedback calls wrong */
    uint32_t n_wrong;
};

const char *verifier_origin_name(enum verifier_origin origin)
{
    static const char *const names[ORIGIN_COUNT] = {"beam", "gold", "mutant", "double mutant", "sibling", "favourite"};
    return origin < ORIGIN_COUNT ? names[origin] : NULL;
}

/* --- one candidate --- */

static float level_of(const struct vsig_verdict *verdict)
{
    float level = 0;
    if (verdict->state == VSIG_UNAVAILABLE) return (float)NAN;
    for (const struct vsig_finding *f = verdict->findings; f; f = f->next)
        level = MAX(level, f->severity == VSIG_NOTE ? 0.5F : f->severity == VSIG_WARNING ? 1.0F : 2.0F);
    return level;
}

static void run_signals(const struct bench *b, struct vsig_subject *subject, struct verifier_sample *sample)
{
    static const struct vsig_verdict none = {.state = VSIG_UNAVAILABLE};
    struct vsig_verdict verdicts[VSIG_ID_END];
    for (unsigned i = 0; i < VSIG_ID_END; i++) verdicts[i] = none;
    for (unsigned family = 0; family < VSIG_FAMILY_COUNT; family++)
        vsig_run_family(subject, (enum vsig_family)family, b->judge->collector->config->signals, verdicts);
    for (unsigned i = 0; i < VSIG_ID_END; i++) sample->signals[i] = level_of(&verdicts[i]);
}

static bool is_called_wrong(const struct bench *b, const char *sql, size_t len)
{
    for (char **wrong = b->question->wrong; wrong && *wrong; wrong++)
        if (strlen(*wrong) == len && memcmp(*wrong, sql, len) == 0) return true;
    return false;
}

/* Labels a candidate by comparing its result with the gold's, or without gold with the results of queries marked wrong.
 * Feedback on exactly this text takes precedence over its result. */
static void label(const struct bench *b, const char *sql, size_t len, const struct db_result *result,
                  struct verifier_sample *sample)
{
    struct fingerprint print = {0};
    bool wrong = is_called_wrong(b, sql, len), made = fingerprint_make(result, &print);
    if (b->question->gold) {
        sample->right = !wrong && made && fingerprint_equal(&b->gold, &print, b->ordered);
    } else {
        for (uint32_t i = 0; made && !wrong && i < b->n_wrong; i++)
            wrong = fingerprint_equal(&b->wrong[i].print, &print, b->wrong[i].ordered);
        sample->unknown = !wrong;
    }
    fingerprint_free(&print);
}

/* Explains a candidate without running probes, because their rows are not features. Returns NULL if the explanation
 * fails. */
static const struct explanation *explain(const struct bench *b, const struct vsig_subject *subject)
{
    struct explain_options options = explain_defaults;
    struct explanation *out = NULL;
    const struct explain_source source = {.sql = subject->sql,
                                          .sql_len = subject->sql_len,
                                          .stmt = subject->stmt,
                                          .bound = subject->bound,
                                          .index = b->schema,
                                          .result = &subject->result};
    options.may_probe = false;
    if (subject->bound->diags) return NULL;
    return explain_query(&b->judge->arena, &source, &options, &out, NULL) == ERR_OK ? out : NULL;
}

/* Judges a candidate and stores its sample. Returns true if the sample is known to be wrong. */
static bool judge_candidate(const struct bench *b, const char *sql, size_t len, struct verifier_sample sample)
{
    struct vsig_subject subject;
    struct arena *arena = &b->judge->arena;
    arena_reset(arena);
    enum err_code code = vsig_subject_init(&subject, arena, b->schema, b->db, sql, len, b->question->text,
                                           b->question->evidence, b->analysis);
    const struct db_result *result = code == ERR_OK ? vsig_result(&subject) : NULL;
    if (!result) return false;
    label(b, sql, len, result, &sample);
    sample.rows = result->n_rows;
    memcpy(sample.digest, result->digest, sizeof sample.digest);
    if (features_extract(&subject, explain(b, &subject), arena, sample.features) != ERR_OK) return false;
    run_signals(b, &subject, &sample);
    g_array_append_val(b->line->samples, sample);
    return !sample.right && !sample.unknown;
}

/* --- candidates of a question --- */

static void judge_beams(const struct bench *b, const struct msg_request *request)
{
    for (uint32_t i = 0; i < request->n_candidates; i++) {
        const struct msg_candidate *c = &request->candidates[i];
        struct verifier_sample sample = {.origin = ORIGIN_BEAM, .op = -1, .rank = i, .count = c->count ? c->count : 1};
        judge_candidate(b, c->sql.bytes, c->sql.len, sample);
    }
}

static bool judge_made(const struct bench *b, const char *sql, enum verifier_origin origin, int op)
{
    return judge_candidate(b, sql, strlen(sql), (struct verifier_sample){.origin = origin, .op = op, .count = 1});
}

/* Makes all mutants of the gold query, and the order in which to judge them. Returns their number; 0 if there are
 * none. */
static uint32_t all_mutants(const struct bench *b, uint64_t seed, struct sql_mutation **out, uint32_t **order)
{
    const struct verifier_collect *config = b->judge->collector->config;
    struct arena *arena = &b->judge->line_arena;
    const char *gold = b->question->gold;
    const struct schema_edits_options options = {
        .values = worker_expose(config->databases, b->question->db, config->expose) != MSG_EXPOSE_NONE, .seed = seed};
    int n = schema_edits(arena, b->schema, &options, gold, strlen(gold), out, NULL);
    *order = n > 0 ? arena_new_array(arena, (size_t)n, uint32_t) : NULL;
    if (!*order) return 0;
    mutants_order(&b->judge->collector->kinds, *out, (uint32_t)n, seed, *order);
    return (uint32_t)n;
}

static void judge_double(const struct bench *b, const struct sql_mutation *mutant, enum verifier_origin origin,
                         uint64_t seed)
{
    const struct verifier_collect *config = b->judge->collector->config;
    struct sql_mutation *again = NULL;
    const struct schema_edits_options options = {
        .values = worker_expose(config->databases, b->question->db, config->expose) != MSG_EXPOSE_NONE,
        .seed = seed,
        .n = 1};
    if (schema_edits(&b->judge->line_arena, b->schema, &options, mutant->sql, strlen(mutant->sql), &again, NULL) == 1)
        judge_made(b, again[0].sql, origin, (int)mutant->op);
}

/* Judges mutants until `config->mutants` of them are wrong, or twice that number were tried. Doubles are made from the
 * next mutants. */
static void judge_mutants(const struct bench *b, uint64_t seed)
{
    const struct verifier_collect *config = b->judge->collector->config;
    struct sql_mutation *mutants = NULL;
    uint32_t *order = NULL, n = config->mutants ? all_mutants(b, seed, &mutants, &order) : 0, wrong = 0, i = 0;
    for (; i < n && i < 2 * config->mutants && wrong < config->mutants; i++)
        wrong += judge_made(b, mutants[order[i]].sql, ORIGIN_MUTANT, (int)mutants[order[i]].op);
    for (uint32_t k = 0; n && k < config->doubles; k++)
        judge_double(b, &mutants[order[(i + k) % n]], ORIGIN_DOUBLE, learn_random(&seed));
}

/* --- favourites of a verifier --- */

struct liked {
    double score;
    struct verifier_sample *sample;
};

static int best_first(const void *a, const void *b)
{
    const struct liked *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->sample < y->sample ? -1 : 1;
}

/* Keeps only the wrong samples with the highest scores, one sample for each score. */
static void keep_favourites(const struct bench *b, const struct verifier_search *search, uint32_t question)
{
    GArray *all = b->line->samples, *kept = g_array_new(FALSE, FALSE, sizeof(struct verifier_sample));
    struct liked *liked = g_new(struct liked, all->len + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < all->len; i++) {
        struct verifier_sample *sample = &g_array_index(all, struct verifier_sample, i);
        sample->question = question;
        if (!sample->right && !sample->unknown) liked[n++] = (struct liked){search->like(search->ctx, sample), sample};
    }
    qsort(liked, n, sizeof *liked, best_first);
    for (uint32_t i = 0; i < n && kept->len < search->keep; i++) {
        bool again = i && liked[i].score == liked[i - 1].score; /* samples with equal scores have the same form */
        if (!again) g_array_append_vals(kept, liked[i].sample, 1);
    }
    g_free(liked);
    g_array_free(all, TRUE);
    b->line->samples = kept;
}

/* Judges mutants that the usual pass has not tried: those after its last one in the same order. Also judges mutants of
 * all mutants. */
static void judge_favourites(const struct bench *b, uint64_t seed, uint32_t question)
{
    const struct verifier_collect *config = b->judge->collector->config;
    const struct verifier_search *search = config->search;
    struct sql_mutation *mutants = NULL;
    uint32_t *order = NULL, n = all_mutants(b, seed, &mutants, &order);
    uint32_t first = b->question->given ? 0 : 2 * config->mutants;
    uint64_t other = seed + search->round;
    for (uint32_t i = first; search->round == 1 && i < n && i < first + search->pool; i++)
        judge_made(b, mutants[order[i]].sql, ORIGIN_FAVOURITE, (int)mutants[order[i]].op);
    for (uint32_t i = 0; n && i < search->pool; i++)
        judge_double(b, &mutants[order[i % n]], ORIGIN_FAVOURITE, learn_random(&other));
    keep_favourites(b, search, question);
}

/* --- siblings --- */

struct sibling {
    float likeness;
    uint32_t question;
};

static bool same_text(const char *a, const char *b)
{
    for (;;) {
        while (g_ascii_isspace(*a)) a++;
        while (g_ascii_isspace(*b)) b++;
        if (!*a || g_ascii_tolower(*a) != g_ascii_tolower(*b)) return g_ascii_tolower(*a) == g_ascii_tolower(*b);
        a++;
        b++;
    }
}

/* True if a sibling found before has the same gold query. The question is then a paraphrase. */
static bool is_known(const struct collector *c, const struct sibling *best, uint32_t n, const char *gold)
{
    for (uint32_t i = 0; i < n; i++)
        if (same_text(g_array_index(c->questions, struct verifier_question, best[i].question).gold, gold)) return true;
    return false;
}

/* Finds the most similar questions on the same database with another gold query, most similar first. Returns their
 * number. */
static uint32_t find_siblings(const struct bench *b, struct sibling *best, uint32_t max)
{
    const struct collector *c = b->judge->collector;
    uint32_t n = 0;
    for (uint32_t i = 0; max && i < c->questions->len; i++) {
        const struct verifier_question *q = &g_array_index(c->questions, struct verifier_question, i);
        if (q == b->question || !q->gold || strcmp(q->db, b->question->db) != 0) continue;
        if (same_text(q->gold, b->question->gold)) continue;
        struct sibling s = {
            text_cosine(g_array_index(c->lines, struct line, i).embedding, b->line->embedding, TEXT_DIM), i};
        if (n == max && s.likeness <= best[n - 1].likeness) continue;
        if (is_known(c, best, n, q->gold)) continue;
        uint32_t at = n < max ? n++ : n - 1;
        for (; at > 0 && best[at - 1].likeness < s.likeness; at--) best[at] = best[at - 1];
        best[at] = s;
    }
    return n;
}

static void judge_siblings(const struct bench *b)
{
    struct sibling best[MAX_SIBLINGS];
    const struct collector *c = b->judge->collector;
    uint32_t n = find_siblings(b, best, MIN(c->config->siblings, MAX_SIBLINGS));
    for (uint32_t i = 0; i < n; i++)
        judge_made(b, g_array_index(c->questions, struct verifier_question, best[i].question).gold, ORIGIN_SIBLING, -1);
}

/* --- one question --- */

static bool run_into(const struct bench *b, const char *sql, struct fingerprint *print, bool *empty)
{
    struct db_result result;
    struct arena *arena = &b->judge->arena;
    arena_reset(arena);
    bool good = db_query(b->db, arena, sql, strlen(sql), NULL, 0, 0, &result, NULL) == ERR_OK &&
                fingerprint_make(&result, print);
    if (empty) *empty = good && result.n_rows == 0;
    return good;
}

/* Sets limits, including the time limit of the catalogue's entry. The database owner's limit takes precedence over
 * reproducible samples. */
static void set_limits(const struct bench *b, const struct db_limits *own)
{
    struct db_limits limits = labeler_limits(b->judge->labeler, b->question->db, own);
    db_set_limits(b->db, &limits);
}

/* Runs the gold query. An answer that feedback marks right has the limits of a candidate. */
static bool run_gold(struct bench *b)
{
    if (!b->question->from_feedback) set_limits(b, &gold_limits);
    bool good = run_into(b, b->question->gold, &b->gold, &b->question->gold_empty);
    set_limits(b, &b->judge->collector->limits);
    return good;
}

static bool run_wrong(struct bench *b)
{
    char **all = b->question->wrong;
    b->wrong = arena_new_array(&b->judge->line_arena, g_strv_length(all) + 1, struct wrong);
    for (char **sql = all; b->wrong && *sql; sql++) {
        struct wrong *wrong = &b->wrong[b->n_wrong];
        *wrong = (struct wrong){.ordered = orders_at_top(*sql)};
        b->n_wrong += run_into(b, *sql, &wrong->print, NULL);
    }
    return b->n_wrong > 0;
}

static bool read_gold(const struct bench *b)
{
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    struct arena *arena = &b->judge->arena;
    arena_reset(arena);
    if (sql_parse(arena, b->question->gold, strlen(b->question->gold), NULL, &stmt) != ERR_OK) return false;
    if (sql_bind(arena, stmt, &b->schema->catalog, &bound) != ERR_OK) return false;
    b->question->components = sql_components(bound);
    return true;
}

static bool open_schema(struct bench *b)
{
    const char *path = NULL;
    b->db = labeler_db(b->judge->labeler, b->question->db, &path, NULL);
    b->question->unreached = !b->db;
    if (!b->db) return false;
    if (schema_cache_get(b->judge->collector->config->schemas, b->db, b->question->db, path, &b->schema, NULL) !=
        ERR_OK)
        b->schema = NULL;
    return b->schema != NULL;
}

static bool open_bench(struct bench *b)
{
    if (!open_schema(b)) return false;
    b->analysis = question_read(&b->judge->line_arena, b->schema, b->question->text, b->question->evidence);
    if (!b->analysis) return false;
    GHashTable *blind = b->judge->collector->blind;
    const struct wording_model *wording = blind ? g_hash_table_lookup(blind, b->question->db) : NULL;
    if (wording) wording_use(b->analysis->wording, wording);
    return b->question->gold ? run_gold(b) && read_gold(b) : run_wrong(b);
}

/* True if the data prove the gold query wrong: it sorts numbers as text, or its first row is NULL. If it counted as
 * right, the verifier would learn to ignore such findings. */
static bool gold_is_faulty(const struct bench *b)
{
    static const enum vsig_id PROVED[] = {VSIG_ID_text_number, VSIG_ID_null_first};
    static const struct vsig_verdict none = {.state = VSIG_UNAVAILABLE};
    struct vsig_verdict verdicts[VSIG_ID_END];
    struct vsig_subject subject;
    const char *gold = b->question->gold;
    if (!gold || b->question->from_feedback) return false;
    for (unsigned i = 0; i < VSIG_ID_END; i++) verdicts[i] = none;
    arena_reset(&b->judge->arena);
    if (vsig_subject_init(&subject, &b->judge->arena, b->schema, b->db, gold, strlen(gold), b->question->text,
                          b->question->evidence, b->analysis) != ERR_OK)
        return false;
    vsig_run_family(&subject, VSIG_EXECUTION, b->judge->collector->config->signals, verdicts);
    for (size_t i = 0; i < G_N_ELEMENTS(PROVED); i++)
        if (level_of(&verdicts[PROVED[i]]) >= 2) return true;
    return false;
}

static void judge_all(const struct bench *b, const struct msg_request *request, uint64_t seed, uint32_t index)
{
    bool searches = b->judge->collector->config->search;
    if (searches && b->question->gold) judge_favourites(b, seed, index);
    if (searches) return;
    if (request->n_candidates) {
        judge_beams(b, request);
    } else if (b->question->gold) {
        judge_made(b, b->question->gold, ORIGIN_GOLD, -1);
        judge_mutants(b, seed);
        judge_siblings(b);
    }
}

static void judge_question(struct judge *judge, uint32_t index)
{
    struct collector *c = judge->collector;
    struct bench b = {.judge = judge,
                      .question = &g_array_index(c->questions, struct verifier_question, index),
                      .line = &g_array_index(c->lines, struct line, index)};
    arena_reset(&judge->line_arena);
    struct msg_request *request;
    const char *gold = b.question->gold;
    if ((!gold && !b.question->wrong) ||
        msg_request_from_json(&judge->line_arena, b.line->text, b.line->len, &request, NULL))
        return;
    b.ordered = gold && orders_at_top(gold);
    b.question->usable = open_bench(&b) && !gold_is_faulty(&b);
    uint64_t seed = c->config->seed ^ g_str_hash(b.question->text) ^ (uint64_t)g_str_hash(gold ? gold : "") << 32;
    if (b.question->usable) judge_all(&b, request, seed, index);
    fingerprint_free(&b.gold);
    for (uint32_t i = 0; i < b.n_wrong; i++) fingerprint_free(&b.wrong[i].print);
    if (b.schema) schema_unref(b.schema);
}

/* Counts the kinds of mutants that this question has. */
static void count_kinds(struct judge *judge, uint32_t index)
{
    struct collector *c = judge->collector;
    struct bench b = {.judge = judge, .question = &g_array_index(c->questions, struct verifier_question, index)};
    struct sql_mutation *mutants = NULL;
    bool has[SQL_MUTATOR_COUNT] = {false};
    uint32_t *order = NULL;
    arena_reset(&judge->line_arena);
    bool made = c->config->mutants && b.question->gold && !b.question->given;
    uint32_t n = made && open_schema(&b) ? all_mutants(&b, 1, &mutants, &order) : 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!has[mutants[i].op]) atomic_fetch_add(&c->with[mutants[i].op], 1);
        has[mutants[i].op] = true;
    }
    if (b.schema) schema_unref(b.schema);
}

static gpointer judge_thread(gpointer p)
{
    struct collector *c = p;
    struct judge judge = {.collector = c, .labeler = labeler_new(c->config->databases)};
    arena_init(&judge.line_arena, LINE_BYTES);
    arena_init(&judge.arena, CANDIDATE_BYTES);
    for (uint32_t i; (i = atomic_fetch_add(&c->next, 1)) < c->lines->len;) {
        c->each(&judge, i);
        atomic_fetch_add(&c->done, 1);
    }
    arena_free(&judge.arena);
    arena_free(&judge.line_arena);
    labeler_free(judge.labeler);
    return NULL;
}

/* --- all questions --- */

/* Finds the feedback on a request. A gold query in the log takes precedence over feedback. */
static void take_feedback(struct feedback *feedback, const struct msg_request *request,
                          struct verifier_question *question)
{
    struct feedback_labels labels;
    if (feedback && question->gold) feedback_pass_by(feedback, request);
    if (!feedback || question->gold || !feedback_labels(feedback, request, &labels)) return;
    question->from_feedback = true;
    question->gold = g_strdup(labels.right);
    question->wrong = g_new0(char *, labels.n_wrong + 1);
    for (uint32_t i = 0; i < labels.n_wrong; i++) question->wrong[i] = g_strdup(labels.wrong[i]);
    if (labels.generator && !*question->generator) {
        g_free(question->generator);
        question->generator = g_strdup(labels.generator);
    }
    g_free(labels.wrong);
}

static void questions_free(struct verifier_question *questions, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        g_free(questions[i].text);
        g_free(questions[i].evidence);
        g_free(questions[i].db);
        g_free(questions[i].gold);
        g_free(questions[i].generator);
        g_strfreev(questions[i].wrong);
    }
}

static void skip_line(struct collector *c, const struct lines *lines, const char *why)
{
    if (c->unread++ >= SAID || !c->config->skipped) return;
    char *where = lines_where(lines);
    c->config->skipped(where, why);
    g_free(where);
}

static struct verifier_question question_of(struct collector *c, const struct msg_request *request,
                                            GHashTable *databases)
{
    const char *generator = verifier_generator(request);
    gpointer known = g_hash_table_lookup(databases, request->db);
    if (!known)
        g_hash_table_insert(databases, g_strdup(request->db),
                            known = GUINT_TO_POINTER(g_hash_table_size(databases) + 1));
    struct verifier_question question = {.text = g_strdup(request->question),
                                         .evidence = g_strdup(request->evidence),
                                         .db = g_strdup(request->db),
                                         .gold = g_strdup(request->gold),
                                         .generator = g_strdup(generator ? generator : "*"),
                                         .given = request->n_candidates,
                                         .database = GPOINTER_TO_UINT(known) - 1};
    take_feedback(c->config->feedback, request, &question);
    return question;
}

static void keep_request(struct collector *c, const struct lines *from, const struct msg_request *request,
                         GHashTable *databases)
{
    struct verifier_question question = question_of(c, request, databases);
    if (c->config->feedback && !question.gold && !question.wrong) {
        questions_free(&question, 1); /* free the question: topics hold far more requests than feedback */
        return;
    }
    struct line line = {g_memdup2(from->text, from->len), from->len, g_new0(float, TEXT_DIM),
                        g_array_new(FALSE, FALSE, sizeof(struct verifier_sample))};
    const struct text_embedder *embedder = text_builtin_embedder();
    embedder->embed(embedder, question.text, strlen(question.text), line.embedding);
    g_array_append_val(c->lines, line);
    g_array_append_val(c->questions, question);
}

/* Stores a request with a question. Verdicts (which have no question) and feedback (which has no database) do not count
 * as unreadable requests. */
static void keep_line(struct collector *c, const struct lines *from, GHashTable *databases)
{
    struct arena arena;
    struct err err = {0};
    struct msg_request *request = NULL;
    arena_init(&arena, 0);
    if (from->too_long)
        err_set(&err, ERR_LIMIT_BYTES, "the line is longer than %d bytes", INPUT_MAX_BYTES);
    else
        msg_request_from_json(&arena, from->text, from->len, &request, &err);
    bool other = feedback_is_meant(from->text, from->len) || feedback_is_verdict(from->text, from->len);
    if (!request && !other) skip_line(c, from, err.text);
    if (request && request->question)
        keep_request(c, from, request, databases);
    else if (request && !other && c->config->feedback)
        feedback_pass_by(c->config->feedback, request);
    arena_free(&arena);
}

static enum err_code read_logs(struct collector *c, const char *const *paths, int n, uint32_t *n_databases,
                               struct err *err)
{
    struct logs logs = {.paths = paths, .n = n, .on_empty = c->config->on_empty};
    GHashTable *databases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    uint64_t limit = c->config->limit;
    int more = 1;
    while ((!limit || c->lines->len < limit) && (more = logs_next(&logs, err)) > 0)
        keep_line(c, &logs.lines, databases);
    *n_databases = g_hash_table_size(databases);
    g_hash_table_destroy(databases);
    logs_rewind(&logs);
    if (more >= 0) return ERR_OK;
    return err && err->code ? err->code : ERR_IO;
}

static void run_threads(struct collector *c, void (*each)(struct judge *judge, uint32_t index))
{
    c->each = each;
    atomic_store(&c->next, 0);
    atomic_store(&c->done, 0);
    unsigned n = c->config->threads ? c->config->threads : g_get_num_processors();
    GThread **threads = g_new0(GThread *, n);
    for (unsigned i = 0; i < n; i++) threads[i] = g_thread_new("collect", judge_thread, c);
    while (c->config->tick && atomic_load(&c->done) < c->lines->len) {
        c->config->tick(c->config->ctx, (double)atomic_load(&c->done) / (double)c->lines->len);
        g_usleep(G_USEC_PER_SEC / 10);
    }
    for (unsigned i = 0; i < n; i++) g_thread_join(threads[i]);
    g_free(threads);
}

/* Gathers all samples into one list, in the order of the logs. */
static struct verifier_data *gather(struct collector *c, uint32_t n_databases)
{
    struct verifier_data *data = g_new0(struct verifier_data, 1);
    GArray *samples = g_array_new(FALSE, FALSE, sizeof(struct verifier_sample));
    for (uint32_t i = 0; i < c->lines->len; i++) {
        struct line *line = &g_array_index(c->lines, struct line, i);
        struct verifier_question *question = &g_array_index(c->questions, struct verifier_question, i);
        question->first = samples->len;
        question->n = line->samples->len;
        data->skipped += !question->usable;
        data->unreached += question->unreached;
        for (uint32_t k = 0; k < line->samples->len; k++)
            g_array_index(line->samples, struct verifier_sample, k).question = i;
        g_array_append_vals(samples, line->samples->data, line->samples->len);
        g_array_free(line->samples, TRUE);
        line->samples = NULL;
    }
    data->n_databases = n_databases;
    data->unread = c->unread;
    data->n_questions = c->questions->len;
    data->questions = (struct verifier_question *)(void *)g_array_free(c->questions, FALSE);
    data->n = samples->len;
    data->samples = (struct verifier_sample *)(void *)g_array_free(samples, FALSE);
    c->questions = NULL;
    return data;
}

static void lines_free(GArray *lines)
{
    for (uint32_t i = 0; i < lines->len; i++) {
        struct line *line = &g_array_index(lines, struct line, i);
        g_free(line->text);
        g_free(line->embedding);
        if (line->samples) g_array_free(line->samples, TRUE);
    }
    g_array_free(lines, TRUE);
}

enum err_code verifier_collect(const struct verifier_collect *config, const char *const *logs, int n_logs,
                               struct verifier_data **out, struct err *err)
{
    uint32_t n_databases = 0;
    struct collector c = {.config = config,
                          .limits = *config->limits,
                          .lines = g_array_new(FALSE, FALSE, sizeof(struct line)),
                          .questions = g_array_new(FALSE, FALSE, sizeof(struct verifier_question))};
    c.limits.max_steps = MAX_STEPS;
    c.limits.time_ms = AMPLE_MS;
    c.limits.by_steps = true; /* applies to probes too, whose time limits are shorter */
    *out = NULL;
    enum err_code code = config->blind ? load_blind_words(config->blind, &c.blind, err) : ERR_OK;
    if (code == ERR_OK) code = read_logs(&c, logs, n_logs, &n_databases, err);
    if (code == ERR_OK) {
        run_threads(&c, count_kinds);
        c.kinds.questions = c.lines->len;
        for (unsigned op = 0; op < SQL_MUTATOR_COUNT; op++) c.kinds.with[op] = atomic_load(&c.with[op]);
        run_threads(&c, judge_question);
        *out = gather(&c, n_databases);
    }
    if (c.questions) {
        questions_free((struct verifier_question *)(void *)c.questions->data, c.questions->len);
        g_array_free(c.questions, TRUE);
    }
    lines_free(c.lines);
    if (c.blind) g_hash_table_destroy(c.blind);
    return code;
}

void verifier_data_merge(struct verifier_data *data, const struct verifier_data *more)
{
    struct verifier_sample *all = g_new(struct verifier_sample, (size_t)data->n + more->n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < data->n_questions; i++) {
        struct verifier_question *q = &data->questions[i];
        const struct verifier_question *m = &more->questions[i];
        uint32_t first = n;
        memcpy(all + n, data->samples + q->first, q->n * sizeof *all);
        memcpy(all + n + q->n, more->samples + m->first, m->n * sizeof *all);
        n += q->n + m->n;
        q->first = first;
        q->n += m->n;
    }
    g_free(data->samples);
    data->samples = all;
    data->n = n;
}

void verifier_data_free(struct verifier_data *data)
{
    if (!data) return;
    questions_free(data->questions, data->n_questions);
    g_free(data->questions);
    g_free(data->samples);
    g_free(data);
}
