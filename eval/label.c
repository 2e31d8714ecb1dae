/* Labels candidates by execution (label.h). A few databases stay open; the least recently used is closed first. Gold
 * and candidates run through lib/db with the reference labeller's time limits; a stricter limit of the catalogue
 * applies to both. Only fingerprints of results are stored. */
#include "eval/label.h"
#include "eval/equal.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* Time limits of the reference labeller. The limits on rows and bytes are additional; they are far above the needs of
 * an answer. */
static const struct db_limits gold_limits = {
    .time_ms = 20000, .max_rows = 2000000, .max_bytes = 512ULL << 20, .sql_bytes = 1000000, .expr_depth = 1000};
static const struct db_limits candidate_limits = {
    .time_ms = 3000, .max_rows = 2000000, .max_bytes = 512ULL << 20, .sql_bytes = 1000000, .expr_depth = 1000};
static const size_t result_arena_bytes = 2ULL << 30;

enum { MAX_OPEN = 8 };

struct open_db {
    char *name, *path;
    struct db *db;
};

struct labeler {
    const struct worker_databases *databases;
    bool by_steps;
    struct open_db open[MAX_OPEN]; /* open databases, most recently used first */
    GHashTable *unreached;         /* name → reason, of databases that could not be opened */
};

struct labeler *labeler_new(const struct worker_databases *databases)
{
    struct labeler *labeler = g_new0(struct labeler, 1);
    labeler->databases = databases;
    labeler->unreached = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return labeler;
}

uint32_t labeler_unreached(const struct labeler *labeler, const char **name, const char **why)
{
    GHashTableIter iter;
    gpointer key = NULL, value = NULL;
    g_hash_table_iter_init(&iter, labeler->unreached);
    if (!g_hash_table_iter_next(&iter, &key, &value)) return 0;
    *name = key;
    *why = value;
    return g_hash_table_size(labeler->unreached);
}

void labeler_by_steps(struct labeler *labeler)
{
    labeler->by_steps = true;
}

/* Takes the smaller limit; 0 means no limit. */
#define STRICTER(limits, other, field)                                                                                 \
    if ((other)->field > 0 && ((limits).field == 0 || (other)->field < (limits).field)) (limits).field = (other)->field

struct db_limits labeler_limits(const struct labeler *labeler, const char *name, const struct db_limits *own)
{
    const struct worker_database *entry = worker_database_find(labeler->databases, name);
    struct db_limits limits = *own;
    limits.by_steps |= labeler->by_steps;
    if (!entry) return limits;
    if (entry->limits.time_ms) limits.by_steps = false; /* the owner's limit is a time, so steps cannot replace it */
    STRICTER(limits, &entry->limits, time_ms);
    STRICTER(limits, &entry->limits, max_rows);
    STRICTER(limits, &entry->limits, max_bytes);
    STRICTER(limits, &entry->limits, max_cost);
    return limits;
}

static void open_db_free(struct open_db *open)
{
    if (open->db) db_close(open->db);
    g_free(open->name);
    free(open->path); /* malloc'd by worker_database_path */
    *open = (struct open_db){0};
}

void labeler_free(struct labeler *labeler)
{
    for (int i = 0; i < MAX_OPEN; i++) open_db_free(&labeler->open[i]);
    g_hash_table_destroy(labeler->unreached);
    g_free(labeler);
}

static void move_to_front(struct labeler *labeler, int at)
{
    struct open_db used = labeler->open[at];
    memmove(labeler->open + 1, labeler->open, (size_t)at * sizeof used);
    labeler->open[0] = used;
}

static enum err_code open_database(struct labeler *labeler, const char *name, struct open_db *out, struct err *err)
{
    enum err_code code = worker_database_path(labeler->databases, name, &out->path, err);
    if (code) return code;
    struct db_limits limits = labeler_limits(labeler, name, &candidate_limits);
    code = db_open(out->path, &limits, &out->db, err);
    if (code) free(out->path);
    return code;
}

struct db *labeler_db(struct labeler *labeler, const char *name, const char **path, struct err *err)
{
    struct err own = {0};
    if (!err) err = &own;
    int at = 0;
    while (at < MAX_OPEN && (!labeler->open[at].name || strcmp(labeler->open[at].name, name) != 0)) at++;
    if (at == MAX_OPEN) {
        struct open_db fresh = {0};
        if (open_database(labeler, name, &fresh, err) != ERR_OK) {
            g_hash_table_insert(labeler->unreached, g_strdup(name), g_strdup(err->text));
            return NULL;
        }
        fresh.name = g_strdup(name);
        at = MAX_OPEN - 1;
        open_db_free(&labeler->open[at]);
        labeler->open[at] = fresh;
    }
    move_to_front(labeler, at);
    if (path) *path = labeler->open[0].path;
    return labeler->open[0].db;
}

struct schema_index *labeler_schema(struct labeler *labeler, struct schema_cache *schemas, const char *name,
                                    const struct db_limits *limits)
{
    const char *path = NULL;
    struct schema_index *index = NULL;
    struct db *db = labeler_db(labeler, name, &path, NULL);
    const struct db_limits of_its_owner = labeler_limits(labeler, name, limits);
    if (db) db_set_limits(db, &of_its_owner);
    return db && schema_cache_get(schemas, db, name, path, &index, NULL) == ERR_OK ? index : NULL;
}

