/* Connects live tests to the real broker: its address, topics for one test, and outages. */
#ifndef ASSAY_TESTS_LIVE_BROKER_H
#define ASSAY_TESTS_LIVE_BROKER_H

#include "proto/bus/transport.h"

#include <sys/types.h>

/* Skips the running test, and prints the reason, if no broker was started. */
void broker_needed(void);

/* Returns a prefix for topics that is unique for each test and run. The string is static. */
const char *broker_prefix(const char *test);

/* Properties that connect to the broker, plus up to 8 from `more`. A NULL name ends `more`. */
struct broker_properties {
    struct bus_property list[16];
    uint32_t n;
};
struct broker_properties broker_properties(const struct bus_property *more);

struct bus *broker_open(const struct bus_property *more, uint32_t queue_messages);

/* Creates topics `<prefix>.<name>` with the settings of the fleet's topics. NULL ends the names. */
void broker_topics(const char *prefix, int32_t partitions, const char *const *names);

/* A topic of a test. `word` is the last part of its name. The buffer for the whole name has BROKER_NAME bytes. */
enum { BROKER_NAME = 100 };
struct broker_topic {
    const char *word;
    char *name;
};

/* Sets up a test: skips it if no broker was started, creates the topics, and chooses a name for a consumer group. A
 * NULL word ends the topics. */
void broker_scene(const char *test, int32_t partitions, const struct broker_topic *topics, char group[BROKER_NAME]);

/* Produces a message to any partition; asserts that it is accepted. */
void broker_put(struct bus *bus, const char *topic, const char *key, const char *value);

/* Runs servers.sh with `command` and `server`; asserts that it succeeds. */
void broker_command(const char *command, const char *server);

/* Waits until the child writes to the pipe `word`, then kills it with SIGKILL and reaps it. */
void broker_kill(pid_t child, int word);

#endif
