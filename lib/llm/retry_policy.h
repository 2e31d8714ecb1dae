/* How often an endpoint is tried: waits with full jitter, a budget of retries, pauses that the endpoint asks for, and a
 * breaker. Shared by all calls to one endpoint. No clock of its own: `now` is handed in, so that a test moves time by
 * hand. Thread: any. */
#ifndef ASSAY_LIB_LLM_RETRY_POLICY_H
#define ASSAY_LIB_LLM_RETRY_POLICY_H

#include "lib/base/breaker.h"

#include <pthread.h>

struct retry_limits {
    int64_t backoff_ns, backoff_cap_ns;
    double retry_share;
    uint32_t breaker_failures; /* 0: no breaker */
    int64_t breaker_open_ns;
};

struct retry_policy {
    pthread_mutex_t lock;
    struct backoff backoff;
    struct breaker_config breaker_config;
    struct breaker breaker;
    GRand *random;
    double share, tokens; /* what a call earns; retries that may be made now, at most RETRY_BURST */
    int64_t pause_until;  /* the endpoint asked for quiet until then */
    uint64_t opened, refused;
};

enum { RETRY_BURST = 10 };

/* seed 0: from the system. Owes retry_policy_free. */
void retry_policy_init(struct retry_policy *policy, const struct retry_limits *limits, uint64_t seed);
void retry_policy_free(struct retry_policy *policy);

/* May an attempt be made? False: the breaker is open. Each true is answered by one retry_policy_report. */
bool retry_policy_admit(struct retry_policy *policy, int64_t now);
void retry_policy_report(struct retry_policy *policy, int64_t now, enum breaker_outcome outcome);

/* A call's first attempt adds to the budget; a retry takes one from it, or is refused. */
void retry_policy_earn(struct retry_policy *policy);
bool retry_policy_spend(struct retry_policy *policy);

/* A wait before retry number `retry` (from 0): uniform in [0, min(cap, backoff * 2^retry)]. */
int64_t retry_policy_backoff(struct retry_policy *policy, uint32_t retry);

/* The endpoint asked for quiet until `until`; when it ends. */
void retry_policy_pause(struct retry_policy *policy, int64_t until);
int64_t retry_policy_pause_until(struct retry_policy *policy);

/* How often the breaker opened, and how many attempts it refused. */
void retry_policy_counts(struct retry_policy *policy, uint64_t *opened, uint64_t *refused);

bool retry_policy_is_open(struct retry_policy *policy, int64_t now);

#endif