static bool add_definition(void *ctx, const struct db_value *row, uint32_t n)
{
    (void)n;
    g_string_append_printf(ctx, "%.*s;\n", (int)row[0].len, row[0].text);
    return true;
}

char *labeler_definitions(struct labeler *labeler, const char *name, struct err *err)
{
    static const char sql[] =
        "SELECT sql FROM sqlite_master WHERE type IN ('table', 'view', 'index') AND sql IS NOT NULL"
        " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid";
    const char *path = NULL;
    struct db *db = labeler_db(labeler, name, &path, err);
    if (!db) return NULL;
    if (!db_is_file(path)) {
        err_set(err, ERR_CONFIG, "'%.100s' is not a SQLite file", name);
        return NULL;
    }
    GString *text = g_string_new(NULL);
    enum err_code code = db_scan(db, sql, add_definition, text, err);
    return g_string_free(text, code != ERR_OK);
}

/* Runs a statement and computes its fingerprint. Returns false, with the reason in `err`, if it failed. If the result
 * exceeds the limits on rows or bytes, sets *huge: it counts as run but equals no other result. */
static bool run(struct db *db, const struct db_limits *limits, const char *sql, size_t len, struct fingerprint *out,
                bool *huge, struct err *err)
{
    struct arena arena;
    struct db_result result;
    arena_init(&arena, result_arena_bytes);
    db_set_limits(db, limits);
    enum err_code code = db_query(db, &arena, sql, len, NULL, 0, 0, &result, err);
    *huge = code == ERR_LIMIT_ROWS || code == ERR_LIMIT_BYTES || code == ERR_LIMIT_MEMORY;
    bool good = code == ERR_OK && fingerprint_make(&result, out);
    arena_free(&arena);
    return good;
}

/* Returns the first candidate whose result has the most votes. */
static uint32_t majority_of(const XXH128_hash_t *bags, const bool *ran, const struct msg_judged *candidates, uint32_t n)
{
    uint64_t best = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t votes = 0;
        for (uint32_t k = 0; ran[i] && k < n; k++)
            if (ran[k] && XXH128_isEqual(bags[i], bags[k])) votes += candidates[k].count ? candidates[k].count : 1;
        if (votes <= best) continue;
        best = votes;
        at = i;
    }
    return at;
}

static const char *keep_error(struct arena *arena, const struct err *err)
{
    const char *text = arena_strdup(arena, err->text[0] ? err->text : err_meaning(err->code));
    return text ? text : "failed";
}

enum err_code label_line(struct labeler *labeler, struct arena *arena, const char *name, const char *gold,
                         const struct msg_judged *candidates, uint32_t n, struct labels *out, struct err *err)
{
    struct db *db = labeler_db(labeler, name, NULL, err);
    if (!db) return err && err->code ? err->code : ERR_DB_MISSING;
    *out = (struct labels){.n = n,
                           .of = arena_new_array(arena, n + 1, enum label),
                           .errors = arena_new_array(arena, n + 1, const char *),
                           .first_executable = LABEL_NONE};
    XXH128_hash_t *bags = arena_new_array(arena, n + 1, XXH128_hash_t);
    bool *ran = arena_new_array(arena, n + 1, bool);
    if (!out->of || !out->errors || !bags || !ran) return err_set(err, ERR_LIMIT_MEMORY, "too many candidates");

    const struct db_limits for_gold = labeler_limits(labeler, name, &gold_limits),
                           for_candidates = labeler_limits(labeler, name, &candidate_limits);
    struct fingerprint want = {0}, got = {0};
    struct err why = {0};
    bool huge = false;
    out->gold_failed = !run(db, &for_gold, gold, strlen(gold), &want, &huge, &why);
    out->gold_empty = !huge && want.n_rows == 0;
    bool ordered = orders_at_top(gold);
    for (uint32_t i = 0; i < n; i++) {
        why = (struct err){0};
        bool good = run(db, &for_candidates, candidates[i].sql.bytes, candidates[i].sql.len, &got, &huge, &why);
        ran[i] = good;
        if (good) bags[i] = got.bag;
        if (!good && !huge) out->errors[i] = keep_error(arena, &why);
        bool right = good && !out->gold_failed && fingerprint_equal(&want, &got, ordered);
        out->of[i] = right ? LABEL_RIGHT : good || huge ? LABEL_WRONG : LABEL_FAILED;
        if (out->of[i] != LABEL_FAILED && out->first_executable == LABEL_NONE) out->first_executable = i;
        if (good) fingerprint_free(&got);
    }
    out->majority = majority_of(bags, ran, candidates, n);
    fingerprint_free(&want);
    return ERR_OK;
}

enum err_code label_repair(struct labeler *labeler, const struct msg_verdict *verdict, struct labels *labels,
                           struct err *err)
{
    if (!verdict->repair || !verdict->repair->sql) return ERR_OK;
    const char *sql = verdict->repair->sql;
    const struct msg_judged judged = {.sql = {sql, (uint32_t)strlen(sql)}, .count = 1};
    struct labels own;
    struct arena arena;
    arena_init(&arena, 0);
    enum err_code code = label_line(labeler, &arena, verdict->db, verdict->gold, &judged, 1, &own, err);
    if (code == ERR_OK) labels->repair = own.of[0];
    arena_free(&arena);
    return code;
}
