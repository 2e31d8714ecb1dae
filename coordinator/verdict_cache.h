/* Verdicts that may be given again: under which key, which of them, and as which bytes. Keeps none and talks to nobody.
 *
 * The same request, of the same state of its database, under the same models, has the same verdict. Everything of a request is
 * part of the key but what VERDICT_CACHE_IGNORES names, so that a field that comes to the message some day is part of it from the start.
 * The state is no part of it, but of where the verdict is kept: nobody finds one who does not know it (worker/db_states.h).
 *
 * What comes back from a cache is hostile. It is decoded within the bounds of every message, and must be a verdict on this request; what it
 * cannot be held against is what the verdict says. Whoever may write to the cache can judge.
 *
 * Thread: any.
 */
#ifndef ASSAY_COORDINATOR_VERDICT_CACHE_H
#define ASSAY_COORDINATOR_VERDICT_CACHE_H

#include "proto/message/msg.h"

enum { VERDICT_CACHE_KEY = 64 };              /* hexadecimal digits */
enum { VERDICT_CACHE_MAX_BYTES = 256 << 10 }; /* of one verdict; a larger one is not kept */

/* Fields of struct msg_request that come back in the verdict or lead its way, and change nothing of the judgement. */
#define VERDICT_CACHE_IGNORES(X) X(id) X(meta) X(tag) X(traceparent)

/* What a verdict rests on beside its request and the state of the database. */
struct verdict_basis {
    const struct msg_version *versions; /* of the program and its models, as verdicts name them */
    uint32_t n_versions;
    const double *numbers; /* thresholds and weights by which is decided */
    uint32_t n_numbers;
    uint64_t request_digest[2]; /* of the request as it came in, which the verdict tells */
};

/* The key of a request, whose options leave nothing open. ERR_NOMEM, ERR_LIMIT_BYTES. */
enum err_code verdict_cache_key(const struct msg_request *request, const struct verdict_basis *basis,
                                char out[VERDICT_CACHE_KEY + 1]);

/* Would the same request have the same verdict? Not where something failed, came too late or was left out, nor where a
 * language model, a person, or the traffic before it had a part in it. */
bool verdict_cache_may_keep(const struct msg_verdict *verdict);

/* A verdict without what belongs to its own request: id, tag, key, times, gold, meta. ERR_NOMEM; ERR_LIMIT_BYTES past
 * VERDICT_CACHE_MAX_BYTES. */
enum err_code verdict_cache_write(struct msg_buffer *out, const struct msg_verdict *verdict);

/* Back into a verdict in the arena, as the answer to `request`, whose text it shares; its key and times are zero. ERR_MALFORMED: it is of another
 * request, or says what no verdict says that may be kept; else as msg_decode_verdict. */
enum err_code verdict_cache_read(struct arena *arena, const void *bytes, size_t len, const struct msg_request *request,
                                 struct msg_verdict **out, struct err *err);

#endif
