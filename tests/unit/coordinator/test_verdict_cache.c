/* Tests the rules of cached verdicts. The key depends on every field of a request except the named ones; a walk over
 * the message's field table checks this. A failed verdict is never cached. A damaged cached verdict decodes to a
 * verdict on the request, or to an error. */
#include "coordinator/verdict_cache.h"
#include "proto/message/fields.h"
#include "tests/support/leak.h"
#include "tests/unit/proto/samples.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BYTES = 16 << 20 };
static struct arena arena;

static void begin(void)
{
    arena_init(&arena, ARENA_BYTES);
    (void)sample_task, (void)sample_result;
}

static void done(void)
{
    arena_free(&arena);
    leak_check();
}
TestSuite(verdict_cache, .init = begin, .fini = done);

static const double numbers[] = {0.5, 0.25};
static const struct verdict_basis basis = {sample_versions, 1, numbers, 2, {3, 4}};

/* --- the key --- */

/* The state of a walk over a message. The walk changes the field with one number, and records its path. */
struct walk {
    unsigned left;
    bool done;
    char where[128];
};

static void alter_number(const struct field *field, char *at)
{
    double real;
    switch (field->type) {
    case FIELD_BOOL: *(bool *)at = !*(bool *)at; return;
    case FIELD_ENUM: *(unsigned *)(void *)at = (*(unsigned *)(void *)at + 1) % field->max; return;
    case FIELD_U32:
    case FIELD_I32: ++*(uint32_t *)(void *)at; return;
    case FIELD_I64:
    case FIELD_U64: ++*(uint64_t *)(void *)at; return;
    case FIELD_REAL:
    case FIELD_SETTING:
        real = *(double *)(void *)at;
        *(double *)(void *)at = isnan(real) ? 0 : real + 0.5;
        return;
    default: cr_assert_fail("a request has a field of a type that this test does not know: %s", field->name);
    }
}

static void alter(const struct field *field, char *at, uint32_t *count)
{
    static const char *const others[] = {"another"};
    switch (field->type) {
    case FIELD_CSTR:
    case FIELD_UTF8: *(const char **)(void *)at = "another"; return;
    case FIELD_TEXT: *(struct msg_text *)(void *)at = (struct msg_text){"another", 7}; return;
    case FIELD_STRINGS:
        *(const char *const **)(void *)at = others;
        *count = G_N_ELEMENTS(others);
        return;
    case FIELD_LIST: --*count; return;
    case FIELD_OPTIONAL: *(void **)(void *)at = NULL; return;
    default: alter_number(field, at);
    }
}

static void walk_record(struct walk *walk, const struct record *record, char *at);

static void walk_into(struct walk *walk, const struct field *field, char *at, uint32_t n)
{
    char *items = field->type == FIELD_STRUCT ? at : *(char **)(void *)at;
    for (uint32_t i = 0; i < n && !walk->done; i++) walk_record(walk, field->record, items + i * field->record->size);
}

static void walk_record(struct walk *walk, const struct record *record, char *at)
{
    for (const struct field *field = record->fields; field->name && !walk->done; field++) {
        uint32_t *count = field->count_at ? (uint32_t *)(void *)(at + field->count_at) : NULL;
        if (field->record) walk_into(walk, field, at + field->at, count ? *count : 1);
        if (walk->done || field->type == FIELD_STRUCT || walk->left--) continue;
        g_snprintf(walk->where, sizeof walk->where, "%s.%s", record->name, field->name);
        alter(field, at + field->at, count);
        walk->done = true;
    }
}

/* Returns a new request with every field set. */
static struct msg_request *fresh(void)
{
    struct msg_buffer buffer = {0};
    struct msg_request *out;
    struct err err = {0};
    cr_assert_eq(msg_encode_request(&buffer, &sample_request), ERR_OK);
    cr_assert_eq(msg_decode_request(&arena, buffer.bytes, buffer.len, &out, &err), ERR_OK, "%s", err.text);
    msg_buffer_free(&buffer);
    return out;
}

static const char *key_of(const struct msg_request *request, const struct verdict_basis *with)
{
    static char key[2][VERDICT_CACHE_KEY + 1];
    static unsigned turn;
    char *out = key[turn++ % 2];
    cr_assert_eq(verdict_cache_key(request, with, out), ERR_OK);
    cr_assert_eq(strlen(out), VERDICT_CACHE_KEY);
    return out;
}

