/* Implements the functions of examples.h by the kind of store, and the ranking that both kinds share. */
#include "examples/store.h"

#include "lib/db/db.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { FUSED = 60 };

static const char *const key_names[EXAMPLES_KEY_COUNT] = {
#define X(id, name, parts) #name,
    EXAMPLES_KEYS(X)
#undef X
};

static const unsigned parts_of[EXAMPLES_KEY_COUNT] = {
#define X(id, name, parts) parts,
    EXAMPLES_KEYS(X)
#undef X
};

int examples_key_by_name(const char *name)
{
    for (int i = 0; i < EXAMPLES_KEY_COUNT; i++)
        if (strcmp(key_names[i], name) == 0) return i;
    return -1;
}

unsigned examples_parts_of(enum examples_key key)
{
    return parts_of[key];
}

/* --- the store --- */

static const struct examples_kind *kind_of(const char *name)
{
    return db_is_file(name) ? &examples_file_kind : &examples_postgres_kind;
}

enum err_code examples_create(const char *path, struct examples_encoder *encoder, struct examples **out,
                              struct err *err)
{
    *out = NULL;
    return kind_of(path)->create(path, encoder, out, err);
}

enum err_code examples_open(const char *path, bool writes, struct examples_encoder *encoder, struct examples **out,
                            struct err *err)
{
    *out = NULL;
    return kind_of(path)->open(path, writes, encoder, out, err);
}

enum err_code examples_close(struct examples *store, struct err *err)
{
    return store ? store->kind->close(store, err) : ERR_OK;
}

uint32_t examples_count(const struct examples *store)
{
    return store->n;
}

static bool are_too_long(const char *const texts[EXAMPLES_TEXTS])
{
    for (int i = 0; i < EXAMPLES_TEXTS; i++)
        if (strlen(texts[i]) > EXAMPLES_MAX_TEXT) return true;
    return false;
}

static enum err_code add(struct examples *store, const struct example *example, const char *columns, bool *added,
                         struct err *err)
{
    const char *const texts[EXAMPLES_TEXTS] = {example->source, example->db,    example->question,
                                               example->wrong,  example->error, example->right,
                                               example->steps,  example->kind,  columns};
    const char *const asked[EXAMPLES_PARTS] = {example->error, example->question, example->wrong};
    int8_t vectors[EXAMPLES_PARTS * TEXT_DIM];
    if (are_too_long(texts)) return ERR_OK;
    enum err_code code = examples_embed(store, asked, vectors, err);
    return code ? code : store->kind->add(store, texts, vectors, added, err);
}

enum err_code examples_add(struct examples *store, const struct example *example, bool *added, struct err *err)
{
    *added = false;
    if (store->n + store->n_added >= EXAMPLES_MAX)
        return err_set(err, ERR_LIMIT_COUNT, "%s is full: %d examples" ERR_HINT "prune the store", store->name,
                       EXAMPLES_MAX);
    if (example->n_columns > EXAMPLES_MAX_COLUMNS) return ERR_OK;
    char *columns = examples_columns_write(example->columns, example->n_columns);
    if (!columns) return err_set(err, ERR_NOMEM, "out of memory for an example");
    enum err_code code = add(store, example, columns, added, err);
    free(columns);
    store->n_added += *added;
    return code;
}

enum err_code examples_read(struct examples *store, struct arena *arena, const struct examples_found *found, uint32_t n,
                            struct example *out, struct err *err)
{
    return n ? store->kind->read(store, arena, found, n, out, err) : ERR_OK;
}

uint32_t examples_read_whole(struct examples *store, struct arena *arena, const struct examples_found *found,
                             uint32_t n, struct example *out)
{
    uint32_t kept = 0;
    if (examples_read(store, arena, found, n, out, NULL) == ERR_OK) return n;
    for (uint32_t i = 0; i < n; i++) kept += examples_read(store, arena, &found[i], 1, &out[kept], NULL) == ERR_OK;
    return kept;
}

uint32_t examples_list(struct examples *store, uint32_t most, struct examples_found *out)
{
    return store->kind->list(store, most, out);
}

uint32_t examples_search(struct examples *store, const struct examples_query *query, enum examples_key key, uint32_t k,
                         struct examples_found *out)
{
    return store->kind->search(store, query, key, MIN(k, EXAMPLES_MAX_FOUND), out);
}

