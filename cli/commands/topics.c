/* assay topics: creates the fleet's topics, or prints their state. */
#include "cli/cli.h"
#include "cli/output/format.h"
#include "cli/output/table.h"
#include "cli/settings/fleet_settings.h"
#include "proto/bus/topics.h"
#include "signals/vsig.h"

#include <stdio.h>
#include <string.h>

static const int64_t HOUR_MS = 3600000;

static uint32_t plan(const struct settings *settings, struct topic_plan *plans)
{
    const char *families[VSIG_FAMILY_COUNT];
    for (unsigned i = 0; i < VSIG_FAMILY_COUNT; i++) families[i] = vsig_family_name((enum vsig_family)i);
    struct topics_config config = {
        .partitions = (int32_t)settings->topics.partitions,
        .task_partitions = (int32_t)settings->topics.task_partitions,
        .replicas = (int32_t)settings->topics.replicas,
        .retention_ms = settings->topics.retention_hours * HOUR_MS,
        .verdict_retention_ms = settings->topics.verdict_retention_hours * HOUR_MS,
        .letter_retention_ms = settings->topics.letter_retention_hours * HOUR_MS,
        .feedback_retention_ms = settings->topics.feedback_retention_hours * HOUR_MS,
        .families = families,
        .n_families = VSIG_FAMILY_COUNT,
    };
    return topics_plan(&config, plans);
}

static void print_table(const struct topic_plan *plans, const struct topic_report *reports, uint32_t n,
                        enum format format)
{
    static const struct table_column columns[] = {{"topic"}, {"partitions", .right = true}, {"replicas", .right = true},
                                                  {"state"}, {"differs", .wrap = true},     {0}};
    struct table *table = table_new(columns);
    for (uint32_t i = 0; i < n; i++) {
        table_row(table);
        table_cell(table, 0, "%s", plans[i].name);
        table_cell(table, 1, "%d", reports[i].partitions);
        table_cell(table, 2, "%d", reports[i].replicas);
        table_cell(table, 3, "%s", topic_state_name(reports[i].state));
        table_cell(table, 4, "%s", reports[i].differs);
    }
    if (format == FORMAT_CSV)
        table_print_csv(table, stdout);
    else
        table_print(table, stdout);
    table_free(table);
}

static void print_json(const struct topic_plan *plans, const struct topic_report *reports, uint32_t n,
                       enum format format)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:s, s:i, s:i, s:s, s:s}", "topic", plans[i].name, "partitions",
                                              reports[i].partitions, "replicas", reports[i].replicas, "state",
                                              topic_state_name(reports[i].state), "differs", reports[i].differs));
    format_json_list(list, format, stdout);
    json_decref(list);
}

static bool all_well(const struct topic_report *reports, uint32_t n)
{
    uint32_t well = 0;
    for (uint32_t i = 0; i < n; i++) well += reports[i].state == TOPIC_MADE || reports[i].state == TOPIC_AS_PLANNED;
    return well == n;
}

static int topics_run(struct cli *cli)
{
    static struct topic_plan plans[TOPICS_MAX];
    struct topic_report reports[TOPICS_MAX];
    struct bus *bus = NULL;
    struct err err = {0};
    enum format format;
    bool create = strcmp(cli->args[0], "create") == 0;
    if (!create && strcmp(cli->args[0], "describe") != 0) {
        complain("unknown topics action '%s', expected create or describe", cli->args[0]);
        return EXIT_ERROR;
    }
    if (!format_choose(cli, FORMATS_TABLE, &format)) return EXIT_ERROR;
    uint32_t n = plan(&cli->settings, plans);
    enum err_code code = fleet_settings_open_bus(cli, &bus, &err);
    if (!code) code = (create ? topics_create : topics_describe)(bus, plans, n, reports, &err);
    bool made;
    const struct bus_once group = {.group = cli->settings.coordinator.group};
    if (!code && create) code = topics_begin_group(bus, &group, &made, &err);
    bus_close(bus);
    if (code) return complain_err("topics", &err);
    if (format == FORMAT_TEXT || format == FORMAT_CSV)
        print_table(plans, reports, n, format);
    else
        print_json(plans, reports, n, format);
    return all_well(reports, n) ? 0 : EXIT_JUDGED;
}

const struct command command_topics = {
    .name = "topics",
    .guide = "fleet.md",
    .sentence = "create the Kafka topics, or compare them with the plan",
    .args = "create|describe",
    .description = "create adds missing topics, and describe only reads. Both print each topic with its differences "
                   "from the plan. The exit status is 1 if a topic differs or is missing. Existing topics are never "
                   "altered, because partitions cannot be removed, and other settings may be different on purpose.\n\n"
                   "If the consumer group of the coordinators (coordinator.group) has no offsets, create sets them to "
                   "the beginning of the requests. Without offsets, a coordinator refuses to start.\n\n"
                   "Requests, results, verdicts, feedback and the coordinator's dead letters have the same number of "
                   "partitions, because partition i of each belongs together. Timestamps are those of the brokers "
                   "(LogAppendTime). No topic is compacted, because the first verdict of a request is the valid one.",
    .examples = "assay topics create --servers kafka:9092\n"
                "assay topics describe --servers kafka:9093 -X security.protocol=SASL_SSL -X sasl.mechanism=PLAIN \\\n"
                "    -X sasl.username=assay -X sasl.password=file:/run/secrets/kafka",
    .main_flags = "servers partitions replicas format",
    .words = "create describe",
    .groups =
        (const struct option_group *const[]){&options_topics, &options_kafka, &options_output, &options_general, NULL},
    .min_args = 1,
    .max_args = 1,
    .run = topics_run,
};
