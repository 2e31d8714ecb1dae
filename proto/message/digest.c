/* Computes the digest of a request's content, in 16 bytes. */
#include "proto/message/msg.h"

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

/* A hash that buffers small pieces. Hashing the whole buffer at once gives the same hash in half the time. */
struct digest {
    size_t n; /* number of buffered bytes */
    bool streams;
    XXH3_state_t state; /* state of the hash over the bytes before the buffer; used if `streams` */
    char bytes[1024];
};

static void flush(struct digest *to)
{
    if (!to->streams) XXH3_128bits_reset(&to->state);
    XXH3_128bits_update(&to->state, to->bytes, to->n);
    to->streams = true;
    to->n = 0;
}

static void add(struct digest *to, const void *bytes, size_t len)
{
    if (len > sizeof to->bytes - to->n) flush(to);
    if (len > sizeof to->bytes) {
        XXH3_128bits_update(&to->state, bytes, len);
        return;
    }
    memcpy(to->bytes + to->n, bytes, len);
    to->n += len;
}

static XXH128_hash_t digest_of(struct digest *to)
{
    if (!to->streams) return XXH3_128bits(to->bytes, to->n);
    flush(to);
    return XXH3_128bits_digest(&to->state);
}

static void add_bytes(struct digest *to, const char *bytes, uint32_t len)
{
    add(to, &len, sizeof len); /* the length is added too, so that "ab", "c" differs from "a", "bc" */
    add(to, bytes ? bytes : "", len);
}

static void add_text(struct digest *to, const char *text)
{
    add_bytes(to, text, text ? (uint32_t)strlen(text) : 0);
}

static void add_texts(struct digest *to, const char *const *texts, uint32_t n)
{
    add(to, &n, sizeof n);
    for (uint32_t i = 0; i < n; i++) add_text(to, texts[i]);
}

static void add_candidates(struct digest *to, const struct msg_request *request)
{
    add(to, &request->n_candidates, sizeof request->n_candidates);
    for (uint32_t i = 0; i < request->n_candidates; i++) {
        const struct msg_candidate *candidate = &request->candidates[i];
        add_bytes(to, candidate->sql.bytes, candidate->sql.len);
        add(to, &candidate->count, sizeof candidate->count);
        add_texts(to, candidate->generators, candidate->n_generators);
    }
}

/* Adds all options except reals, because JSON rounds reals. */
static void add_options(struct digest *to, const struct msg_options *options)
{
    const int64_t numbers[] = {options->deadline_ms, options->max_iterations, options->speculate, options->strategy,
                               options->policy,      options->expose,         options->explain};
    add(to, numbers, sizeof numbers);
    /* Unset options add nothing, so digests that were computed before these options existed stay valid. */
    if (options->order) add(to, &options->order, sizeof options->order);
    if (options->repair) add(to, &options->repair, sizeof options->repair);
    add_texts(to, options->families, options->n_families);
    add_texts(to, options->deny_columns, options->n_deny_columns);
}

/* Adds the answers. An empty list adds nothing, so older digests stay valid. */
static void add_answers(struct digest *to, const struct msg_request *request)
{
    for (uint32_t i = 0; i < request->n_answers; i++) {
        add_text(to, request->answers[i].question);
        add_text(to, request->answers[i].choice);
    }
}

static void add_linking(struct digest *to, const struct msg_linking *linking)
{
    if (!linking) return;
    add_texts(to, linking->tables, linking->n_tables);
    add_texts(to, linking->columns, linking->n_columns);
    for (uint32_t i = 0; i < linking->n_uncertain; i++) {
        add_text(to, linking->uncertain[i].stage);
        add_text(to, linking->uncertain[i].name);
    }
}

void msg_request_digest(const struct msg_request *request, uint64_t out[2])
{
    const char *const texts[] = {request->db, request->question, request->evidence, request->gold};
    struct digest to;
    to.n = 0;
    to.streams = false;
    add_texts(&to, texts, sizeof texts / sizeof *texts);
    add_candidates(&to, request);
    add_options(&to, &request->options);
    add_answers(&to, request);
    add_linking(&to, request->linking);
    /* adds nothing without a schema, so older digests stay valid */
    if (request->schema) add_text(&to, request->schema);
    XXH128_hash_t hash = digest_of(&to);
    out[0] = hash.high64;
    out[1] = hash.low64;
}
