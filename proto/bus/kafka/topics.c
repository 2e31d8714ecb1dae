/* DESIGN: metadata lists the topics, DescribeConfigs reads their settings, and CreateTopics creates the missing ones in
 * one request. Topics are then read back until all exist. This is needed because a broker replies before leaders are
 * chosen, and other brokers learn of new topics later.
 *
 * Settings: LogAppendTime, because deadlines are counted by the leader's clock. Cleanup policy `delete` everywhere,
 * because the first record of a verdict counts and compaction would keep the last one. No unclean election, because an
 * acknowledged request must not be lost.
 */
#include "proto/bus/kafka/exactly_once/once.h"
#include "proto/bus/topics.h"
#include "proto/message/msg.h"

#include "lib/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MS = 20000, LEADERS_MS = 20000, DEFAULT_PARTITIONS = 24, WANTED_REPLICAS = 3, OVERHEAD = 64 << 10 };
static const int64_t DAY_MS = 86400000;

static void pause_a_moment(void)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    nanosleep(&pause, NULL);
}

const char *topic_state_name(enum topic_state state)
{
    static const char *const names[TOPIC_STATE_COUNT] = {"missing", "made", "ok", "differs"};
    return names[state];
}

/* --- plans --- */

static void set(struct topic_plan *plan, const char *name, const char *value)
{
    plan->settings[plan->n_settings++] = (struct bus_property){name, value};
}

static bool plan_topic(struct topic_plan *plan, const char *prefix, const char *rest, int32_t partitions,
                       int32_t replicas, int64_t retention_ms)
{
    *plan = (struct topic_plan){.partitions = partitions ? partitions : DEFAULT_PARTITIONS, .replicas = replicas};
    int len = snprintf(plan->name, sizeof plan->name, "%s%s", prefix, rest);
    snprintf(plan->numbers[0], sizeof plan->numbers[0], "%lld", (long long)retention_ms);
    snprintf(plan->numbers[1], sizeof plan->numbers[1], "%d", MSG_MAX_BYTES + OVERHEAD);
    set(plan, "message.timestamp.type", "LogAppendTime");
    set(plan, "cleanup.policy", "delete");
    set(plan, "retention.ms", plan->numbers[0]);
    set(plan, "max.message.bytes", plan->numbers[1]);
    set(plan, "unclean.leader.election.enable", "false");
    return len > 0 && (size_t)len < sizeof plan->name;
}

uint32_t topics_plan(const struct topics_config *config, struct topic_plan *plans)
{
    int64_t input = config->retention_ms ? config->retention_ms : 3 * DAY_MS;
    int64_t output = config->verdict_retention_ms ? config->verdict_retention_ms : 7 * DAY_MS;
    int64_t letters = config->letter_retention_ms ? config->letter_retention_ms : 30 * DAY_MS;
    int64_t feedback = config->feedback_retention_ms ? config->feedback_retention_ms : 400 * DAY_MS;
    int32_t together = config->partitions, tasks = config->task_partitions, replicas = config->replicas;
    uint32_t n = 0;
    plan_topic(&plans[n++], BUS_REQUESTS, "", together, replicas, input);
    plan_topic(&plans[n++], BUS_RESULTS, "", together, replicas, input);
    plan_topic(&plans[n++], BUS_VERDICTS, "", together, replicas, output);
    plan_topic(&plans[n++], BUS_FEEDBACK, "", together, replicas, feedback);
    plan_topic(&plans[n++], BUS_TRACES, "", tasks, replicas, input);
    plan_topic(&plans[n++], BUS_DLQ, "", together, replicas, letters);
    plan_topic(&plans[n++], BUS_TASKS_DLQ, "", tasks, replicas, letters);
    plan_topic(&plans[n++], BUS_TASKS_ALL, "", tasks, replicas, input);
    if (config->n_families > TOPICS_MAX - n) return 0;
    for (uint32_t i = 0; i < config->n_families; i++)
        if (!plan_topic(&plans[n++], BUS_TASKS_PREFIX, config->families[i], tasks, replicas, input)) return 0;
    return n;
}

/* --- describing --- */

/* Returns the Kafka transport. Returns NULL with `err` if the bus uses another transport or there are too many
 * topics. */
