/* Renews the leases that this process holds in Redis, in one thread.
 *
 * A lease is a key and a unique token; it expires when its holder dies. The module that takes a lease defines how it is
 * renewed in Redis. Such modules are cache.c (the lock on building an index) and permits.c (a statement slot of a
 * database).
 */
#ifndef ASSAY_WORKER_LEASE_KEEPER_H
#define ASSAY_WORKER_LEASE_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

enum { LEASE_TOKEN = 33 };

struct lease {
    char *key;
    char token[LEASE_TOKEN];
    uint32_t cap; /* maximum number of concurrent holders of the key */
};

/* Writes a unique token: random, 32 hex digits. Thread: any. */
void lease_token(char token[LEASE_TOKEN]);

struct lease_keeper;

/* Creates a keeper that renews each lease every third of lease_ms. `renew` runs on the keeper's thread, which does not
 * hold the keeper's lock then. It receives a copy of the lease, which may have been removed meanwhile
 * (lease_keeper_has). The thread starts with the first lease. */
struct lease_keeper *lease_keeper_new(int64_t lease_ms, void (*renew)(void *ctx, const struct lease *lease), void *ctx);
/* Waits for a running renewal and frees the keeper. Does not release the leases. NULL is allowed. */
void lease_keeper_free(struct lease_keeper *keeper);

/* Starts renewing a new lease, which is copied. If the thread cannot be started, the lease is not renewed and expires.
 * Thread: any. */
void lease_keeper_add(struct lease_keeper *keeper, const struct lease *lease);
/* Stops renewing a lease. Thread: any. */
void lease_keeper_remove(struct lease_keeper *keeper, const struct lease *lease);
/* Returns true if the keeper renews this lease. Thread: any. */
bool lease_keeper_has(struct lease_keeper *keeper, const struct lease *lease);

#endif
