/* Reusable verdicts: their keys, the conditions for reuse, and their encoding. This module stores nothing and uses no
 * network.
 *
 * The same request, on the same state of its database and with the same models, has the same verdict. All fields of a
 * request are part of the key, except those in VERDICT_CACHE_IGNORES, so new fields are included by default. The state
 * is not part of the key. The cache stores each verdict with its state, and finds it only while the database has that
 * state (worker/db_states.h).
 *
 * Bytes from a cache are untrusted. Decoding applies the same bounds as to any message, and rejects a verdict on
 * another request. The contents of the verdict cannot be checked, so write access to the cache includes the power to
 * decide verdicts.
 *
 * Thread: any.
 */
#ifndef ASSAY_COORDINATOR_VERDICT_CACHE_H
#define ASSAY_COORDINATOR_VERDICT_CACHE_H

#include "proto/message/msg.h"

enum { VERDICT_CACHE_KEY = 64 };              /* length of a key in hexadecimal digits */
enum { VERDICT_CACHE_MAX_BYTES = 256 << 10 }; /* maximum size of one verdict; larger ones are not cached */

/* Fields of struct msg_request that do not influence the judgement. They are only copied to the verdict, or only route
 * the request. */
#define VERDICT_CACHE_IGNORES(X) X(id) X(meta) X(tag) X(traceparent)

/* The inputs of a verdict besides its request and the state of the database. */
struct verdict_basis {
    const struct msg_version *versions; /* versions of the program and its models, as in verdicts */
    uint32_t n_versions;
    const double *numbers; /* thresholds and weights of the decision */
    uint32_t n_numbers;
    uint64_t request_digest[2]; /* digest of the original request, which the verdict contains */
};

/* Computes the key of a request with resolved options. Returns ERR_NOMEM or ERR_LIMIT_BYTES. */
enum err_code verdict_cache_key(const struct msg_request *request, const struct verdict_basis *basis,
                                char out[VERDICT_CACHE_KEY + 1]);

/* Returns true if a verdict may be reused, because the same request would get the same verdict. Returns false after a
 * failure, a timeout or an omission. Also returns false if a language model, a user, or earlier traffic contributed. */
bool verdict_cache_may_keep(const struct msg_verdict *verdict);

/* Encodes a verdict without the parts that belong to its own request: id, tag, key, times, gold, meta. Returns
 * ERR_NOMEM, or ERR_LIMIT_BYTES if the result exceeds VERDICT_CACHE_MAX_BYTES. */
enum err_code verdict_cache_write(struct msg_buffer *out, const struct msg_verdict *verdict);

/* Decodes a verdict into the arena, as the answer to `request`. The verdict shares the text of `request`; its key and
 * times are zero. Returns ERR_MALFORMED if it belongs to another request or is not cacheable, and otherwise the errors
 * of msg_decode_verdict. */
enum err_code verdict_cache_read(struct arena *arena, const void *bytes, size_t len, const struct msg_request *request,
                                 struct msg_verdict **out, struct err *err);

#endif
