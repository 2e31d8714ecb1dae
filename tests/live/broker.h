/* The real broker of the live tests: where it is, topics for one test, and taking it away. */
#ifndef ASSAY_TESTS_LIVE_BROKER_H
#define ASSAY_TESTS_LIVE_BROKER_H

#include "proto/bus/transport.h"

#include <sys/types.h>

/* Skips the running test, with the reason, where no broker was started. */
void broker_needed(void);

/* A name of its own for each test and run; static. */
const char *broker_prefix(const char *test);

/* Properties that reach it. Append up to 8 more; a NULL name ends them. */
struct broker_properties {
    struct bus_property list[16];
    uint32_t n;
};
struct broker_properties broker_properties(const struct bus_property *more);

struct bus *broker_open(const struct bus_property *more, uint32_t queue_messages);

/* Make topics `<prefix>.<name>` as the fleet's are. Names end with NULL. */
void broker_topics(const char *prefix, int32_t partitions, const char *const *names);

/* One of a test's topics: its last word, and BROKER_NAME bytes for the whole name. */
enum { BROKER_NAME = 100 };
struct broker_topic {
    const char *word;
    char *name;
};

/* What a test starts with: skipped where no broker was started, topics as above, and the name of a group. A NULL word
 * ends the topics. */
void broker_scene(const char *test, int32_t partitions, const struct broker_topic *topics, char group[BROKER_NAME]);

/* Produce a message to any partition; asserts that it is taken. */
void broker_put(struct bus *bus, const char *topic, const char *key, const char *value);

/* Does servers.sh with these words; asserts that it succeeds. */
void broker_command(const char *command, const char *server);

/* Wait for the child's word, kill it with SIGKILL and reap it. */
void broker_kill(pid_t child, int word);

#endif
