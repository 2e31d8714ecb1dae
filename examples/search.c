/* Searches the vectors of a file, which are loaded into memory. */
#include "examples/file.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static float cosine(const int8_t *a, const int8_t *b)
{
    int32_t dot = 0;
    for (unsigned d = 0; d < TEXT_DIM; d++) dot += a[d] * b[d];
    return (float)dot / (EXAMPLES_SCALE * EXAMPLES_SCALE);
}

static const int8_t *vector_of(const struct examples_file *store, size_t part, uint32_t at)
{
    return store->vectors + (part * store->base.n + at) * TEXT_DIM;
}

/* Computes the signs of the vector after a fixed rotation (random signs, then a Hadamard transform). The rotation is
 * needed because hashed vectors are mostly zeros. The share of equal signs gives the angle (Charikar 2002). */
static void signs_of(const int8_t *vector, uint64_t out[EXAMPLES_SIGN_WORDS])
{
    int32_t v[TEXT_DIM];
    for (unsigned d = 0; d < TEXT_DIM; d++) v[d] = (d * 0x9E3779B1U >> 16 & 1) ? -vector[d] : vector[d];
    for (unsigned half = 1; half < TEXT_DIM; half *= 2)
        for (unsigned i = 0; i < TEXT_DIM; i += 2 * half)
            for (unsigned k = i; k < i + half; k++) {
                int32_t a = v[k], b = v[k + half];
                v[k] = a + b;
                v[k + half] = a - b;
            }
    memset(out, 0, EXAMPLES_SIGN_WORDS * sizeof *out);
    for (unsigned d = 0; d < TEXT_DIM; d++) out[d / 64] |= (uint64_t)(v[d] > 0) << d % 64;
}

/* --- loading --- */

static uint64_t hash_source(const char *source)
{
    return source && *source ? XXH3_64bits(source, strlen(source)) | 1 : 0;
}

static bool load_row(struct examples_file *store, sqlite3_stmt *row, uint32_t at)
{
    const int8_t *vectors = sqlite3_column_blob(row, 3);
    const char *question = (const char *)sqlite3_column_text(row, 1),
               *source = (const char *)sqlite3_column_text(row, 2);
    if (!vectors || sqlite3_column_bytes(row, 3) != EXAMPLES_PARTS * TEXT_DIM || !question || !source) return false;
    store->ids[at] = sqlite3_column_int64(row, 0);
    store->questions[at] = examples_question_hash(question);
    store->sources[at] = hash_source(source);
    for (size_t part = 0; part < EXAMPLES_PARTS; part++) {
        size_t to = part * store->base.n + at;
        memcpy(store->vectors + to * TEXT_DIM, vectors + part * TEXT_DIM, TEXT_DIM);
        if (store->signs) signs_of(vectors + part * TEXT_DIM, store->signs + to * EXAMPLES_SIGN_WORDS);
    }
    return true;
}

static bool make_room(struct examples_file *store)
{
    size_t n = store->base.n + 1U;
    store->ids = calloc(n, sizeof *store->ids);
    store->questions = calloc(n, sizeof *store->questions);
    store->sources = calloc(n, sizeof *store->sources);
    store->vectors = calloc(n, sizeof(int8_t[EXAMPLES_PARTS][TEXT_DIM]));
    bool many = store->base.n > EXAMPLES_EXACT;
    if (many) store->signs = calloc(n, sizeof(uint64_t[EXAMPLES_PARTS][EXAMPLES_SIGN_WORDS]));
    return store->ids && store->questions && store->sources && store->vectors && (!many || store->signs);
}

