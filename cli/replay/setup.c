/* Converts flags to a replay: checks their combinations, and computes the range of a topic. */
#include "cli/replay/replay.h"
#include "cli/settings/fleet_settings.h"
#include "proto/bus/source.h"

#include <string.h>
#include <sys/stat.h>

volatile sig_atomic_t replay_interrupted;

static void on_interrupt(int number)
{
    (void)number;
    replay_interrupted = 1;
}

void replay_catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool replay_is_full_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
}

/* True for a topic that a fleet itself reads or writes. */
static bool is_of_fleet(const char *topic)
{
    static const char *const names[] = {BUS_REQUESTS, BUS_RESULTS, BUS_VERDICTS, BUS_FEEDBACK,
                                        BUS_TRACES,   BUS_DLQ,     BUS_TASKS_DLQ};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(topic, names[i]) == 0) return true;
    return g_str_has_prefix(topic, BUS_TASKS_PREFIX);
}

struct rule {
    bool wrong;
    const char *says;
};

/* Prints the first broken rule. Returns true if no rule is broken. */
static bool all_hold(const struct rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!rules[i].wrong) continue;
        complain("%s", rules[i].says);
        return false;
    }
    return true;
}

bool replay_check_range(const struct settings *s)
{
    bool bounds = s->past.from_offset >= 0 || s->past.to_offset >= 0 || s->past.from_time || s->past.to_time;
    const struct rule rules[] = {
        {!s->past.from_topic && bounds, "--from-offset, --from-time, --to-offset and --to-time need --from-topic"},
        {s->past.from_offset >= 0 && s->past.from_time, "--from-offset and --from-time cannot be combined"},
        {s->past.to_offset >= 0 && s->past.to_time, "--to-offset and --to-time cannot be combined"},
    };
    return all_hold(rules, G_N_ELEMENTS(rules));
}

bool replay_check_group(const struct settings *s)
{
    const struct rule rule = {!strcmp(s->past.group, s->coordinator.group) || !strcmp(s->past.group, s->worker.group),
                              "--group must not be a consumer group of the fleet"};
    return all_hold(&rule, 1);
}

bool replay_check(const struct cli *cli)
{
    const struct settings *s = &cli->settings;
    const char *from = s->past.from_topic, *to = s->past.to_topic;
    const struct rule rules[] = {
        {!from && !cli->n_args, "too few arguments: expected a LOG or --from-topic=TOPIC"},
        {from && cli->n_args, "a LOG and --from-topic cannot be combined"},
        {to && s->replay.out, "--out and --to-topic cannot be combined"},
        {to && is_of_fleet(to),
         "--to-topic must not be a topic of the fleet: its consumers would take old verdicts for new ones"},
        {to && from && strcmp(to, from) == 0, "--to-topic and --from-topic must differ"},
        {to && !from && s->replay.resume, "--resume with a LOG needs --out"},
    };
    return all_hold(rules, G_N_ELEMENTS(rules)) && replay_check_group(s) && replay_check_range(s);
}

static enum err_code point(const char *time, int64_t offset, enum range_kind none, struct range_point *out,
                           struct err *err)
{
    *out = (struct range_point){none, 0};
    if (offset >= 0) *out = (struct range_point){RANGE_OFFSET, offset};
    if (!time) return ERR_OK;
    out->kind = RANGE_TIME;
    if (source_parse_time(time, &out->value)) return ERR_OK;
    return err_set(err, ERR_CONFIG,
                   "'%.80s' is not a time" ERR_HINT "use 2026-03-01T12:00:00Z, or milliseconds since 1970", time);
}

enum err_code replay_range(const struct settings *s, struct range_config *out, struct err *err)
{
    *out = (struct range_config){.topic = s->past.from_topic,
                                 .group = s->past.group,
                                 .resume = s->replay.resume && s->past.to_topic,
                                 .in_order = true};
    enum err_code code = point(s->past.from_time, s->past.from_offset, RANGE_FIRST, &out->from, err);
    return code ? code : point(s->past.to_time, s->past.to_offset, RANGE_LAST, &out->to, err);
}

/* Opens the topic of feedback. The consumer group belongs to no fleet and commits no offsets, so each run reads the
 * same range. */
static enum err_code open_topic(struct cli *cli, struct bus **bus, struct source *topic, struct err *err)
{
    struct range_config config;
    enum err_code code = replay_range(&cli->settings, &config, err);
    config.group = "assay-train";
    if (code == ERR_OK) code = fleet_settings_open_bus(cli, bus, err);
    return code ? code : source_open_topic(topic, *bus, &config, err);
}

enum err_code replay_read_feedback(struct cli *cli, const char *const *paths, int n, input_skipped skipped,
                                   struct feedback **out, struct err *err)
{
    struct bus *bus = NULL;
    struct source topic = {0};
    bool remote = cli->settings.past.from_topic != NULL;
    enum err_code code = remote ? open_topic(cli, &bus, &topic, err) : ERR_OK;
    if (!code) code = feedback_read(paths, n, remote ? &topic : NULL, skipped, out, err);
    source_close(&topic);
    if (bus) bus_close(bus);
    return code;
}
