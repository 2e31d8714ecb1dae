/* Tests suspected poison messages of two partitions that could be open at the same time. */
#include "proto/bus/kafka/exactly_once/once.h"

#include <criterion/criterion.h>

static struct once_producer producers[2];
static struct once_partition parts[2];
static struct once_partition *both[] = {&parts[0], &parts[1]};
static struct once once = {.parts = both, .n_parts = 2, .producers = producers, .n_producers = 2};

/* Makes a partition whose record crashed four owners. The last owner had no other request in flight. */
static void suspect(struct once_partition *part, struct once_producer *producer)
{
    *part = (struct once_partition){.producer = producer, .assigned = true, .level = 1};
    ledger_init(&part->ledger, 1, 0, 0);
    part->ledger.crashes = 4;
}

static void begin(void)
{
    suspect(&parts[0], &producers[0]);
    suspect(&parts[1], &producers[1]);
}
TestSuite(poison, .init = begin);

Test(poison, suspect_is_tried_alone)
{
    cr_expect(poison_may_open(&once, &parts[1]));
    ledger_read(&parts[0].ledger, 0);
    cr_expect(!poison_may_open(&once, &parts[1]));
}

/* The first suspect is settled. The commit that opens the second one contains this, because both are in one
 * transaction. */
Test(poison, settled_suspect_frees_its_producer)
{
    parts[1].producer = parts[0].producer;
    ledger_read(&parts[0].ledger, 0);
    parts[0].n_settled = 1;
    cr_expect(poison_may_open(&once, &parts[1]));
}

/* The end of the first suspect is not committed yet. If the second one killed this process now, the first would also be
 * blamed. */
Test(poison, suspect_of_other_producer_blocks_until_commit)
{
    ledger_read(&parts[0].ledger, 0);
    parts[0].n_settled = 1;
    cr_expect(!poison_may_open(&once, &parts[1]));
    ledger_finish(&parts[0].ledger, 0);
    parts[0].n_settled = 0;
    cr_expect(poison_may_open(&once, &parts[1]));
}
