/* Leases that this process holds in Redis, renewed by one thread for as long as they are held.
 *
 * A lease is a key and a token that nobody else has; it ends by itself when its holder dies. What renewing one means in
 * Redis is its owner's (cache.c: the lock on building an index; permits.c: a place among the statements of a database).
 */
#ifndef ASSAY_WORKER_LEASE_KEEPER_H
#define ASSAY_WORKER_LEASE_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

enum { LEASE_TOKEN = 33 };

struct lease {
    char *key;
    char token[LEASE_TOKEN];
    uint32_t cap; /* how many may hold the key at a time */
};

/* A name that nobody else has: random, 32 hex digits. Thread: any. */
void lease_token(char token[LEASE_TOKEN]);

struct lease_keeper;

/* `renew` is called on the keeper's thread, without its lock and with a copy of the lease, which may have been given
 * back meanwhile (lease_keeper_has). Each lease is renewed every third of lease_ms. The thread starts with the first
 * lease. */
struct lease_keeper *lease_keeper_new(int64_t lease_ms, void (*renew)(void *ctx, const struct lease *lease), void *ctx);
/* Waits for a renewal that is under way; leases are not given back. NULL is fine. */
void lease_keeper_free(struct lease_keeper *keeper);

/* Renew from now on; the lease is fresh, and copied. Where no thread can be started it ends in time. Thread: any. */
void lease_keeper_add(struct lease_keeper *keeper, const struct lease *lease);
/* Renew no more. Thread: any. */
void lease_keeper_remove(struct lease_keeper *keeper, const struct lease *lease);
/* Is it renewed? Thread: any. */
bool lease_keeper_has(struct lease_keeper *keeper, const struct lease *lease);

#endif