static struct kafka *kafka_of(struct bus *bus, uint32_t n, struct err *err)
{
    if (n > TOPICS_MAX)
        err_set(err, ERR_CONFIG, "too many topics, at most %d are allowed", TOPICS_MAX);
    else if (bus->transport != &bus_kafka)
        err_set(err, ERR_CONFIG, "transport '%s' creates topics automatically", bus->transport->name);
    else
        return (struct kafka *)bus;
    return NULL;
}

static void differ(struct topic_report *report, const char *what, const char *found, const char *planned)
{
    size_t len = strlen(report->differs);
    snprintf(report->differs + len, sizeof report->differs - len, "%s%s %s, not %s", len ? "; " : "", what, found,
             planned);
    report->state = TOPIC_DIFFERS;
}

static void differ_number(struct topic_report *report, const char *what, int32_t found, int32_t planned)
{
    char a[16], b[16];
    snprintf(a, sizeof a, "%d", found);
    snprintf(b, sizeof b, "%d", planned);
    if (found != planned) differ(report, what, a, b);
}

static const struct rd_kafka_metadata_topic *find(const rd_kafka_metadata_t *metadata, const char *name)
{
    for (int i = 0; i < metadata->topic_cnt; i++)
        if (strcmp(metadata->topics[i].topic, name) == 0 && metadata->topics[i].err == RD_KAFKA_RESP_ERR_NO_ERROR &&
            metadata->topics[i].partition_cnt > 0)
            return &metadata->topics[i];
    return NULL;
}

static int32_t wanted_replicas(const struct topic_plan *plan, const rd_kafka_metadata_t *metadata)
{
    if (plan->replicas) return plan->replicas;
    return metadata->broker_cnt < WANTED_REPLICAS ? metadata->broker_cnt : WANTED_REPLICAS;
}

/* Returns min.insync.replicas. With three replicas, two of them must have a write before it is acknowledged. */
static const char *wanted_insync(int32_t replicas)
{
    return replicas >= WANTED_REPLICAS ? "2" : "1";
}

static enum err_code fetch_metadata(struct kafka *kafka, const rd_kafka_metadata_t **out, struct err *err)
{
    rd_kafka_resp_err_t error = rd_kafka_metadata(kafka->producer, 1, NULL, out, ANSWER_MS);
    return error ? kafka_err(err, error, "topics") : ERR_OK;
}

static void compare_shape(const struct topic_plan *plan, const rd_kafka_metadata_t *metadata,
                          struct topic_report *report)
{
    const struct rd_kafka_metadata_topic *topic = find(metadata, plan->name);
    *report = (struct topic_report){.state = topic ? TOPIC_AS_PLANNED : TOPIC_MISSING};
    if (!topic) return;
    report->partitions = topic->partition_cnt;
    report->replicas = topic->partitions[0].replica_cnt;
    differ_number(report, "partitions", report->partitions, plan->partitions);
    differ_number(report, "replicas", report->replicas, wanted_replicas(plan, metadata));
}

static const char *value_of(const rd_kafka_ConfigResource_t *resource, const char *name)
{
    size_t n;
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resource, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rd_kafka_ConfigEntry_name(entries[i]), name) == 0) return rd_kafka_ConfigEntry_value(entries[i]);
    return NULL;
}

static void compare_settings(const struct topic_plan *plan, const rd_kafka_ConfigResource_t *resource,
                             struct topic_report *report)
{
    for (uint32_t i = 0; i < plan->n_settings; i++) {
        const char *found = value_of(resource, plan->settings[i].name);
        if (!found || strcmp(found, plan->settings[i].value) != 0)
            differ(report, plan->settings[i].name, found ? found : "unknown", plan->settings[i].value);
    }
    const char *insync = value_of(resource, "min.insync.replicas");
    if (insync && strcmp(insync, wanted_insync(report->replicas)) != 0)
        differ(report, "min.insync.replicas", insync, wanted_insync(report->replicas));
}

/* Waits for the reply of that type to an admin request. The caller destroys *out, unless it is NULL. */
static enum err_code answer(rd_kafka_queue_t *queue, rd_kafka_event_type_t type, rd_kafka_event_t **out,
                            struct err *err)
{
    *out = rd_kafka_queue_poll(queue, ANSWER_MS);
    if (!*out || rd_kafka_event_type(*out) != type) return err_set(err, ERR_UNREACHABLE, "topics: no broker answered");
    if (!rd_kafka_event_error(*out)) return ERR_OK;
    return err_set(err, kafka_code(rd_kafka_event_error(*out)), "topics: %s", rd_kafka_event_error_string(*out));
}

