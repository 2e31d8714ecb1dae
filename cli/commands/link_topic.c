/* assay link judge --from-topic: judges traces of running linkers as they arrive. */
#include "cli/commands/link.h"

#include "cli/replay/replay.h"
#include "cli/settings/fleet_settings.h"
#include "linking/result.h"

#include <glib.h>

enum { TURN_MS = 200 };

struct watching {
    const struct predictor *predictor;
    const struct predictor_options *options;
    uint64_t judged, passed_over;
};

static void judge_record(struct watching *w, const struct bus_message *record)
{
    struct err err = {0};
    json_t *result = NULL;
    char *name = g_strdup_printf("%s:%d:%lld", record->topic, record->partition, (long long)record->offset);
    if (linking_result_of_message(w->predictor, w->options, record->value, record->len, name, &result, &err) ==
        ERR_OK) {
        json_dumpf(result, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
        putchar('\n');
        fflush(stdout);
        w->judged++;
    } else {
        complain("skipped: %s", err.text);
        w->passed_over++;
    }
    json_decref(result);
    g_free(name);
}

static enum err_code judge_range(struct watching *w, struct range *range, struct err *err)
{
    const struct bus_message *record = NULL;
    while (!replay_interrupted && !ferror(stdout)) {
        enum err_code code = range_poll(range, TURN_MS, &record, err);
        if (code == ERR_CLOSED) return ERR_OK;
        if (code && code != ERR_FULL) return code;
        if (!code) judge_record(w, record);
    }
    return ERR_OK;
}

enum err_code link_judge_topic(struct cli *cli, const struct predictor *predictor,
                               const struct predictor_options *options, struct err *err)
{
    struct watching w = {.predictor = predictor, .options = options};
    struct range_config config;
    struct range *range = NULL;
    struct bus *bus = NULL;
    enum err_code code = replay_range(&cli->settings, &config, err);
    config.group = "assay-link";
    if (cli->settings.link.follow) config.to.kind = RANGE_NEVER, config.in_order = false;
    if (!code) code = fleet_settings_open_bus(cli, &bus, err);
    if (!code) code = range_open(bus, &config, &range, err);
    replay_catch_interrupts();
    if (!code) code = judge_range(&w, range, err);
    range_close(range);
    if (bus) bus_close(bus);
    if (w.passed_over)
        complain("%llu judged, %llu skipped", (unsigned long long)w.judged, (unsigned long long)w.passed_over);
    return code;
}