enum err_code examples_prune(struct examples *store, float likeness, uint32_t *taken, struct err *err)
{
    *taken = 0;
    if (store->n > EXAMPLES_EXACT)
        return err_set(err, ERR_LIMIT_COUNT, "%s has more than %d examples, too many to prune", store->name,
                       EXAMPLES_EXACT);
    return store->kind->prune(store, likeness, taken, err);
}

/* --- rows --- */

bool examples_row_read(struct arena *arena, const char *const texts[EXAMPLES_TEXTS], struct example *out)
{
    const char *columns = NULL,
               **const places[EXAMPLES_TEXTS] = {&out->source, &out->db,    &out->question, &out->wrong, &out->error,
                                                 &out->right,  &out->steps, &out->kind,     &columns};
    for (int i = 0; i < EXAMPLES_TEXTS; i++)
        if (!texts[i] || !(*places[i] = arena_strdup(arena, texts[i]))) return false;
    return examples_columns_read(arena, columns, out);
}

/* --- vectors and words --- */

static void embed(const char *text, int8_t out[TEXT_DIM])
{
    const struct text_embedder *embedder = text_builtin_embedder();
    float vector[TEXT_DIM] = {0};
    if (text && *text) embedder->embed(embedder, text, strlen(text), vector);
    for (unsigned d = 0; d < TEXT_DIM; d++) out[d] = (int8_t)lrintf(fmaxf(-1, fminf(1, vector[d])) * EXAMPLES_SCALE);
}

enum err_code examples_embed(struct examples *store, const char *const texts[EXAMPLES_PARTS],
                             int8_t out[EXAMPLES_PARTS * TEXT_DIM], struct err *err)
{
    if (store->encoder) return examples_encode(store->encoder, texts, out, err);
    for (size_t part = 0; part < EXAMPLES_PARTS; part++) embed(texts[part], out + part * TEXT_DIM);
    return ERR_OK;
}

uint64_t examples_question_hash(const char *question)
{
    struct arena arena;
    arena_init(&arena, 0);
    const char *folded = text_fold(&arena, question, strlen(question));
    uint64_t hash = XXH3_64bits(folded ? folded : question, strlen(folded ? folded : question));
    arena_free(&arena);
    return hash;
}

void examples_words(const struct examples_query *query, void (*each)(void *ctx, const char *word, size_t len),
                    void *ctx)
{
    const char *const texts[] = {query->question, query->error, query->sql};
    unsigned words = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++)
        for (const char *p = texts[i] ? texts[i] : ""; *p && words < EXAMPLES_MAX_WORDS;) {
            size_t word = 0;
            while (g_ascii_isalnum(p[word])) word++;
            if (word > 2) {
                each(ctx, p, word);
                words++;
            }
            p += word ? word : 1;
        }
}

/* --- ranks --- */

uint32_t examples_keep(struct examples_found *out, uint32_t n, uint32_t k, struct examples_found one)
{
    if (n == k && out[n - 1].likeness >= one.likeness) return n;
    uint32_t to = n < k ? n++ : k - 1;
    while (to && out[to - 1].likeness < one.likeness) {
        out[to] = out[to - 1];
        to--;
    }
    out[to] = one;
    return n;
}

/* Uses reciprocal rank fusion (Cormack et al. 2009). */
uint32_t examples_fuse(const struct examples_found *near, uint32_t n_near, const struct examples_found *worded,
                       uint32_t n_worded, uint32_t k, struct examples_found *out)
{
    struct examples_found ranked[2 * EXAMPLES_MAX_FOUND], all[2 * EXAMPLES_MAX_FOUND];
    uint32_t n = 0, n_out = 0;
    for (uint32_t i = 0; i < n_near; i++, n++) {
        all[n] = near[i];
        ranked[n] = (struct examples_found){n, 1.0F / (float)(FUSED + 1 + i)};
    }
    for (uint32_t i = 0; i < n_worded; i++) {
        uint32_t known = 0;
        while (known < n && all[known].at != worded[i].at) known++;
        if (known == n) {
            all[n] = worded[i];
            ranked[n++] = (struct examples_found){known, 0};
        }
        ranked[known].likeness += 1.0F / (float)(FUSED + 1 + i);
    }
    for (uint32_t i = 0; i < n; i++) n_out = examples_keep(out, n_out, k, ranked[i]);
    for (uint32_t i = 0; i < n_out; i++) out[i] = all[out[i].at];
    return n_out;
}
