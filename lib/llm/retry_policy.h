/* Retry policy of an endpoint, which all calls to it share. It consists of random waits, a budget of retries, pauses
 * that the endpoint requests, and a circuit breaker. It has no clock: callers pass the time as `now`, so tests control
 * time. Thread: any. */
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
    double share, tokens; /* retries that a request adds to the budget; retries in the budget, at most RETRY_BURST */
    int64_t pause_until;  /* end of the pause that the endpoint requested */
    uint64_t opened, refused;
};

enum { RETRY_BURST = 10 };

/* Initialises the policy; a seed of 0 takes a seed from the system. Free with retry_policy_free. */
void retry_policy_init(struct retry_policy *policy, const struct retry_limits *limits, uint64_t seed);
void retry_policy_free(struct retry_policy *policy);

/* Admits an attempt, or returns false if the circuit is open. After true the caller must call retry_policy_report once.
 */
bool retry_policy_admit(struct retry_policy *policy, int64_t now);
void retry_policy_report(struct retry_policy *policy, int64_t now, enum breaker_outcome outcome);

/* Maintain the budget of retries. Call retry_policy_earn once for each request, and retry_policy_spend before each
 * retry. retry_policy_spend returns false if the budget is empty. */
void retry_policy_earn(struct retry_policy *policy);
bool retry_policy_spend(struct retry_policy *policy);

/* Returns the wait before retry number `retry`, counted from 0: uniformly random in [0, min(cap, backoff * 2^retry)].
 */
int64_t retry_policy_backoff(struct retry_policy *policy, uint32_t retry);

/* retry_policy_pause records the end of a pause that the endpoint requested; an earlier end than the current one is
 * ignored. retry_policy_pause_until returns it. */
void retry_policy_pause(struct retry_policy *policy, int64_t until);
int64_t retry_policy_pause_until(struct retry_policy *policy);

/* Sets *opened to the number of times that the breaker opened, and *refused to the number of attempts that it refused.
 */
void retry_policy_counts(struct retry_policy *policy, uint64_t *opened, uint64_t *refused);

bool retry_policy_is_open(struct retry_policy *policy, int64_t now);

#endif
