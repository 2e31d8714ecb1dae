/* Tests the thread that renews leases, with a Redis that only counts. */
#include "tests/support/leak.h"
#include "tests/support/wait.h"
#include "worker/lease_keeper.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdatomic.h>
#include <string.h>

enum { LEASE_MS = 30 };

static struct lease_keeper *keeper;
static atomic_uint renewed[2];

/* Counts renewals, by the index in the key. The second lease is released while it is being renewed. */
static void renew(void *ctx, const struct lease *lease)
{
    unsigned place = lease->key[0] == 'b';
    cr_assert_eq(ctx, renewed);
    cr_assert_eq(lease->cap, 7);
    atomic_fetch_add(&renewed[place], 1);
    if (place) lease_keeper_remove(keeper, lease);
}

static struct lease lease_of(char *key)
{
    struct lease lease = {.key = key, .cap = 7};
    lease_token(lease.token);
    return lease;
}

static bool is_renewed_thrice(void *unused)
{
    (void)unused;
    return atomic_load(&renewed[0]) >= 3;
}

Test(leases, leases_are_renewed_while_held, .fini = leak_check)
{
    char a[] = "a", b[] = "b";
    struct lease first = lease_of(a), second = lease_of(b);
    cr_expect_eq(strlen(first.token), LEASE_TOKEN - 1);
    cr_expect_str_neq(first.token, second.token);
    keeper = lease_keeper_new(LEASE_MS, renew, renewed);
    lease_keeper_add(keeper, &first);
    lease_keeper_add(keeper, &second);
    strcpy(b, "?"); /* safe, because the key was copied */
    cr_expect(lease_keeper_has(keeper, &first));
    cr_assert(wait_until(is_renewed_thrice, NULL, 5000));
    cr_expect_eq(atomic_load(&renewed[1]), 1, "renewed once, and given back");
    cr_expect_not(lease_keeper_has(keeper, &second));
    lease_keeper_remove(keeper, &first);
    lease_keeper_remove(keeper, &first);
    cr_expect_not(lease_keeper_has(keeper, &first));
    atomic_store(&renewed[0], 0);
    first.key = a;
    lease_keeper_add(keeper, &first);
    cr_assert(wait_until(is_renewed_thrice, NULL, 5000), "the thread that had nothing to do renews again");
    lease_keeper_free(keeper); /* frees the keeper while a lease is held */
}

Test(leases, thread_is_idle_without_leases, .fini = leak_check)
{
    lease_keeper_free(lease_keeper_new(LEASE_MS, renew, NULL));
    lease_keeper_free(NULL);
}
