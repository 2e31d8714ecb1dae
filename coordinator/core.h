/* The coordinator as a state machine: events in, actions out, no clock, thread, transport or database of its own.
 *
 * Events are requests, results, answers of a remote verifier and the passing of time. Actions are tasks to send,
 * verifiers to ask, verdicts to publish and messages that nobody can use. Equal events in equal order give equal
 * actions. Results match by content (request key, hash, family), the first one wins; what matches nothing is stray.
 * Thread: one at a time.
 */
#ifndef ASSAY_COORDINATOR_CORE_H
#define ASSAY_COORDINATOR_CORE_H

#include "coordinator/coordinator.h"

#include <glib.h>

struct core;

struct core_config {
    const struct coordinator_models *models;
    struct msg_options defaults;
    uint32_t max_window; /* candidates of one request out at a time when all are to be judged; 0: 16 */
};

/* What a remote verifier is asked about one candidate. */
struct core_question {
    struct msg_key key;
    uint64_t hash[2];
    uint32_t candidate;
    const char *premise, *hypothesis;
    int64_t deadline_ns; /* on the transport's clock; 0: none */
};

/* And what it said. */
struct core_answer {
    enum err_code code;  /* not ERR_OK: it has no answer, the built-in verifier judges */
    double p;            /* P(entails), 0 to 1 */
    const char *message; /* what it is, or what went wrong; NULL */
};

/* Called inside of events. What they are given lives until they return. */
struct core_actions {
    void *ctx;
    void (*task)(void *ctx, const struct msg_task *task);
    void (*verdict)(void *ctx, void *token, const struct msg_verdict *verdict);
    /* The request could not be read: no verdict will come. */
    void (*dead)(void *ctx, void *token, const struct err *why);
    /* Ask the remote verifier; core_verified follows, whatever becomes of it. False: it cannot be asked now. NULL:
     * there is none. */
    bool (*verify)(void *ctx, const struct core_question *question);
};

struct core_stats {
    uint64_t requests, verdicts, dead, tasks, results, stray, deadlines;
    uint64_t verifications, verifier_failures;
    uint64_t by_status[MSG_STATUS_COUNT];
};

struct core *core_new(const struct core_config *config, const struct core_actions *actions);
/* Open requests are dropped without a verdict. */
void core_free(struct core *core);

/* A request came in. `token` comes back with its verdict. Deadlines count from arrived_ns. */
void core_request(struct core *core, struct msg_key key, void *token, const void *bytes, size_t len, int64_t arrived_ns,
                  int64_t now_ns);
/* A result came in for the request with that key. ERR_OK also for a stray one; else it cannot be read, see `err`. One
 * of the family MSG_VERIFIER is core_verified. */
enum err_code core_result(struct core *core, struct msg_key key, const void *bytes, size_t len, int64_t now_ns,
                          struct err *err);
/* The remote verifier has answered about the candidate with that hash; stray when nobody waits for it. */
void core_verified(struct core *core, struct msg_key key, const uint64_t hash[2], const struct core_answer *answer,
                   int64_t now_ns);
/* Time has passed. Returns when to call again at the latest; 0: no deadline is set. */
int64_t core_tick(struct core *core, int64_t now_ns);

uint32_t core_open_requests(const struct core *core);
struct core_stats core_get_stats(const struct core *core);

#endif