enum err_code file_load(struct examples_file *store, struct err *err)
{
    sqlite3_stmt *row = NULL;
    int64_t count = -1;
    if (sqlite3_prepare_v2(store->db, "SELECT count(*) FROM example", -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW)
        count = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    if (count < 0 || count > EXAMPLES_MAX)
        return err_set(err, ERR_CONFIG, "%s is damaged" ERR_HINT "build the store again", store->path);
    store->base.n = (uint32_t)count;
    if (!make_room(store))
        return err_set(err, ERR_NOMEM, "%s: out of memory for %u examples", store->path, store->base.n);
    uint32_t at = 0;
    bool whole = sqlite3_prepare_v2(store->db, "SELECT id, question, source, vectors FROM example ORDER BY id", -1,
                                    &row, NULL) == SQLITE_OK;
    while (whole && at < store->base.n && sqlite3_step(row) == SQLITE_ROW) whole = load_row(store, row, at++);
    sqlite3_finalize(row);
    return whole && at == store->base.n
               ? ERR_OK
               : err_set(err, ERR_CONFIG, "%s is damaged" ERR_HINT "build the store again", store->path);
}

/* --- search --- */

struct asked {
    unsigned parts, n_parts;
    int8_t vectors[EXAMPLES_PARTS * TEXT_DIM];
    uint64_t signs[EXAMPLES_PARTS][EXAMPLES_SIGN_WORDS];
    uint64_t question, source;
};

/* Prepares a search. If the model that computes the vectors is unreachable, the search compares no vectors. */
static void ask(struct examples_file *store, struct asked *asked, const struct examples_query *query,
                enum examples_key key)
{
    const char *const texts[EXAMPLES_PARTS] = {query->error, query->question, query->sql};
    *asked = (struct asked){.question = query->question ? examples_question_hash(query->question) : 0,
                            .source = hash_source(query->source)};
    if (examples_embed(&store->base, texts, asked->vectors, NULL)) return;
    for (size_t part = 0; part < EXAMPLES_PARTS; part++) {
        if (!(examples_parts_of(key) >> part & 1) || !texts[part] || !*texts[part]) continue;
        asked->parts |= 1U << part;
        asked->n_parts++;
        signs_of(asked->vectors + part * TEXT_DIM, asked->signs[part]);
    }
}

static bool is_own(const struct examples_file *store, const struct asked *asked, uint32_t at)
{
    return store->questions[at] == asked->question || (asked->source && store->sources[at] == asked->source);
}

static float likeness(const struct examples_file *store, const struct asked *asked, uint32_t at)
{
    float sum = 0;
    for (size_t part = 0; part < EXAMPLES_PARTS; part++)
        if (asked->parts >> part & 1) sum += cosine(asked->vectors + part * TEXT_DIM, vector_of(store, part, at));
    return sum / (float)asked->n_parts;
}

float file_likeness(const struct examples_file *store, uint32_t a, uint32_t b)
{
    float sum = 0;
    for (size_t part = 0; part < EXAMPLES_PARTS; part++)
        sum += cosine(vector_of(store, part, a), vector_of(store, part, b));
    return sum / EXAMPLES_PARTS;
}

static uint32_t search_all(const struct examples_file *store, const struct asked *asked, uint32_t k,
                           struct examples_found *out)
{
    uint32_t n = 0;
    for (uint32_t at = 0; at < store->base.n; at++)
        if (!is_own(store, asked, at))
            n = examples_keep(out, n, k, (struct examples_found){at, likeness(store, asked, at)});
    return n;
}

enum { DISTANCES = EXAMPLES_PARTS * TEXT_DIM + 1 };

/* Counts the differing signs for each example. It is inline, so that each caller compiles it for a different
 * instruction set. */
static inline __attribute__((always_inline)) void scan(const struct examples_file *store, const struct asked *asked,
                                                       uint16_t *distance)
{
    memset(distance, 0, store->base.n * sizeof *distance);
    for (size_t part = 0; part < EXAMPLES_PARTS; part++) {
        const uint64_t *signs = store->signs + part * store->base.n * EXAMPLES_SIGN_WORDS;
        const uint64_t *own = asked->signs[part];
        if (!(asked->parts >> part & 1)) continue;
        for (uint32_t at = 0; at < store->base.n; at++, signs += EXAMPLES_SIGN_WORDS) {
            int bits = 0;
            for (unsigned w = 0; w < EXAMPLES_SIGN_WORDS; w++) bits += __builtin_popcountll(signs[w] ^ own[w]);
            distance[at] = (uint16_t)(distance[at] + bits);
        }
    }
}

static void scan_anywhere(const struct examples_file *store, const struct asked *asked, uint16_t *distance)
{
    scan(store, asked, distance);
}

#if defined(__x86_64__)
/* Uses the popcnt instruction. Without it, each count of bits is a function call. */
__attribute__((target("popcnt"))) static void scan_popcnt(const struct examples_file *store, const struct asked *asked,
                                                          uint16_t *distance)
{
    scan(store, asked, distance);
}
#define CAN_POPCNT __builtin_cpu_supports("popcnt")
#else
#define scan_popcnt scan_anywhere
#define CAN_POPCNT  false
#endif

/* Selects the nearest EXAMPLES_RERANKED examples by signs and ranks these by vectors. At the largest selected distance,
 * earlier examples are preferred. */
static uint32_t search_signs(const struct examples_file *store, const struct asked *asked, uint32_t k,
                             struct examples_found *out)
{
    uint32_t counts[DISTANCES] = {0}, n = 0, limit = 0, room = EXAMPLES_RERANKED;
    uint16_t *distance = malloc(store->base.n * sizeof *distance);
    if (!distance) return 0;
    (CAN_POPCNT ? scan_popcnt : scan_anywhere)(store, asked, distance);
    for (uint32_t at = 0; at < store->base.n; at++) counts[distance[at]]++;
    while (limit < DISTANCES - 1 && counts[limit] < room) room -= counts[limit++];
    for (uint32_t at = 0; at < store->base.n; at++) {
        if (distance[at] > limit || (distance[at] == limit && !room)) continue;
        room -= distance[at] == limit;
        if (!is_own(store, asked, at))
            n = examples_keep(out, n, k, (struct examples_found){at, likeness(store, asked, at)});
    }
    free(distance);
    return n;
}

/* --- words --- */

enum { MAX_MATCH = 1024 };

/* Appends a word in quotes, as FTS5 requires. */
static void add_word(void *ctx, const char *word, size_t len)
{
    char *match = ctx;
    size_t at = strlen(match);
    if (at + len + 8 < MAX_MATCH)
        g_snprintf(match + at, (gulong)(MAX_MATCH - at), "%s\"%.*s\"", at ? " OR " : "", (int)len, word);
}

static int by_number(const void *key, const void *id)
{
    int64_t a = *(const int64_t *)key, b = *(const int64_t *)id;
    return (a > b) - (a < b);
}

/* Finds the best k examples by BM25, best first. */
static uint32_t search_words(struct examples_file *store, const struct examples_query *query, const struct asked *asked,
                             uint32_t k, struct examples_found *out)
{
    char match[MAX_MATCH] = "";
    uint32_t n = 0;
    examples_words(query, add_word, match);
    pthread_mutex_lock(&store->lock);
    if (*match && (store->match ||
                   sqlite3_prepare_v3(store->db, "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
                                      -1, SQLITE_PREPARE_PERSISTENT, &store->match, NULL) == SQLITE_OK)) {
        sqlite3_bind_text(store->match, 1, match, -1, SQLITE_STATIC);
        sqlite3_bind_int64(store->match, 2, 2 * (int64_t)k);
        while (n < k && sqlite3_step(store->match) == SQLITE_ROW) {
            int64_t id = sqlite3_column_int64(store->match, 0);
            const int64_t *at = bsearch(&id, store->ids, store->base.n, sizeof id, by_number);
            uint32_t found = at ? (uint32_t)(at - store->ids) : UINT32_MAX;
            if (at && !is_own(store, asked, found))
                out[n++] = (struct examples_found){found, likeness(store, asked, found)};
        }
        sqlite3_reset(store->match);
    }
    pthread_mutex_unlock(&store->lock);
    return n;
}

static uint32_t search(struct examples_file *store, const struct examples_query *query, const struct asked *asked,
                       enum examples_key key, uint32_t k, struct examples_found *out)
{
    struct examples_found near[EXAMPLES_MAX_FOUND], worded[EXAMPLES_MAX_FOUND];
    if (k > EXAMPLES_MAX_FOUND) k = EXAMPLES_MAX_FOUND;
    if (!store->base.n || !asked->n_parts || !k) return 0;
    bool hybrid = key == EXAMPLES_HYBRID;
    uint32_t wanted = hybrid ? EXAMPLES_MAX_FOUND : k;
    uint32_t n = store->signs ? search_signs(store, asked, wanted, near) : search_all(store, asked, wanted, near);
    if (hybrid) {
        uint32_t n_worded = search_words(store, query, asked, EXAMPLES_MAX_FOUND, worded);
        return examples_fuse(near, n, worded, n_worded, k, out);
    }
    memcpy(out, near, n * sizeof *out);
    return n;
}

uint32_t file_search(struct examples *base, const struct examples_query *query, enum examples_key key, uint32_t k,
                     struct examples_found *out)
{
    struct examples_file *store = (struct examples_file *)base;
    struct asked asked;
    file_refresh(store);
    ask(store, &asked, query, key);
    pthread_rwlock_rdlock(&store->current);
    uint32_t n = search(store, query, &asked, key, k, out);
    pthread_rwlock_unlock(&store->current);
    return n;
}