static enum err_code read_settings(const struct topic_plan *plans, uint32_t n, const rd_kafka_event_t *event,
                                   struct topic_report *reports, struct err *err)
{
    size_t count;
    const rd_kafka_ConfigResource_t **resources = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result((rd_kafka_event_t *)event), &count);
    for (size_t i = 0; i < count; i++) {
        rd_kafka_resp_err_t error = rd_kafka_ConfigResource_error(resources[i]);
        bool unknown = error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART; /* this broker does not know the topic yet */
        if (error && !unknown) return kafka_err(err, error, rd_kafka_ConfigResource_name(resources[i]));
        for (uint32_t k = 0; k < n; k++) {
            if (strcmp(plans[k].name, rd_kafka_ConfigResource_name(resources[i])) != 0) continue;
            if (unknown)
                reports[k].state = TOPIC_MISSING;
            else
                compare_settings(&plans[k], resources[i], &reports[k]);
        }
    }
    return ERR_OK;
}

static enum err_code describe_settings(struct kafka *kafka, const struct topic_plan *plans, uint32_t n,
                                       struct topic_report *reports, struct err *err)
{
    rd_kafka_ConfigResource_t *resources[TOPICS_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (reports[i].state != TOPIC_MISSING)
            resources[count++] = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, plans[i].name);
    if (!count) return ERR_OK;
    rd_kafka_queue_t *queue = rd_kafka_queue_new(kafka->producer);
    rd_kafka_event_t *event = NULL;
    rd_kafka_DescribeConfigs(kafka->producer, resources, count, NULL, queue);
    enum err_code code = answer(queue, RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT, &event, err);
    if (!code) code = read_settings(plans, n, event, reports, err);
    if (event) rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_ConfigResource_destroy_array(resources, count);
    return code;
}

enum err_code topics_describe(struct bus *bus, const struct topic_plan *plans, uint32_t n, struct topic_report *reports,
                              struct err *err)
{
    struct kafka *kafka = kafka_of(bus, n, err);
    const rd_kafka_metadata_t *metadata;
    if (!kafka) return ERR_CONFIG;
    enum err_code code = fetch_metadata(kafka, &metadata, err);
    if (code) return code;
    for (uint32_t i = 0; i < n; i++) compare_shape(&plans[i], metadata, &reports[i]);
    rd_kafka_metadata_destroy(metadata);
    return describe_settings(kafka, plans, n, reports, err);
}

/* --- creating --- */

static enum err_code new_topic(const struct topic_plan *plan, int32_t replicas, rd_kafka_NewTopic_t **out,
                               struct err *err)
{
    char reason[200];
    *out = rd_kafka_NewTopic_new(plan->name, plan->partitions, replicas, reason, sizeof reason);
    if (!*out) return err_set(err, ERR_CONFIG, "topic %s: %s", plan->name, reason);
    for (uint32_t i = 0; i < plan->n_settings; i++)
        rd_kafka_NewTopic_set_config(*out, plan->settings[i].name, plan->settings[i].value);
    rd_kafka_NewTopic_set_config(*out, "min.insync.replicas", wanted_insync(replicas));
    return ERR_OK;
}

/* Checks the result for each topic. Accepts a topic that another process created meanwhile. */
static enum err_code read_made(const rd_kafka_event_t *event, struct err *err)
{
    size_t n;
    const rd_kafka_topic_result_t **topics =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result((rd_kafka_event_t *)event), &n);
    for (size_t i = 0; i < n; i++) {
        rd_kafka_resp_err_t error = rd_kafka_topic_result_error(topics[i]);
        if (!error || error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) continue;
        const char *reason = rd_kafka_topic_result_error_string(topics[i]);
        return err_set(err, kafka_code(error), "cannot create topic %s: %s", rd_kafka_topic_result_name(topics[i]),
                       reason ? reason : rd_kafka_err2str(error));
    }
    return ERR_OK;
}

static enum err_code ask_for(struct kafka *kafka, rd_kafka_NewTopic_t **topics, size_t n, struct err *err)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_new(kafka->producer);
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(kafka->producer, RD_KAFKA_ADMIN_OP_CREATETOPICS);
    rd_kafka_event_t *event = NULL;
    char reason[200];
    rd_kafka_AdminOptions_set_operation_timeout(options, LEADERS_MS, reason, sizeof reason);
    rd_kafka_CreateTopics(kafka->producer, topics, n, options, queue);
    enum err_code code = answer(queue, RD_KAFKA_EVENT_CREATETOPICS_RESULT, &event, err);
    if (!code) code = read_made(event, err);
    if (event) rd_kafka_event_destroy(event);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_queue_destroy(queue);
    return code;
}

