/* Tests which parts of librdkafka's statistics an operator sees. */
#include "lib/base/clock.h"
#include "proto/bus/kafka/stats.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <string.h>

static int64_t now_ns = 1000000000;

static int64_t fake_now(void)
{
    return now_ns;
}

static struct kafka_stats stats;
static int one, two; /* their addresses identify two clients */

static void begin(void)
{
    clock_set_source(fake_now);
    kafka_stats_init(&stats);
}

static void end(void)
{
    kafka_stats_free(&stats);
    clock_set_source(NULL);
}

TestSuite(kafka_stats, .init = begin, .fini = end);

static void take(const void *client, const char *json)
{
    kafka_stats_take(&stats, client, !strstr(json, "producer"), json, strlen(json));
}

static struct bus_traffic sum(void)
{
    struct bus_traffic traffic;
    kafka_stats_sum(&stats, &traffic);
    return traffic;
}

static const char CONSUMER[] =
    "{\"type\":\"consumer\",\"rx_bytes\":1000,\"tx_bytes\":50,\"rxmsgs\":7,\"txmsgs\":0,\"msg_cnt\":3,"
    "\"brokers\":{\"a\":{\"connects\":2,\"disconnects\":1},\"b\":{\"connects\":1,\"disconnects\":0}},"
    "\"topics\":{\"t\":{\"partitions\":{"
    "\"0\":{\"fetch_state\":\"active\",\"consumer_lag\":5},\"1\":{\"fetch_state\":\"active\",\"consumer_lag\":-1},"
    "\"2\":{\"fetch_state\":\"stopped\",\"consumer_lag\":900},\"-1\":{\"fetch_state\":\"none\",\"consumer_lag\":-1}}}},"
    "\"cgrp\":{\"state\":\"up\",\"join_state\":\"steady\",\"rebalance_cnt\":4}}";
static const char PRODUCER[] = "{\"type\":\"producer\",\"rx_bytes\":10,\"tx_bytes\":2000,\"txmsgs\":9,\"msg_cnt\":6}";

Test(kafka_stats, counts_of_clients_are_summed)
{
    cr_assert_eq(sum().clients, 0, "nothing is known");
    take(&one, CONSUMER);
    take(&two, PRODUCER);
    struct bus_traffic traffic = sum();
    cr_assert(traffic.clients == 2 && traffic.members == 1 && traffic.joined == 1);
    cr_assert(traffic.bytes_in == 1010 && traffic.bytes_out == 2050);
    cr_assert(traffic.messages_in == 7 && traffic.messages_out == 9);
    cr_assert(traffic.connects == 3 && traffic.disconnects == 1 && traffic.rebalances == 4);
    cr_assert_eq(traffic.queued, 6, "of producers alone: a consumer's are not on their way");
    cr_assert_eq(traffic.lag, 5, "of what is fetched and known");
    take(&two, PRODUCER);
    cr_assert_eq(sum().messages_out, 9, "a report replaces the last of its client");
    kafka_stats_free(&stats);
    kafka_stats_init(&stats);
    leak_check();
}

Test(kafka_stats, waiting_member_has_not_joined)
{
    take(&one, "{\"type\":\"consumer\",\"cgrp\":{\"state\":\"up\",\"join_state\":\"wait-join\"}}");
    take(&two, "{\"type\":\"consumer\",\"cgrp\":{\"state\":\"query-coord\",\"join_state\":\"steady\"}}");
    cr_assert(sum().members == 2 && sum().joined == 0);
}

/* `serve` reads all partitions without a consumer group. The library then reports the state of a member that has not
 * joined. */
Test(kafka_stats, reader_without_group_needs_no_join)
{
    static const char READER[] =
        "{\"type\":\"consumer\",\"rxmsgs\":2,\"cgrp\":{\"state\":\"up\",\"join_state\":\"init\"}}";
    kafka_stats_take(&stats, &one, false, READER, strlen(READER));
    cr_assert(sum().messages_in == 2 && sum().members == 0 && sum().joined == 0);
    take(&two, READER);
    cr_assert(sum().members == 1 && sum().joined == 0, "who is to join");
}

Test(kafka_stats, counters_survive_closed_client)
{
    take(&one, CONSUMER);
    take(&two, PRODUCER);
    now_ns += 50000000000;
    take(&one, CONSUMER);
    now_ns += 50000000000; /* for 100 s the producer has reported no statistics */
    struct bus_traffic traffic = sum();
    cr_assert(traffic.clients == 1 && traffic.queued == 0);
    cr_assert(traffic.messages_out == 9 && traffic.bytes_out == 2050);
    take(&one, "{\"type\":\"consumer\",\"tx_bytes\":1,\"rxmsgs\":1}"); /* another client, which reuses the address */
    cr_assert(sum().messages_in == 8 && sum().bytes_out == 2051);
}

Test(kafka_stats, closed_client_leaves_only_counters)
{
    take(&one, CONSUMER);
    take(&two, PRODUCER);
    kafka_stats_forget(&stats, &one);
    struct bus_traffic traffic = sum();
    cr_assert(traffic.clients == 1 && traffic.members == 0 && traffic.lag == 0 && traffic.queued == 6);
    cr_assert(traffic.messages_in == 7 && traffic.bytes_out == 2050);
    kafka_stats_forget(&stats, &one);
    cr_assert_eq(sum().messages_in, 7, "once");
}

Test(kafka_stats, malformed_statistics_change_nothing)
{
    take(&one, CONSUMER);
    static const char *const rubbish[] = {"", "[]", "7", "{", "{\"type\":", "\xff\xfe"};
    for (unsigned i = 0; i < sizeof rubbish / sizeof *rubbish; i++) take(&one, rubbish[i]);
    cr_assert_eq(sum().messages_in, 7);
    take(&two,
         "{\"type\":7,\"rxmsgs\":\"many\",\"brokers\":[],\"topics\":{\"t\":{\"partitions\":7},\"u\":null},\"cgrp\":9}");
    cr_assert(sum().messages_in == 7 && sum().clients == 2 && sum().joined == 1);
}
