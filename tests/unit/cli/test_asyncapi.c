/* Compares the names, numbers and lists of proto/asyncapi.yaml with those in the code. */
#include "proto/bus/topics.h"
#include "proto/message/edge.h"
#include "signals/vsig.h"
#include "train/feedback.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

static yaml_document_t document;

static void load(void)
{
    yaml_parser_t parser;
    FILE *file = fopen(SOURCE_ROOT "/proto/asyncapi.yaml", "re");
    cr_assert_not_null(file);
    cr_assert(yaml_parser_initialize(&parser));
    yaml_parser_set_input_file(&parser, file);
    cr_assert(yaml_parser_load(&parser, &document), "line %zu: %s", parser.problem_mark.line + 1, parser.problem);
    yaml_parser_delete(&parser);
    fclose(file);
}

static void unload(void)
{
    yaml_document_delete(&document);
}

TestSuite(asyncapi, .init = load, .fini = unload);

static yaml_node_t *child(yaml_node_t *node, const char *key)
{
    if (!node || node->type != YAML_MAPPING_NODE) return NULL;
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++)
        if (strcmp((const char *)yaml_document_get_node(&document, pair->key)->data.scalar.value, key) == 0)
            return yaml_document_get_node(&document, pair->value);
    return NULL;
}

/* Returns the node at a path such as "channels/requests/address". */
static yaml_node_t *at(const char *path)
{
    yaml_node_t *node = yaml_document_get_root_node(&document);
    gchar **keys = g_strsplit(path, "/", -1);
    for (unsigned i = 0; keys[i]; i++) node = child(node, keys[i]);
    g_strfreev(keys);
    cr_assert_not_null(node, "asyncapi.yaml has no %s", path);
    return node;
}

static const char *text(const char *path)
{
    const yaml_node_t *node = at(path);
    cr_assert_eq(node->type, YAML_SCALAR_NODE, "%s", path);
    return (const char *)node->data.scalar.value;
}

static const char *item(const char *path, unsigned i)
{
    const yaml_node_t *node = at(path);
    cr_assert_eq(node->type, YAML_SEQUENCE_NODE, "%s", path);
    yaml_node_item_t *found = node->data.sequence.items.start + i;
    if (found >= node->data.sequence.items.top) return NULL;
    return (const char *)yaml_document_get_node(&document, *found)->data.scalar.value;
}

