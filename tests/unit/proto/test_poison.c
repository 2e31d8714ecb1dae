/* Which suspects of two partitions may be open beside each other. */
#include "proto/bus/kafka/exactly_once/once.h"

#include <criterion/criterion.h>

static struct once_producer producers[2];
static struct once_partition parts[2];
static struct once_partition *both[] = {&parts[0], &parts[1]};
static struct once once = {.parts = both, .n_parts = 2, .producers = producers, .n_producers = 2};

/* Its owners died, the last one while it opened requests alone. */
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

Test(poison, one_is_tried_alone)
{
    cr_expect(poison_may_open(&once, &parts[1]));
    ledger_read(&parts[0].ledger, 0);
    cr_expect(!poison_may_open(&once, &parts[1]));
}

/* What is written down before the second one is opened says that the first is finished: they are in one transaction. */
Test(poison, one_that_is_settled_is_beside_no_other_of_its_producer)
{
    parts[1].producer = parts[0].producer;
    ledger_read(&parts[0].ledger, 0);
    parts[0].n_settled = 1;
    cr_expect(poison_may_open(&once, &parts[1]));
}

/* Nothing says so yet: if this process dies of the second one, the first would be blamed as well. */
Test(poison, one_of_another_producer_is_open_until_it_is_committed)
{
    ledger_read(&parts[0].ledger, 0);
    parts[0].n_settled = 1;
    cr_expect(!poison_may_open(&once, &parts[1]));
    ledger_finish(&parts[0].ledger, 0);
    parts[0].n_settled = 0;
    cr_expect(poison_may_open(&once, &parts[1]));
}
