/* Implements a store in PostgreSQL with the extension vector (pgvector), for fleets whose workers share one store.
 *
 * DESIGN. `assay_example` has the columns of the file's table, with an HNSW index (inner product) on each of the three
 * vectors, and the words as tsvector. A search is one statement. It returns the nearest NEAR examples by each part of
 * the key, and the best examples by words. Each has its likeness by all parts of the key. This file fuses the ranks, as
 * for a store in a file, and holds no examples in memory. Vectors have the same integers as in a file, and likeness is
 * the same product of vectors.
 *
 * `build` fills tables with other names and renames them at the end, in one transaction, so searches never see an
 * incomplete store. Later additions insert one row each, without a common transaction. Concurrent additions of the same
 * example are stored once, by the digest of question and SQL. Searching needs only SELECT.
 *
 * While the server is unreachable, searches find nothing, and the store reconnects only after RETRY_NS. A connection
 * string with a password is refused, because it would be visible in settings and process lists. libpq reads the
 * password from PGPASSFILE or PGPASSWORD instead.
 */
#include "examples/store.h"

#include "lib/base/clock.h"
#include "lib/db/db.h"
#include "lib/db/libpq.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { NEAR = 200, SEARCH_MS = 5000, VECTOR_TEXT = 8 + 5 * TEXT_DIM, MAX_WORDS_TEXT = 2048 };
static const int64_t RETRY_NS = 10 * INT64_C(1000000000);

struct examples_postgres {
    struct examples base;
    char *dsn;
    GMutex lock; /* protects the connection */
    PGconn *link;
    const char *table;   /* table into which examples are inserted */
    bool builds;         /* the store is being built, and a transaction is open */
    int64_t retry_at_ns; /* the server is unreachable: time of the next attempt */
};

static struct examples_postgres *of(struct examples *base)
{
    return (struct examples_postgres *)base;
}

/* --- statements --- */

/* Sets `err` to the server's message, without the parts that quote values. */
static enum err_code failed(struct examples_postgres *store, const PGresult *result, struct err *err)
{
    if (!store->link || PQstatus(store->link) != CONNECTION_OK)
        return err_set(err, ERR_UNREACHABLE, "%s does not answer", store->base.name);
    const char *said = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    return err_set(err, ERR_IO, "%s: %s (SQLSTATE %s)", store->base.name, said ? said : "no answer",
                   state ? state : "unknown");
}