static const char *channel_of(const char *topic)
{
    static const char *const channels[][2] = {
        {BUS_REQUESTS, "requests"}, {BUS_RESULTS, "results"}, {BUS_VERDICTS, "verdicts"},  {BUS_FEEDBACK, "feedback"},
        {BUS_TRACES, "traces"},     {BUS_DLQ, "dlq"},         {BUS_TASKS_DLQ, "tasksDlq"}, {BUS_TASKS_ALL, "tasksAll"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(channels); i++)
        if (strcmp(channels[i][0], topic) == 0) return channels[i][1];
    return "tasks";
}

static const char *setting(const struct topic_plan *plan, const char *name)
{
    for (uint32_t i = 0; i < plan->n_settings; i++)
        if (strcmp(plan->settings[i].name, name) == 0) return plan->settings[i].value;
    return "";
}

static const char *binding(const char *channel, const char *rest)
{
    static char path[200];
    snprintf(path, sizeof path, "channels/%s/%s", channel, rest);
    return path;
}

static void check_topic(const struct topic_plan *plan)
{
    char partitions[16];
    const char *channel = channel_of(plan->name);
    snprintf(partitions, sizeof partitions, "%d", plan->partitions);
    if (strcmp(channel, "tasks") != 0) cr_expect_str_eq(text(binding(channel, "address")), plan->name);
    cr_expect_str_eq(text(binding(channel, "bindings/kafka/partitions")), partitions);
    cr_expect_str_eq(text(binding(channel, "bindings/kafka/topicConfiguration/retention.ms")),
                     setting(plan, "retention.ms"), "%s", plan->name);
    cr_expect_str_eq(text(binding(channel, "bindings/kafka/topicConfiguration/max.message.bytes")),
                     setting(plan, "max.message.bytes"));
    const char *policy = binding(channel, "bindings/kafka/topicConfiguration/cleanup.policy");
    cr_expect_str_eq(item(policy, 0), setting(plan, "cleanup.policy"));
    cr_expect_null(item(policy, 1));
}

Test(asyncapi, topics_match_created_topics)
{
    static struct topic_plan plans[TOPICS_MAX];
    const char *families[VSIG_FAMILY_COUNT];
    for (unsigned i = 0; i < VSIG_FAMILY_COUNT; i++) {
        families[i] = vsig_family_name((enum vsig_family)i);
        const char *listed = item("channels/tasks/parameters/family/enum", i);
        cr_assert_not_null(listed);
        cr_expect_str_eq(listed, families[i]);
    }
    cr_expect_null(item("channels/tasks/parameters/family/enum", VSIG_FAMILY_COUNT));
    cr_expect_str_eq(text("channels/tasks/address"), BUS_TASKS_PREFIX "{family}");
    uint32_t n = topics_plan(&(struct topics_config){.families = families, .n_families = VSIG_FAMILY_COUNT}, plans);
    cr_assert_eq(n, 8 + VSIG_FAMILY_COUNT);
    for (uint32_t i = 0; i < n; i++) check_topic(&plans[i]);
    const yaml_node_t *channels = at("channels");
    cr_expect_eq(channels->data.mapping.pairs.top - channels->data.mapping.pairs.start, 9,
                 "a channel that nobody makes");
}

Test(asyncapi, messages_have_version_and_bounds_of_code)
{
    char version[32], number[32];
    snprintf(version, sizeof version, "%d.%d.0", MSG_MAJOR, MSG_MINOR);
    cr_expect_str_eq(text("info/version"), version);
    cr_expect_str_eq(text("defaultContentType"), EDGE_MSGPACK);
    cr_expect_str_eq(item("components/schemas/edgeHeaders/properties/" EDGE_HEADER "/enum", 0), EDGE_JSON);
    cr_expect_str_eq(item("components/schemas/edgeHeaders/properties/" EDGE_HEADER "/enum", 1), EDGE_MSGPACK);
    for (int i = 0; i < MSG_STATUS_COUNT; i++) {
        const char *listed = item("components/schemas/verdict/properties/status/enum", (unsigned)i);
        cr_assert_not_null(listed);
        cr_expect_str_eq(listed, msg_status_name((enum msg_status)i));
    }
    snprintf(number, sizeof number, "%d", MSG_MAX_CANDIDATES);
    cr_expect_str_eq(text("components/schemas/request/properties/candidates/maxItems"), number);
    snprintf(number, sizeof number, "%d", MSG_MAX_QUESTION);
    cr_expect_str_eq(text("components/schemas/request/properties/question/maxLength"), number);
    snprintf(number, sizeof number, "%d", MSG_MAX_SCHEMA);
    cr_expect_str_eq(text("components/schemas/request/properties/schema/maxLength"), number);
    snprintf(number, sizeof number, "%d", MSG_MAX_NAME);
    cr_expect_str_eq(text("components/schemas/request/properties/id/maxLength"), number);
    snprintf(number, sizeof number, "%d", FEEDBACK_VERSION);
    cr_expect_str_eq(text("components/schemas/feedback/properties/feedback_version/const"), number);
    snprintf(number, sizeof number, "%d", MSG_MAX_CANDIDATES - 1);
    cr_expect_str_eq(text("components/schemas/feedback/properties/candidate/maximum"), number);
    snprintf(number, sizeof number, "%d", MSG_MAX_SQL);
    cr_expect_str_eq(text("components/schemas/feedback/properties/sql/maxLength"), number);
}

/* Checks that the target of every $ref exists. */
Test(asyncapi, references_resolve)
{
    unsigned n = 0;
    for (yaml_node_t *node = document.nodes.start; node < document.nodes.top; node++) {
        const yaml_node_t *reference = child(node, "$ref");
        if (!reference) continue;
        const char *target = (const char *)reference->data.scalar.value;
        cr_assert(g_str_has_prefix(target, "#/"), "%s", target);
        at(target + 2);
        n++;
    }
    cr_assert_gt(n, 15);
}
