/* Which request a verdict answers, in 16 bytes. */
#include "proto/message/msg.h"

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

static void add_bytes(XXH3_state_t *state, const char *bytes, uint32_t len)
{
    XXH3_128bits_update(state, &len, sizeof len); /* so that "ab", "c" is not "a", "bc" */
    XXH3_128bits_update(state, bytes ? bytes : "", len);
}

static void add_text(XXH3_state_t *state, const char *text)
{
    add_bytes(state, text, text ? (uint32_t)strlen(text) : 0);
}

static void add_texts(XXH3_state_t *state, const char *const *texts, uint32_t n)
{
    XXH3_128bits_update(state, &n, sizeof n);
    for (uint32_t i = 0; i < n; i++) add_text(state, texts[i]);
}

static void add_candidates(XXH3_state_t *state, const struct msg_request *request)
{
    XXH3_128bits_update(state, &request->n_candidates, sizeof request->n_candidates);
    for (uint32_t i = 0; i < request->n_candidates; i++) {
        const struct msg_candidate *candidate = &request->candidates[i];
        add_bytes(state, candidate->sql.bytes, candidate->sql.len);
        XXH3_128bits_update(state, &candidate->count, sizeof candidate->count);
        add_texts(state, candidate->generators, candidate->n_generators);
    }
}

/* All but reals, which JSON rounds. */
static void add_options(XXH3_state_t *state, const struct msg_options *options)
{
    const int64_t numbers[] = {options->deadline_ms, options->max_iterations, options->speculate, options->strategy,
                               options->policy,      options->expose,         options->explain};
    XXH3_128bits_update(state, numbers, sizeof numbers);
    /* Unset adds nothing, so that digests written before there were these options stay good. */
    if (options->order) XXH3_128bits_update(state, &options->order, sizeof options->order);
    if (options->repair) XXH3_128bits_update(state, &options->repair, sizeof options->repair);
    add_texts(state, options->families, options->n_families);
    add_texts(state, options->deny_columns, options->n_deny_columns);
}

/* None adds nothing, as above. */
static void add_answers(XXH3_state_t *state, const struct msg_request *request)
{
    for (uint32_t i = 0; i < request->n_answers; i++) {
        add_text(state, request->answers[i].question);
        add_text(state, request->answers[i].choice);
    }
}

static void add_linking(XXH3_state_t *state, const struct msg_linking *linking)
{
    if (!linking) return;
    add_texts(state, linking->tables, linking->n_tables);
    add_texts(state, linking->columns, linking->n_columns);
    for (uint32_t i = 0; i < linking->n_uncertain; i++) {
        add_text(state, linking->uncertain[i].stage);
        add_text(state, linking->uncertain[i].name);
    }
}

void msg_request_digest(const struct msg_request *request, uint64_t out[2])
{
    const char *const texts[] = {request->db, request->question, request->evidence, request->gold};
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    add_texts(&state, texts, sizeof texts / sizeof *texts);
    add_candidates(&state, request);
    add_options(&state, &request->options);
    add_answers(&state, request);
    add_linking(&state, request->linking);
    if (request->schema) add_text(&state, request->schema); /* a request without one has the digest that it had */
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    out[0] = hash.high64;
    out[1] = hash.low64;
}