static bool has_leaders(const rd_kafka_metadata_t *metadata, const char *name)
{
    const struct rd_kafka_metadata_topic *topic = find(metadata, name);
    for (int i = 0; topic && i < topic->partition_cnt; i++)
        if (topic->partitions[i].leader < 0) return false;
    return topic != NULL;
}

static enum err_code all_have_leaders(struct kafka *kafka, const struct topic_plan *plans, uint32_t n, bool *out,
                                      struct err *err)
{
    const rd_kafka_metadata_t *metadata;
    uint32_t ready = 0;
    enum err_code code = fetch_metadata(kafka, &metadata, err);
    if (code) return code;
    for (uint32_t i = 0; i < n; i++) ready += has_leaders(metadata, plans[i].name);
    rd_kafka_metadata_destroy(metadata);
    *out = ready == n;
    return ERR_OK;
}

static bool all_found(const struct topic_report *reports, uint32_t n)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++) found += reports[i].state != TOPIC_MISSING;
    return found == n;
}

static enum err_code read_back(struct kafka *kafka, const struct topic_plan *plans, uint32_t n,
                               struct topic_report *reports, struct err *err)
{
    int64_t limit = clock_now_ns() + LEADERS_MS * INT64_C(1000000);
    for (;;) {
        bool ready = false;
        enum err_code code = all_have_leaders(kafka, plans, n, &ready, err);
        if (!code && ready) code = topics_describe(&kafka->bus, plans, n, reports, err);
        if (code || (ready && all_found(reports, n))) return code;
        if (clock_now_ns() > limit)
            return err_set(err, ERR_UNREACHABLE, "topics: created, but some partitions have no leader yet");
        pause_a_moment();
    }
}

static enum err_code make(struct kafka *kafka, const struct topic_plan *plans, uint32_t n, bool *missing,
                          struct err *err)
{
    const rd_kafka_metadata_t *metadata;
    rd_kafka_NewTopic_t *topics[TOPICS_MAX];
    size_t count = 0;
    enum err_code code = fetch_metadata(kafka, &metadata, err);
    if (code) return code;
    for (uint32_t i = 0; i < n && !code; i++) {
        missing[i] = !find(metadata, plans[i].name);
        if (!missing[i]) continue;
        code = new_topic(&plans[i], wanted_replicas(&plans[i], metadata), &topics[count], err);
        count += !code;
    }
    rd_kafka_metadata_destroy(metadata);
    if (!code && count) code = ask_for(kafka, topics, count, err);
    rd_kafka_NewTopic_destroy_array(topics, count);
    return code;
}

enum err_code topics_create(struct bus *bus, const struct topic_plan *plans, uint32_t n, struct topic_report *reports,
                            struct err *err)
{
    struct kafka *kafka = kafka_of(bus, n, err);
    bool missing[TOPICS_MAX] = {false};
    if (!kafka) return ERR_CONFIG;
    enum err_code code = make(kafka, plans, n, missing, err);
    if (!code) code = read_back(kafka, plans, n, reports, err);
    for (uint32_t i = 0; i < n && !code; i++)
        if (missing[i] && reports[i].state == TOPIC_AS_PLANNED) reports[i].state = TOPIC_MADE;
    return code;
}

/* --- start of a group --- */

static rd_kafka_t *group_client(struct kafka *kafka, const char *group, struct err *err)
{
    const struct kafka_preset presets[] = {{"group.id", group}, {"enable.auto.commit", "false"}};
    rd_kafka_conf_t *conf = kafka_conf(&kafka->context, presets, sizeof presets / sizeof *presets, err);
    return conf ? kafka_client(RD_KAFKA_CONSUMER, conf, err) : NULL;
}