static bool is_good(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* Runs a query. Returns the result, which the caller frees with PQclear, or NULL on failure. */
static PGresult *ask(struct examples_postgres *store, const char *sql, int n, const char *const *values,
                     struct err *err)
{
    PGresult *result = PQexecParams(store->link, sql, n, NULL, values, NULL, NULL, 0);
    if (is_good(result)) return result;
    failed(store, result, err);
    PQclear(result);
    return NULL;
}

/* Runs several statements without results. */
static enum err_code run(struct examples_postgres *store, const char *sql, struct err *err)
{
    PGresult *result = PQexec(store->link, sql);
    enum err_code code = is_good(result) ? ERR_OK : failed(store, result, err);
    PQclear(result);
    return code;
}

/* --- open and close --- */

/* Ignores notices of the server, which libpq would write to standard error. */
static void ignore(void *ctx, const PGresult *remark)
{
    (void)ctx, (void)remark;
}

static enum err_code connect_to(struct examples_postgres *store, struct err *err)
{
    /* The connection string overrides the keywords before it. */
    const char *const keys[] = {"connect_timeout", "application_name", "dbname", "client_encoding", NULL};
    const char *const values[] = {"2", "assay-examples", store->dsn, "UTF8", NULL};
    store->link = PQconnectdbParams(keys, values, 1);
    PQsetNoticeReceiver(store->link, ignore, NULL);
    if (PQstatus(store->link) == CONNECTION_OK) return ERR_OK;
    PQfinish(store->link);
    store->link = NULL;
    return err_set(err, ERR_UNREACHABLE,
                   "%s cannot be reached" ERR_HINT
                   "check that the server is up, and that user name and password are correct",
                   store->base.name);
}

/* Loads libpq, and checks that the connection string has no password, because it may appear in messages. */
static enum err_code prepare(const char *dsn, struct err *err)
{
    enum err_code code = libpq_open(err);
    /* the message omits the connection string, because it may contain a secret */
    if (code || !db_path_has_secret(dsn)) return code;
    return err_set(err, ERR_CONFIG,
                   "the store's connection string is malformed or contains a password" ERR_HINT
                   "give the password by PGPASSFILE or PGPASSWORD");
}

static struct examples_postgres *store_new(const char *dsn, struct examples_encoder *encoder)
{
    struct examples_postgres *store = g_new0(struct examples_postgres, 1);
    char *shown = db_path_shown(dsn);
    store->base = (struct examples){
        .kind = &examples_postgres_kind, .encoder = encoder, .name = g_strdup_printf("the examples in %s", shown)};
    store->dsn = g_strdup(dsn);
    store->table = "assay_example";
    g_mutex_init(&store->lock);
    g_free(shown);
    return store;
}

static void store_free(struct examples_postgres *store)
{
    PQfinish(store->link);
    g_mutex_clear(&store->lock);
    g_free(store->base.name);
    g_free(store->dsn);
    g_free(store);
}

#define VECTOR "vector(" G_STRINGIFY(256) ")"
_Static_assert(TEXT_DIM == 256, "the columns have as many numbers");

static const char NEW_TABLES[] =
    "BEGIN; DROP TABLE IF EXISTS assay_examples_about_new, assay_example_new;"
    "CREATE TABLE assay_examples_about_new(key text PRIMARY KEY, value text NOT NULL);"
    "CREATE TABLE assay_example_new(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, digest bytea NOT NULL UNIQUE,"
    " source text NOT NULL, db text NOT NULL, question text NOT NULL, wrong text NOT NULL, error text NOT NULL,"
    " fixed text NOT NULL, steps text NOT NULL, kind text NOT NULL, columns text NOT NULL, asked bigint NOT NULL,"
    " error_vector " VECTOR ", question_vector " VECTOR ", sql_vector " VECTOR ","
    " words tsvector GENERATED ALWAYS AS (to_tsvector('english', question || ' ' || wrong || ' ' || error)) STORED)";

/* Indexes are created after the rows, which is faster and gives a better graph. */
static const char INTO_PLACE[] = "SET LOCAL maintenance_work_mem = '512MB';"
                                 "CREATE INDEX ON assay_example_new USING hnsw (error_vector vector_ip_ops);"
                                 "CREATE INDEX ON assay_example_new USING hnsw (question_vector vector_ip_ops);"
                                 "CREATE INDEX ON assay_example_new USING hnsw (sql_vector vector_ip_ops);"
                                 "CREATE INDEX ON assay_example_new USING gin (words);"
                                 "DROP TABLE IF EXISTS assay_examples_about, assay_example;"
                                 "ALTER TABLE assay_examples_about_new RENAME TO assay_examples_about;"
                                 "ALTER TABLE assay_example_new RENAME TO assay_example; COMMIT";

static enum err_code make_tables(struct examples_postgres *store, struct err *err)
{
    const char *const about[] = {G_STRINGIFY(1), examples_encoder_name(store->base.encoder)};
    if (run(store, "CREATE EXTENSION IF NOT EXISTS vector", NULL))
        return err_set(err, ERR_CONFIG,
                       "%s needs the extension vector (pgvector)" ERR_HINT
                       "install pgvector, and run `CREATE EXTENSION vector` as a role with that privilege",
                       store->base.name);
    enum err_code code = run(store, NEW_TABLES, err);
    PGresult *result = code ? NULL
                            : ask(store, "INSERT INTO assay_examples_about_new VALUES('version', $1), ('embedder', $2)",
                                  2, about, err);
    if (!code && !result) code = ERR_IO;
    PQclear(result);
    store->table = "assay_example_new";
    store->builds = !code;
    return code;
}

static enum err_code create(const char *path, struct examples_encoder *encoder, struct examples **out, struct err *err)
{
    if (prepare(path, err)) return ERR_CONFIG;
    struct examples_postgres *store = store_new(path, encoder);
    enum err_code code = connect_to(store, err);
    if (!code) code = make_tables(store, err);
    if (code)
        store_free(store);
    else
        *out = &store->base;
    return code;
}

static enum err_code check(struct examples_postgres *store, struct err *err)
{
    PGresult *result =
        ask(store,
            "SELECT (SELECT value FROM assay_examples_about WHERE key = 'version'),"
            " (SELECT value FROM assay_examples_about WHERE key = 'embedder'), count(*) FROM assay_example",
            0, NULL, err);
    enum err_code code = ERR_OK;
    if (!result && err && err->code == ERR_UNREACHABLE) return err->code;
    if (!result)
        return err_set(err, ERR_CONFIG,
                       "%s: the store does not exist or cannot be read" ERR_HINT
                       "create it with `assay examples build`",
                       store->base.name);
    if (strcmp(PQgetvalue(result, 0, 0), "1") != 0)
        code = err_set(err, ERR_CONFIG, "%s have version %.20s, expected 1" ERR_HINT "build the store again",
                       store->base.name, PQgetvalue(result, 0, 0));
    else if (strcmp(PQgetvalue(result, 0, 1), examples_encoder_name(store->base.encoder)) != 0)
        code = err_set(err, ERR_CONFIG,
                       "%s have vectors of another embedder than '%s'" ERR_HINT
                       "build the store again, or set the embedder that built it",
                       store->base.name, examples_encoder_name(store->base.encoder));
    store->base.n = (uint32_t)MIN(g_ascii_strtoull(PQgetvalue(result, 0, 2), NULL, 10), UINT32_MAX);
    PQclear(result);
    return code;
}

/* Opens a connection with short timeouts, and checks that the store matches. */
static enum err_code open_link(struct examples_postgres *store, struct err *err)
{
    char limits[160];
    struct err own = {0};
    struct err *why = err ? err : &own;
    g_snprintf(limits, sizeof limits, "SET statement_timeout = %d; SET hnsw.ef_search = %d", SEARCH_MS, NEAR);
    enum err_code code = connect_to(store, why);
    if (!code) code = run(store, limits, why);
    if (!code) code = check(store, why);
    if (code && store->link) {
        PQfinish(store->link);
        store->link = NULL;
    }
    return code;
}

static enum err_code open_store(const char *path, bool writes, struct examples_encoder *encoder, struct examples **out,
                                struct err *err)
{
    if (prepare(path, err)) return ERR_CONFIG;
    struct examples_postgres *store = store_new(path, encoder);
    enum err_code code = open_link(store, err);
    if (!code && writes) code = run(store, "SET statement_timeout = 0", err);
    if (code)
        store_free(store);
    else
        *out = &store->base;
    return code;
}

static enum err_code close_store(struct examples *base, struct err *err)
{
    struct examples_postgres *store = of(base);
    enum err_code code = store->builds ? run(store, INTO_PLACE, err) : ERR_OK;
    store_free(store);
    return code;
}

/* True if there is a connection. The caller must hold `lock`. */
static bool has_link(struct examples_postgres *store)
{
    if (store->link && PQstatus(store->link) == CONNECTION_OK) return true;
    PQfinish(store->link);
    store->link = NULL;
    if (clock_now_ns() < store->retry_at_ns) return false;
    if (open_link(store, NULL) == ERR_OK) return true;
    store->retry_at_ns = clock_now_ns() + RETRY_NS;
    return false;
}

/* Runs a query as ask() does. Reconnects once if the connection is broken. The caller must hold `lock`. */
static PGresult *ask_again(struct examples_postgres *store, const char *sql, int n, const char *const *values,
                           struct err *err)
{
    for (int tries = 0; tries < 2 && has_link(store); tries++) {
        PGresult *result = ask(store, sql, n, values, err);
        if (result || PQstatus(store->link) == CONNECTION_OK) return result;
    }
    failed(store, NULL, err);
    return NULL;
}

/* --- rows --- */

/* Writes "[0,-12,127,...]". Returns NULL if all components are 0, because such a vector has no direction to compare. */
static const char *vector_text(const int8_t *vector, char out[VECTOR_TEXT])
{
    size_t at = 0;
    bool any = false;
    for (unsigned d = 0; d < TEXT_DIM; d++) {
        at += (size_t)g_snprintf(out + at, (gulong)(VECTOR_TEXT - at), "%c%d", d ? ',' : '[', vector[d]);
        any = any || vector[d];
    }
    g_strlcpy(out + at, "]", VECTOR_TEXT - at);
    return any ? out : NULL;
}

/* Writes the digest of the question and the SQL, as in the unique index: "\x..." */
static void digest_text(const char *question, const char *wrong, char out[40])
{
    XXH3_state_t *state = XXH3_createState();
    XXH3_128bits_reset(state);
    XXH3_128bits_update(state, question, strlen(question) + 1);
    XXH3_128bits_update(state, wrong, strlen(wrong));
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    g_snprintf(out, 40, "\\x%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}

static void hash_text(const char *question, char out[24])
{
    g_snprintf(out, 24, "%lld", (long long)examples_question_hash(question ? question : ""));
}

static enum err_code add(struct examples *base, const char *const texts[EXAMPLES_TEXTS], const int8_t *vectors,
                         bool *added, struct err *err)
{
    enum { DIGEST = EXAMPLES_TEXTS, ASKED, VECTORS, N = VECTORS + EXAMPLES_PARTS };
    struct examples_postgres *store = of(base);
    char sql[400], digest[40], asked[24], written[EXAMPLES_PARTS][VECTOR_TEXT];
    char *valid[EXAMPLES_TEXTS];
    const char *values[N];
    for (int i = 0; i < EXAMPLES_TEXTS; i++) values[i] = valid[i] = g_utf8_make_valid(texts[i], -1);
    digest_text(texts[EXAMPLES_QUESTION_TEXT], texts[EXAMPLES_WRONG_TEXT], digest);
    hash_text(texts[EXAMPLES_QUESTION_TEXT], asked);
    values[DIGEST] = digest;
    values[ASKED] = asked;
    for (size_t part = 0; part < EXAMPLES_PARTS; part++)
        values[VECTORS + part] = vector_text(vectors + part * TEXT_DIM, written[part]);
    g_snprintf(sql, sizeof sql,
               "INSERT INTO %s(" EXAMPLES_ROW ", digest, asked, error_vector, question_vector, sql_vector)"
               " VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14) ON CONFLICT (digest) DO NOTHING",
               store->table);
    g_mutex_lock(&store->lock);
    PGresult *result = ask(store, sql, N, values, err);
    g_mutex_unlock(&store->lock);
    *added = result && strcmp(PQcmdTuples(result), "1") == 0;
    enum err_code code = result                                                  ? ERR_OK
                         : store->link && PQstatus(store->link) == CONNECTION_OK ? ERR_IO
                                                                                 : ERR_UNREACHABLE;
    PQclear(result);
    for (int i = 0; i < EXAMPLES_TEXTS; i++) g_free(valid[i]);
    return code;
}

static bool take_row(const PGresult *result, int row, struct arena *arena, struct example *out)
{
    const char *texts[EXAMPLES_TEXTS];
    for (int i = 0; i < EXAMPLES_TEXTS; i++) texts[i] = PQgetvalue(result, row, i + 1);
    return examples_row_read(arena, texts, out);
}

static enum err_code read_found(struct examples *base, struct arena *arena, const struct examples_found *found,
                                uint32_t n, struct example *out, struct err *err)
{
    struct examples_postgres *store = of(base);
    GString *ids = g_string_new("{");
    for (uint32_t i = 0; i < n; i++) g_string_append_printf(ids, "%s%u", i ? "," : "", found[i].at);
    g_string_append_c(ids, '}');
    const char *const values[] = {ids->str};
    g_mutex_lock(&store->lock);
    PGresult *result =
        ask_again(store, "SELECT id, " EXAMPLES_ROW " FROM assay_example WHERE id = ANY($1::bigint[])", 1, values, err);
    g_mutex_unlock(&store->lock);
    g_string_free(ids, TRUE);
    if (!result) return err && err->code ? err->code : ERR_IO;
    bool whole = true;
    for (uint32_t i = 0; i < n && whole; i++) {
        int row = 0;
        while (row < PQntuples(result) && g_ascii_strtoull(PQgetvalue(result, row, 0), NULL, 10) != found[i].at) row++;
        whole = row < PQntuples(result) && take_row(result, row, arena, &out[i]);
    }
    PQclear(result);
    return whole ? ERR_OK : err_set(err, ERR_CONFIG, "%s changed during the read, or are damaged", store->base.name);
}

static uint32_t list(struct examples *base, uint32_t most, struct examples_found *out)
{
    struct examples_postgres *store = of(base);
    char limit[24];
    const char *const values[] = {limit};
    g_snprintf(limit, sizeof limit, "%u", most);
    g_mutex_lock(&store->lock);
    PGresult *result = ask_again(store, "SELECT id FROM assay_example ORDER BY id LIMIT $1", 1, values, NULL);
    g_mutex_unlock(&store->lock);
    uint32_t n = result ? (uint32_t)PQntuples(result) : 0;
    for (uint32_t i = 0; i < n; i++)
        out[i] = (struct examples_found){(uint32_t)g_ascii_strtoull(PQgetvalue(result, (int)i, 0), NULL, 10), -1};
    PQclear(result);
    return n;
}

static enum err_code prune(struct examples *base, float likeness, uint32_t *taken, struct err *err)
{
    static const char TAKE_OUT[] =
        "DELETE FROM assay_example a WHERE id = $1 AND EXISTS (SELECT 1 FROM assay_example b WHERE b.id < a.id AND"
        " (-coalesce(a.error_vector <#> b.error_vector, 0) - coalesce(a.question_vector <#> b.question_vector, 0)"
        " - coalesce(a.sql_vector <#> b.sql_vector, 0)) / 16129 / 3 > $2)";
    struct examples_found *all = g_new0(struct examples_found, base->n + 1);
    char id[24], least[G_ASCII_DTOSTR_BUF_SIZE];
    const char *const values[] = {id, g_ascii_dtostr(least, sizeof least, (double)likeness)};
    uint32_t n = list(base, base->n, all);
    enum err_code code = ERR_OK;
    for (uint32_t i = 0; i < n && !code; i++) {
        g_snprintf(id, sizeof id, "%u", all[i].at);
        PGresult *result = ask(of(base), TAKE_OUT, 2, values, err);
        *taken += result && strcmp(PQcmdTuples(result), "1") == 0;
        if (!result) code = ERR_IO;
        PQclear(result);
    }
    g_free(all);
    return code;
}

/* --- search --- */

#define OTHERS "asked <> $4::bigint AND ($5 = '' OR source <> $5)"
#define NEAREST(column, parameter)                                                                                     \
    "(SELECT id FROM assay_example WHERE " parameter "::vector IS NOT NULL AND " OTHERS " ORDER BY " column            \
    " <#> " parameter "::vector LIMIT " G_STRINGIFY(200) ")"
#define LIKENESS                                                                                                       \
    "(-coalesce(error_vector <#> $1::vector, 0) - coalesce(question_vector <#> $2::vector, 0)"                         \
    " - coalesce(sql_vector <#> $3::vector, 0)) / 16129"

static const char SEARCH[] =
    "WITH near AS (" NEAREST("error_vector", "$1") " UNION " NEAREST("question_vector", "$2") " UNION " NEAREST(
        "sql_vector", "$3") "), worded AS (SELECT id, ts_rank(words, q) AS place FROM assay_example,"
                            " to_tsquery('english', $6) AS q WHERE $6 <> '' AND words @@ q AND " OTHERS
                            " ORDER BY place DESC, id LIMIT 100)"
                            " SELECT id, 0, " LIKENESS ", 0 FROM near JOIN assay_example USING (id)"
                            " UNION ALL SELECT id, 1, " LIKENESS ", place FROM worded JOIN assay_example USING (id)";
_Static_assert(NEAR == 200 && EXAMPLES_MAX_FOUND == 100 && EXAMPLES_SCALE * EXAMPLES_SCALE == 16129,
               "the statement has these numbers");

static void add_word(void *ctx, const char *word, size_t len)
{
    char *words = ctx;
    size_t at = strlen(words);
    if (at + len + 8 < MAX_WORDS_TEXT)
        g_snprintf(words + at, (gulong)(MAX_WORDS_TEXT - at), "%s'%.*s'", at ? " | " : "", (int)len, word);
}

struct asked {
    char vectors[EXAMPLES_PARTS][VECTOR_TEXT], question[24], words[MAX_WORDS_TEXT];
    const char *values[EXAMPLES_PARTS + 3];
    uint32_t n_parts;
};

static bool put(struct examples *base, struct asked *asked, const struct examples_query *query, enum examples_key key)
{
    const char *const texts[EXAMPLES_PARTS] = {query->error, query->question, query->sql};
    int8_t vectors[EXAMPLES_PARTS * TEXT_DIM];
    asked->n_parts = 0;
    asked->words[0] = '\0';
    if (examples_embed(base, texts, vectors, NULL)) return false;
    for (size_t part = 0; part < EXAMPLES_PARTS; part++) {
        bool by = (examples_parts_of(key) >> part & 1) && texts[part] && *texts[part];
        asked->values[part] = by ? vector_text(vectors + part * TEXT_DIM, asked->vectors[part]) : NULL;
        asked->n_parts += by;
    }
    hash_text(query->question, asked->question);
    if (key == EXAMPLES_HYBRID) examples_words(query, add_word, asked->words);
    asked->values[EXAMPLES_PARTS] = asked->question;
    asked->values[EXAMPLES_PARTS + 1] = query->source ? query->source : "";
    asked->values[EXAMPLES_PARTS + 2] = asked->words;
    return asked->n_parts > 0;
}

/* Reads the rows of list `which`, ordered by column `by`: 2 is the sum of cosines, 3 is the rank by words. */
static uint32_t take_list(const PGresult *result, const char *which, int by, uint32_t k, uint32_t n_parts,
                          struct examples_found *out)
{
    struct examples_found rows[EXAMPLES_MAX_FOUND];
    uint32_t n = 0;
    for (int row = 0; row < PQntuples(result); row++)
        if (strcmp(PQgetvalue(result, row, 1), which) == 0)
            n = examples_keep(rows, n, k,
                              (struct examples_found){(uint32_t)row, strtof(PQgetvalue(result, row, by), NULL)});
    for (uint32_t i = 0; i < n; i++) {
        int row = (int)rows[i].at;
        out[i].at = (uint32_t)g_ascii_strtoull(PQgetvalue(result, row, 0), NULL, 10);
        out[i].likeness = strtof(PQgetvalue(result, row, 2), NULL) / (float)n_parts;
    }
    return n;
}

static uint32_t search(struct examples *base, const struct examples_query *query, enum examples_key key, uint32_t k,
                       struct examples_found *out)
{
    struct examples_postgres *store = of(base);
    struct examples_found near[EXAMPLES_MAX_FOUND], worded[EXAMPLES_MAX_FOUND];
    struct asked *asked = g_new(struct asked, 1);
    PGresult *result = NULL;
    g_mutex_lock(&store->lock);
    if (k && put(base, asked, query, key)) result = ask_again(store, SEARCH, EXAMPLES_PARTS + 3, asked->values, NULL);
    g_mutex_unlock(&store->lock);
    uint32_t n_parts = result ? asked->n_parts : 0, n = 0;
    g_free(asked);
    if (result && key == EXAMPLES_HYBRID) {
        uint32_t n_near = take_list(result, "0", 2, EXAMPLES_MAX_FOUND, n_parts, near);
        n = examples_fuse(near, n_near, worded, take_list(result, "1", 3, EXAMPLES_MAX_FOUND, n_parts, worded), k, out);
    } else if (result) {
        n = take_list(result, "0", 2, k, n_parts, out);
    }
    PQclear(result);
    return n;
}

const struct examples_kind examples_postgres_kind = {
    create, open_store, close_store, add, read_found, list, search, prune,
};