static bool is_ignored(const char *where)
{
#define X(field)                                                                                                       \
    if (strcmp(where, "request." #field) == 0) return true;
    VERDICT_CACHE_IGNORES(X)
#undef X
    return false;
}

Test(verdict_cache, key_covers_all_fields_except_named_ones)
{
    unsigned n_ignored = 0, n = 0;
    for (;; n++) {
        struct msg_request *request = fresh();
        struct walk walk = {.left = n};
        walk_record(&walk, &msg_request_record, (char *)request);
        if (!walk.done) break;
        bool same = strcmp(key_of(request, &basis), key_of(fresh(), &basis)) == 0;
        cr_expect_eq(same, is_ignored(walk.where), "%s: the key is %s", walk.where, same ? "the same" : "another");
        n_ignored += is_ignored(walk.where);
    }
    cr_expect_eq(n_ignored, 4);
    cr_expect_geq(n, 40, "only %u places were altered", n);
}

Test(verdict_cache, order_of_candidates_is_part_of_key)
{
    struct msg_request *request = fresh();
    struct msg_candidate first = request->candidates[0];
    request->candidates[0] = request->candidates[1];
    request->candidates[1] = first;
    cr_expect_str_neq(key_of(request, &basis), key_of(fresh(), &basis));
}

Test(verdict_cache, basis_of_verdict_is_part_of_key)
{
    static struct msg_version other_program[] = {{"assay", "0.1.1"}}, more[] = {{"assay", "0.1.0"}, {"verifier", "1"}};
    static const double stricter[] = {0.5, 0.5};
    const struct verdict_basis others[] = {{other_program, 1, numbers, 2, {3, 4}},
                                           {more, 2, numbers, 2, {3, 4}},
                                           {NULL, 0, numbers, 2, {3, 4}},
                                           {sample_versions, 1, stricter, 2, {3, 4}},
                                           {sample_versions, 1, numbers, 1, {3, 4}},
                                           {sample_versions, 1, numbers, 2, {3, 5}}};
    for (unsigned i = 0; i < G_N_ELEMENTS(others); i++)
        cr_expect_str_neq(key_of(&sample_request, &others[i]), key_of(&sample_request, &basis), "basis %u", i);
}

/* --- verdicts that may be cached --- */

static struct msg_execution runs = {.code = "ok", .error_offset = -1};

/* A verdict on the sample request that is fit for the cache. */
struct good {
    struct msg_signal signals[2];
    struct msg_judged judged[2];
    struct msg_verdict verdict;
};

static struct good *good_verdict(void)
{
    struct good *good = arena_new(&arena, struct good);
    *good = (struct good){
        .signals = {{.id = 12, .name = "empty_predicate", .state = MSG_SILENT},
                    {.id = 13, .name = "abnormal_result", .state = MSG_UNAVAILABLE, .reason = "unknown_name"}},
        .judged = {{.sql = sample_candidates[0].sql, .judged = true, .execution = &runs, .p_correct = 0.75},
                   {.sql = sample_candidates[1].sql, .judged = true, .invalid = true, .p_correct = 0}},
        .verdict = {.id = "q-0",
                    .db = sample_request.db,
                    .tag = 7,
                    .key = {3, 42},
                    .status = MSG_STATUS_VALIDATED,
                    .sql = sample_candidates[0].sql.bytes,
                    .chosen = 1,
                    .p_correct = 0.75,
                    .n_candidates = 2,
                    .total_ns = 99,
                    .worker_ns = 98,
                    .meta = "{}"}};
    good->judged[1].signals = good->signals;
    good->judged[1].n_signals = 2;
    good->verdict.candidates = good->judged;
    msg_request_digest(&sample_request, good->verdict.request_digest);
    return good;
}

Test(verdict_cache, whole_verdict_is_cacheable)
{
    cr_expect(verdict_cache_may_keep(&good_verdict()->verdict));
    cr_expect_not(verdict_cache_may_keep(&sample_verdict));
}

Test(verdict_cache, failed_or_late_verdict_is_not_cacheable)
{
    static const char *const passing[] = {"limit_time", "limit_memory", "deadline", "db_unavailable",
                                          "db_locked",  "unreachable",  "full",     "no language model was asked",
                                          NULL};
    for (unsigned i = 0; i < G_N_ELEMENTS(passing); i++) {
        struct good *good = good_verdict();
        good->signals[1].reason = passing[i];
        cr_expect_not(verdict_cache_may_keep(&good->verdict), "a signal: %s", passing[i]);
        good = good_verdict();
        struct msg_execution execution = {.code = passing[i]};
        good->judged[0].execution = &execution;
        cr_expect_not(verdict_cache_may_keep(&good->verdict), "an execution: %s", passing[i]);
        good = good_verdict();
        good->verdict.reason = passing[i] ? passing[i] : "internal";
        cr_expect_not(verdict_cache_may_keep(&good->verdict), "a verdict: %s", passing[i]);
    }
    struct good *good = good_verdict();
    good->verdict.status = MSG_STATUS_FAILED;
    cr_expect_not(verdict_cache_may_keep(&good->verdict));
    good = good_verdict();
    good->verdict.n_unavailable = 1;
    cr_expect_not(verdict_cache_may_keep(&good->verdict));
}

Test(verdict_cache, verdict_with_external_influence_is_not_cacheable)
{
    struct good *by[6];
    for (unsigned i = 0; i < G_N_ELEMENTS(by); i++) by[i] = good_verdict();
    by[0]->verdict.usage = &sample_usage;
    by[1]->verdict.clarification = &sample_clarification;
    by[2]->verdict.n_answers = 1;
    by[3]->verdict.guarantee = &sample_guarantee;
    by[4]->verdict.repair = &sample_repair;
    by[5]->judged[0].polished = &sample_polished;
    for (unsigned i = 0; i < G_N_ELEMENTS(by); i++)
        cr_expect_not(verdict_cache_may_keep(&by[i]->verdict), "case %u", i);
}

/* --- bytes --- */

static enum err_code read_back(const struct msg_verdict *verdict, const struct msg_request *request,
                               struct msg_verdict **out)
{
    struct msg_buffer buffer = {0};
    struct err err = {0};
    cr_assert_eq(verdict_cache_write(&buffer, verdict), ERR_OK);
    enum err_code code = verdict_cache_read(&arena, buffer.bytes, buffer.len, request, out, &err);
    msg_buffer_free(&buffer);
    return code;
}

Test(verdict_cache, cached_verdict_carries_new_requests_identity)
{
    struct msg_verdict *verdict;
    struct msg_request request = sample_request;
    request.id = "q-2";
    request.meta = "{\"of\":2}";
    request.tag = 12;
    cr_assert_eq(read_back(&good_verdict()->verdict, &request, &verdict), ERR_OK);
    cr_expect_str_eq(verdict->id, "q-2");
    cr_expect_str_eq(verdict->meta, "{\"of\":2}");
    cr_expect_eq(verdict->tag, 12);
    cr_expect_eq(verdict->key.offset, 0);
    cr_expect_eq(verdict->total_ns + verdict->worker_ns, 0);
    cr_expect_eq(verdict->status, MSG_STATUS_VALIDATED);
    cr_expect_str_eq(verdict->sql, sample_candidates[0].sql.bytes);
    cr_expect_eq(verdict->p_correct, 0.75);
    cr_expect_eq(verdict->n_candidates, 2);
}

Test(verdict_cache, verdict_on_other_request_is_refused)
{
    struct msg_verdict *verdict;
    struct msg_request other = sample_request;
    other.question = "What are their ages?";
    cr_expect_eq(read_back(&good_verdict()->verdict, &other, &verdict), ERR_MALFORMED);
}

Test(verdict_cache, verdict_with_foreign_answer_is_refused)
{
    struct msg_verdict *verdict;
    struct good *forged[5];
    for (unsigned i = 0; i < G_N_ELEMENTS(forged); i++) forged[i] = good_verdict();
    forged[0]->verdict.sql = "SELECT password FROM people";
    forged[1]->verdict.chosen = 9;
    forged[2]->judged[0].sql = (struct msg_text)TEXT("SELECT password FROM people");
    forged[3]->verdict.n_candidates = 1;
    forged[4]->judged[1].same_as = 3;
    for (unsigned i = 0; i < G_N_ELEMENTS(forged); i++)
        cr_expect_eq(read_back(&forged[i]->verdict, &sample_request, &verdict), ERR_MALFORMED, "case %u", i);
}

/* Whatever the bytes are, a decoded verdict can be sent. */
Test(verdict_cache, garbled_bytes_give_error_or_matching_verdict)
{
    enum { ROUNDS = 20000 };
    struct msg_buffer buffer = {0};
    unsigned refused = 0;
    GRand *random = g_rand_new_with_seed(16);
    cr_assert_eq(verdict_cache_write(&buffer, &good_verdict()->verdict), ERR_OK);
    char *bytes = g_malloc(buffer.len);
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct arena room;
        struct msg_verdict *verdict = NULL;
        struct err err = {0};
        arena_init(&room, 1 << 20);
        memcpy(bytes, buffer.bytes, buffer.len);
        bytes[g_rand_int_range(random, 0, (gint32)buffer.len)] ^= (char)g_rand_int_range(random, 1, 256);
        size_t len = i % 2 ? buffer.len : (size_t)g_rand_int_range(random, 0, (gint32)buffer.len);
        enum err_code code = verdict_cache_read(&room, bytes, len, &sample_request, &verdict, &err);
        refused += code != ERR_OK;
        if (!code) {
            cr_assert_leq(verdict->chosen, verdict->n_candidates);
            char *json = msg_verdict_to_json(verdict);
            cr_assert_not_null(json);
            free(json);
        }
        arena_free(&room);
    }
    cr_expect_gt(refused, ROUNDS / 2, "%u refused", refused);
    g_rand_free(random);
    g_free(bytes);
    msg_buffer_free(&buffer);
}

Test(verdict_cache, oversized_verdict_is_not_written_or_read)
{
    struct msg_buffer buffer = {0};
    struct msg_verdict *verdict;
    struct err err = {0};
    struct good *good = good_verdict();
    char *text = g_strnfill(VERDICT_CACHE_MAX_BYTES, 'x');
    good->judged[0].explanation = text;
    cr_expect_eq(verdict_cache_write(&buffer, &good->verdict), ERR_LIMIT_BYTES);
    cr_expect_eq(verdict_cache_read(&arena, buffer.bytes, buffer.len, &sample_request, &verdict, &err),
                 ERR_LIMIT_BYTES);
    g_free(text);
    msg_buffer_free(&buffer);
}