/* Makes a ledger for each partition, and writes its offset and text to the list for the commit. */
static enum err_code begin_all(rd_kafka_t *client, char *const *topics, rd_kafka_topic_partition_list_t *list,
                               struct err *err)
{
    char *cluster = rd_kafka_clusterid(client, ANSWER_MS);
    enum err_code code = cluster ? ERR_OK : err_set(err, ERR_UNREACHABLE, "topics: no broker answered");
    for (int i = 0; i < list->cnt && !code; i++) {
        rd_kafka_topic_partition_t *entry = &list->elems[i];
        struct once_logs logs;
        struct ledger ledger;
        char text[LEDGER_TEXT];
        code = once_query_logs(client, topics, entry->partition, &logs, err);
        if (code) break;
        once_begin(&ledger, ledger_log_id(cluster, entry->topic, entry->partition), &logs, false);
        entry->offset = ledger.low;
        entry->metadata_size = ledger_encode(&ledger, text);
        entry->metadata = strdup(text);
    }
    if (cluster) rd_kafka_mem_free(client, cluster);
    return code;
}

static enum err_code begin_group(rd_kafka_t *client, char *const *topics, bool *made, struct err *err)
{
    int32_t n = 0;
    bool known = false;
    enum err_code code = once_count_partitions(client, topics[ONCE_REQUESTS], &n, err);
    if (code) return code;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(n);
    rd_kafka_topic_partition_list_add_range(list, topics[ONCE_REQUESTS], 0, n - 1);
    rd_kafka_resp_err_t error = rd_kafka_committed(client, list, ANSWER_MS);
    for (int i = 0; i < n; i++) known |= list->elems[i].offset >= 0;
    *made = !error && !known;
    if (!error && !known) code = begin_all(client, topics, list, err);
    if (!error && !known && !code) error = rd_kafka_commit(client, list, 0);
    rd_kafka_topic_partition_list_destroy(list);
    return error ? kafka_err(err, error, "topics: cannot set the group's start offsets") : code;
}

enum err_code topics_begin_group(struct bus *bus, const struct bus_once *once, bool *made, struct err *err)
{
    struct kafka *kafka = kafka_of(bus, 0, err);
    char *topics[ONCE_TOPICS];
    *made = false;
    if (!kafka) return ERR_CONFIG;
    rd_kafka_t *client = group_client(kafka, once->group ? once->group : BUS_GROUP, err);
    if (!client) return ERR_CONFIG;
    once_topics(once, topics);
    int64_t limit = clock_now_ns() + LEADERS_MS * INT64_C(1000000);
    enum err_code code = begin_group(client, topics, made, err);
    /* retries, because the coordinator of a new group is elected first */
    while (err_class(code) == ERR_CLASS_RETRY && clock_now_ns() < limit) {
        pause_a_moment();
        code = begin_group(client, topics, made, err);
    }
    rd_kafka_destroy(client);
    return code;
}

/* --- members of a group --- */

static enum err_code find_member(const rd_kafka_event_t *event, const char *name, bool *found, struct err *err)
{
    size_t n = 0;
    const rd_kafka_ConsumerGroupDescription_t **groups = rd_kafka_DescribeConsumerGroups_result_groups(
        rd_kafka_event_DescribeConsumerGroups_result((rd_kafka_event_t *)event), &n);
    for (size_t i = 0; i < n; i++) {
        const rd_kafka_error_t *error = rd_kafka_ConsumerGroupDescription_error(groups[i]);
        if (error) return kafka_err(err, rd_kafka_error_code(error), "cannot list the group's members");
        for (size_t m = 0; m < rd_kafka_ConsumerGroupDescription_member_count(groups[i]); m++) {
            const char *instance =
                rd_kafka_MemberDescription_group_instance_id(rd_kafka_ConsumerGroupDescription_member(groups[i], m));
            *found |= instance && strcmp(instance, name) == 0;
        }
    }
    return ERR_OK;
}

enum err_code topics_name_is_taken(struct bus *bus, const struct bus_once *once, bool *taken, struct err *err)
{
    struct kafka *kafka = kafka_of(bus, 0, err);
    const char *group = once->group ? once->group : BUS_GROUP;
    char name[ONCE_MAX_NAME];
    *taken = false;
    if (!kafka) return ERR_CONFIG;
    once_name(once, name);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(kafka->producer);
    rd_kafka_event_t *event = NULL;
    rd_kafka_DescribeConsumerGroups(kafka->producer, &group, 1, NULL, queue);
    enum err_code code = answer(queue, RD_KAFKA_EVENT_DESCRIBECONSUMERGROUPS_RESULT, &event, err);
    if (!code) code = find_member(event, name, taken, err);
    if (event) rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    return code;
}
