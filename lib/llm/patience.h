/* How long and how often an endpoint is tried: waits with full jitter, a budget of retries, pauses that the endpoint
 * asks for, and a breaker. Shared by all calls to one endpoint. No clock of its own: `now` is handed in, so that a test
 * moves time by hand. Thread: any. */
#ifndef ASSAY_LIB_LLM_PATIENCE_H
#define ASSAY_LIB_LLM_PATIENCE_H

#include <glib.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct patience_limits {
    int64_t backoff_ns, backoff_cap_ns;
    double retry_share;
    uint32_t breaker_failures; /* 0: no breaker */
    int64_t breaker_open_ns;
};

/* Breaker: closed → (failures in a row) → open → (time) → half open, one call tries → closed, or open again. */
struct patience {
    pthread_mutex_t lock;
    struct patience_limits limits;
    GRand *random;
    double tokens;       /* retries that may be made now, at most PATIENCE_BURST */
    int64_t pause_until; /* the endpoint asked for quiet until then */
    int64_t open_until;  /* breaker open; 0: closed */
    bool trying;         /* half open, and the one call is on its way */
    uint32_t failures;   /* in a row */
    uint64_t opened, refused;
};

enum { PATIENCE_BURST = 10 };

enum patience_outcome {
    PATIENCE_ALIVE,  /* it answered, whatever the answer */
    PATIENCE_FAILED, /* it did not, or not sensibly */
    PATIENCE_UNKNOWN /* the attempt was called off */
};

/* seed 0: from the system. Owes patience_free. */
void patience_init(struct patience *p, const struct patience_limits *limits, uint64_t seed);
void patience_free(struct patience *p);

/* May an attempt be made? False: the breaker is open. Each true is answered by one patience_report. */
bool patience_admit(struct patience *p, int64_t now);
void patience_report(struct patience *p, int64_t now, enum patience_outcome outcome);

/* A call's first attempt adds to the budget; a retry takes one from it, or is refused. */
void patience_earn(struct patience *p);
bool patience_spend(struct patience *p);

/* A wait before retry number `retry` (from 0): uniform in [0, min(cap, backoff * 2^retry)]. */
int64_t patience_backoff(struct patience *p, uint32_t retry);

/* The endpoint asked for quiet until `until`; when it ends. */
void patience_pause(struct patience *p, int64_t until);
int64_t patience_pause_until(struct patience *p);

/* How often the breaker opened, and how many attempts it refused. */
void patience_counts(struct patience *p, uint64_t *opened, uint64_t *refused);

bool patience_is_open(struct patience *p, int64_t now);

#endif
