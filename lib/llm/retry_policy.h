/* Retry policy of an endpoint: waits with full jitter, a budget of retries, pauses that the endpoint requests, and a
 * circuit breaker. All calls to one endpoint share it. It has no clock: `now` is an argument, so tests control time.
 * Thread: any. */
#ifndef ASSAY_LIB_LLM_RETRY_POLICY_H
#define ASSAY_LIB_LLM_RETRY_POLICY_H

#include "lib/base/breaker.h"

#include <pthread.h>

struct retry_limits {
    int64_t backoff_ns, backoff_cap_ns;
    double retry_share;
    uint32_t breaker_failures; /* 0 disables the breaker */
    int64_t breaker_open_ns;
};

struct retry_policy {
    pthread_mutex_t lock;
    struct backoff backoff;
    struct breaker_config breaker_config;
    struct breaker breaker;
    GRand *random;
    double share, tokens; /* tokens that a call earns; retries available now, at most RETRY_BURST */
    int64_t pause_until;  /* end of the pause that the endpoint requested */
    uint64_t opened, refused;
};

enum { RETRY_BURST = 10 };

/* Initialises the policy; seed 0 takes one from the system. Free with retry_policy_free. */
void retry_policy_init(struct retry_policy *policy, const struct retry_limits *limits, uint64_t seed);
void retry_policy_free(struct retry_policy *policy);

/* Admits an attempt, or returns false if the circuit is open. After each true, call retry_policy_report once. */
bool retry_policy_admit(struct retry_policy *policy, int64_t now);
void retry_policy_report(struct retry_policy *policy, int64_t now, enum breaker_outcome outcome);

/* A call's first attempt adds to the budget. A retry takes one token; retry_policy_spend returns false if there is
 * none. */
void retry_policy_earn(struct retry_policy *policy);
bool retry_policy_spend(struct retry_policy *policy);

/* Returns the wait before retry number `retry` (from 0): uniform in [0, min(cap, backoff * 2^retry)]. */
int64_t retry_policy_backoff(struct retry_policy *policy, uint32_t retry);

/* Records the end of a pause that the endpoint requested; returns it. */
void retry_policy_pause(struct retry_policy *policy, int64_t until);
int64_t retry_policy_pause_until(struct retry_policy *policy);

/* Returns how often the breaker opened, and how many attempts it refused. */
void retry_policy_counts(struct retry_policy *policy, uint64_t *opened, uint64_t *refused);

bool retry_policy_is_open(struct retry_policy *policy, int64_t now);

#endif
