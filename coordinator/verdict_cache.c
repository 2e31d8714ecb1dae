#include "coordinator/verdict_cache.h"

#include <glib.h>
#include <string.h>

/* --- the key --- */

/* Adds a text and its NUL to the checksum, so that "ab", "c" differs from "a", "bc". */
static void add_text(GChecksum *sum, const char *text)
{
    g_checksum_update(sum, (const guchar *)(text ? text : ""), text ? (gssize)strlen(text) + 1 : 1);
}

enum err_code verdict_cache_key(const struct msg_request *request, const struct verdict_basis *basis,
                                char out[VERDICT_CACHE_KEY + 1])
{
    struct msg_request asked = *request;
    struct msg_buffer bytes = {0};
#define X(field) asked.field = 0;
    VERDICT_CACHE_IGNORES(X)
#undef X
    enum err_code code = msg_encode_request(&bytes, &asked);
    if (!code) {
        GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
        for (uint32_t i = 0; i < basis->n_versions; i++) {
            add_text(sum, basis->versions[i].name);
            add_text(sum, basis->versions[i].value);
        }
        g_checksum_update(sum, (const guchar *)basis->numbers, (gssize)(basis->n_numbers * sizeof *basis->numbers));
        g_checksum_update(sum, (const guchar *)basis->request_digest, sizeof basis->request_digest);
        g_checksum_update(sum, (const guchar *)bytes.bytes, (gssize)bytes.len);
        g_strlcpy(out, g_checksum_get_string(sum), VERDICT_CACHE_KEY + 1);
        g_checksum_free(sum);
    }
    msg_buffer_free(&bytes);
    return code;
}

/* --- cacheable verdicts --- */

/* Returns true if the same SQL on the same data always ends with this reason. Limits of time or memory and a server's
 * own errors may not recur. Returns false for an unknown reason. */
static bool is_lasting(const char *reason)
{
    static const bool lasting[ERR_COUNT] = {
        [ERR_OK] = true,         [ERR_SYNTAX] = true,   [ERR_UNKNOWN_NAME] = true, [ERR_AMBIGUOUS_NAME] = true,
        [ERR_REFUSED] = true,    [ERR_ENCODING] = true, [ERR_LIMIT_TOKENS] = true, [ERR_LIMIT_DEPTH] = true,
        [ERR_LIMIT_ROWS] = true, [ERR_NO_DATA] = true,  [ERR_DENIED] = true,
    };
    return reason && lasting[err_from_name(reason)];
}

static bool is_complete(const struct msg_judged *judged)
{
    if (judged->execution && !is_lasting(judged->execution->code)) return false;
    for (uint32_t i = 0; i < judged->n_signals; i++)
        if (judged->signals[i].state == MSG_UNAVAILABLE && !is_lasting(judged->signals[i].reason)) return false;
    return !judged->polished;
}

bool verdict_cache_may_keep(const struct msg_verdict *verdict)
{
    bool alone = !verdict->usage && !verdict->clarification && !verdict->n_answers && !verdict->guarantee &&
                 !(verdict->repair && verdict->repair->source);
    bool failed = verdict->status == MSG_STATUS_FAILED || verdict->n_unavailable ||
                  (verdict->reason && !is_lasting(verdict->reason));
    for (uint32_t i = 0; i < verdict->n_candidates; i++)
        if (!is_complete(&verdict->candidates[i])) return false;
    return alone && !failed;
}

/* --- bytes --- */

enum err_code verdict_cache_write(struct msg_buffer *out, const struct msg_verdict *verdict)
{
    struct msg_verdict kept = *verdict;
    kept.id = kept.gold = kept.meta = NULL;
    kept.tag = 0;
    kept.key = (struct msg_key){0};
    kept.total_ns = kept.worker_ns = 0;
    kept.cached = false;
    enum err_code code = msg_encode_verdict(out, &kept);
    return !code && out->len > VERDICT_CACHE_MAX_BYTES ? ERR_LIMIT_BYTES : code;
}

static bool is_same_text(const char *a, const char *b)
{
    return g_strcmp0(a, b) == 0;
}

/* Returns true if the verdict's candidates are those of the request, and if repeats refer to existing candidates. */
static bool has_candidates_of(const struct msg_verdict *verdict, const struct msg_request *request)
{
    if (verdict->n_candidates < request->n_candidates) return false; /* proposals for a repair may follow them */
    for (uint32_t i = 0; i < verdict->n_candidates; i++) {
        const struct msg_text *own = &verdict->candidates[i].sql;
        if (verdict->candidates[i].same_as > verdict->n_candidates) return false;
        if (i >= request->n_candidates) continue;
        const struct msg_text *given = &request->candidates[i].sql;
        if (own->len != given->len || (own->len && memcmp(own->bytes, given->bytes, own->len) != 0)) return false;
    }
    return true;
}

/* Returns true if the answer is the text of the chosen candidate or of the repair, or if there is no answer. */
static bool has_answer_of_its_own(const struct msg_verdict *verdict)
{
    const struct msg_repaired *repair = verdict->repair;
    if (verdict->chosen > verdict->n_candidates) return false;
    if (!verdict->sql) return !verdict->chosen;
    if (repair && repair->applied) return is_same_text(verdict->sql, repair->sql);
    return verdict->chosen && is_same_text(verdict->sql, verdict->candidates[verdict->chosen - 1].sql.bytes);
}

static bool answers(const struct msg_verdict *verdict, const struct msg_request *request)
{
    uint64_t digest[2];
    msg_request_digest(request, digest);
    return memcmp(verdict->request_digest, digest, sizeof digest) == 0 && is_same_text(verdict->db, request->db) &&
           has_candidates_of(verdict, request) && has_answer_of_its_own(verdict) && verdict_cache_may_keep(verdict);
}

enum err_code verdict_cache_read(struct arena *arena, const void *bytes, size_t len, const struct msg_request *request,
                                 struct msg_verdict **out, struct err *err)
{
    struct msg_verdict *verdict;
    if (len > VERDICT_CACHE_MAX_BYTES) return err_set(err, ERR_LIMIT_BYTES, "the cached verdict is too large");
    enum err_code code = msg_decode_verdict(arena, bytes, len, &verdict, err);
    if (code) return code;
    if (!answers(verdict, request)) return err_set(err, ERR_MALFORMED, "the cached verdict does not match the request");
    verdict->id = request->id;
    verdict->tag = request->tag;
    verdict->gold = request->gold;
    verdict->meta = request->meta;
    verdict->key = (struct msg_key){0};
    verdict->total_ns = verdict->worker_ns = 0;
    *out = verdict;
    return ERR_OK;
}
