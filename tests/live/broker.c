#include "tests/live/broker.h"

#include "proto/bus/topics.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PUT_MS = 40000 };

void broker_needed(void)
{
    const char *servers = getenv("ASSAY_TEST_KAFKA");
    if (!servers || !*servers) cr_skip_test("no broker: ASSAY_TEST_KAFKA is not set (tests/live/servers.sh)");
}

const char *broker_prefix(const char *test)
{
    static char prefix[60];
    snprintf(prefix, sizeof prefix, "live.%s.%lx.%d", test, (unsigned long)time(NULL), (int)getpid());
    return prefix;
}

struct broker_properties broker_properties(const struct bus_property *more)
{
    struct broker_properties properties = {.list = {{"bootstrap.servers", getenv("ASSAY_TEST_KAFKA")},
                                                    {"session.timeout.ms", "2000"},
                                                    {"heartbeat.interval.ms", "300"},
                                                    {"topic.metadata.refresh.interval.ms", "1000"}},
                                           .n = 4};
    for (; more && more->name; more++) properties.list[properties.n++] = *more;
    return properties;
}

struct bus *broker_open(const struct bus_property *more, uint32_t queue_messages)
{
    struct broker_properties properties = broker_properties(more);
    struct bus_config config = {
        .queue_messages = queue_messages, .properties = properties.list, .n_properties = properties.n};
    struct bus *bus;
    struct err err = {0};
    cr_assert_eq(bus_open("kafka", &config, &bus, &err), ERR_OK, "%s", err.text);
    return bus;
}

void broker_topics(const char *prefix, int32_t partitions, const char *const *names)
{
    static struct topic_plan plans[8];
    struct topic_report reports[8];
    struct err err = {0};
    uint32_t n = 0;
    struct bus *bus = broker_open(NULL, 0);
    for (; names[n]; n++) {
        plans[n] = (struct topic_plan){.partitions = partitions};
        plans[n].settings[0] = (struct bus_property){"message.timestamp.type", "LogAppendTime"};
        plans[n].settings[1] = (struct bus_property){"max.message.bytes", "33554432"};
        plans[n].n_settings = 2;
        snprintf(plans[n].name, sizeof plans[n].name, "%s.%s", prefix, names[n]);
    }
    cr_assert_eq(topics_create(bus, plans, n, reports, &err), ERR_OK, "%s", err.text);
    for (uint32_t i = 0; i < n; i++)
        cr_assert_eq(reports[i].state, TOPIC_MADE, "%s: %s", plans[i].name, reports[i].differs);
    bus_close(bus);
}

void broker_scene(const char *test, int32_t partitions, const struct broker_topic *topics, char group[BROKER_NAME])
{
    const char *words[8] = {NULL};
    broker_needed();
    const char *prefix = broker_prefix(test);
    for (unsigned i = 0; topics[i].word; i++) {
        words[i] = topics[i].word;
        snprintf(topics[i].name, BROKER_NAME, "%s.%s", prefix, words[i]);
    }
    snprintf(group, BROKER_NAME, "%s.group", prefix);
    broker_topics(prefix, partitions, words);
}

void broker_put(struct bus *bus, const char *topic, const char *key, const char *value)
{
    struct bus_out out = {.topic = topic,
                          .partition = BUS_ANY_PARTITION,
                          .key = key,
                          .key_len = (uint32_t)strlen(key),
                          .value = value,
                          .len = strlen(value)};
    cr_assert_eq(bus_produce(bus, &out, 1, PUT_MS, NULL), ERR_OK);
}

void broker_command(const char *command, const char *server)
{
    char line[600];
    const char *dir = getenv("ASSAY_TEST_SERVERS");
    cr_assert_not_null(dir);
    snprintf(line, sizeof line, "bash '%s/tests/live/servers.sh' %s '%s' %s", SOURCE_ROOT, command, dir, server);
    cr_assert_eq(system(line), 0, "%s", line);
}

void broker_kill(pid_t child, int word)
{
    char byte = 0;
    int status;
    cr_assert_eq(read(word, &byte, 1), 1, "the child ended by itself");
    cr_assert_eq(kill(child, SIGKILL), 0);
    cr_assert_eq(waitpid(child, &status, 0), child);
    close(word);
}
