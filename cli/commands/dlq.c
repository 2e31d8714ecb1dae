/* assay dlq: lists dead letters, and sends them to their original topics again.
 *
 * `list` commits no offsets. `redrive` stores its position as the offsets of the group "assay-dlq-redrive". With
 * --code, it has a separate position for that code, because it skips dead letters of other codes. Each kind of redrive
 * also reads the position of the other kind, so each dead letter is sent once.
 *
 * A position advances only after the brokers have acknowledged the records. So if a redrive dies, some dead letters may
 * be sent twice, but none is lost. Duplicates are harmless, because only the first verdict of a request and the first
 * result of a task count. A run ignores dead letters that are written while it runs. So a dead letter that fails again
 * at once cannot loop.
 *
 * The headers of a dead letter are untrusted, so it is sent only to a topic that the fleet reads.
 */
#include "cli/cli.h"
#include "cli/output/format.h"
#include "cli/output/table.h"
#include "cli/settings/fleet_settings.h"
#include "lib/base/clock.h"
#include "proto/bus/letter.h"
#include "proto/bus/range.h"

#include <stdio.h>
#include <string.h>

enum { POLL_MS = 1000, QUIET_MS = 30000, FLUSH_MS = 60000, STEP = 200, SHOWN_TEXT = 160, SHOWN_VALUE = 4096 };

struct post {
    struct cli *cli;
    struct bus *bus;
    enum format format;
    uint64_t left; /* number of dead letters that may still be sent */
    json_t *rows;  /* rows of the output */
    struct err *err;
};

/* --- reading a topic ---------------------------------------------------------------------------------------------- */

static enum err_code read_time(const char *text, int64_t *ms, struct err *err)
{
    GTimeZone *utc = g_time_zone_new_utc();
    GDateTime *time = g_date_time_new_from_iso8601(text, utc);
    g_time_zone_unref(utc);
    if (!time)
        return err_set(err, ERR_USAGE, "--from-time expects a time such as 2026-01-31T12:00:00Z, got '%.60s'", text);
    *ms = g_date_time_to_unix(time) * 1000 + g_date_time_get_microsecond(time) / 1000;
    g_date_time_unref(time);
    return ERR_OK;
}

static enum err_code open_list(const struct post *post, const char *topic, struct range **out)
{
    const struct settings *s = &post->cli->settings;
    struct range_config config = {
        .topic = topic, .group = "assay-dlq-list", .from = {RANGE_FIRST, 0}, .to = {RANGE_LAST, 0}, .in_order = true};
    enum err_code code = ERR_OK;
    if (s->dlq.from_offset >= 0) config.from = (struct range_point){RANGE_OFFSET, s->dlq.from_offset};
    if (s->dlq.from_time) {
        config.from.kind = RANGE_TIME;
        code = read_time(s->dlq.from_time, &config.from.value, post->err);
    }
    return code ? code : range_open(post->bus, &config, out, post->err);
}

/* Reads the next dead letter. Returns ERR_CLOSED if there are no more, ERR_UNREACHABLE if the brokers do not answer. */
static enum err_code next_letter(struct range *range, const struct bus_message **message, struct err *err)
{
    enum err_code code = ERR_FULL;
    for (int waited = 0; code == ERR_FULL && waited < QUIET_MS; waited += POLL_MS)
        code = range_poll(range, POLL_MS, message, err);
    return code == ERR_FULL ? err_set(err, ERR_UNREACHABLE, "the brokers stopped sending records") : code;
}

/* True for the name of an error code of lib/base/error.h. */
static bool is_known(const char *code)
{
    return strcmp(err_name(err_from_name(code)), code) == 0;
}

static bool is_wanted(const struct post *post, const struct letter_origin *origin)
{
    const char *code = post->cli->settings.dlq.code;
    return !code || (origin->code && strcmp(origin->code, code) == 0);
}

/* --- list --------------------------------------------------------------------------------------------------------- */

/* Returns the text without its quoted parts. They are names and parts of SQL, which may contain literals. */
static char *without_quoted(const char *text)
{
    GString *out = g_string_new(NULL);
    char quote = 0;
    for (const char *c = text ? text : ""; *c; c++) {
        bool opens = !quote && (*c == '\'' || *c == '"'), closes = quote && *c == quote;
        if (!quote || closes) g_string_append_c(out, *c);
        if (opens) g_string_append(out, "...");
        quote = opens ? *c : closes ? 0 : quote;
    }
    return g_string_free(out, FALSE);
}

static json_t *text_json(const struct post *post, const char *text)
{
    if (!text || post->cli->settings.dlq.values) return format_text(text);
    char *plain = without_quoted(text);
    json_t *json = format_text(plain);
    g_free(plain);
    return json;
}

static json_t *value_json(const struct bus_message *message)
{
    char *text = g_utf8_make_valid(message->value ? message->value : "", (gssize)MIN(message->len, SHOWN_VALUE));
    json_t *json = format_text(text);
    g_free(text);
    return json;
}

static json_t *time_json(int64_t ms)
{
    GDateTime *time = ms >= 0 ? g_date_time_new_from_unix_utc(ms / 1000) : NULL;
    char *text = time ? g_date_time_format_iso8601(time) : NULL;
    json_t *json = text ? json_string(text) : json_null();
    if (time) g_date_time_unref(time);
    g_free(text);
    return json;
}

static json_t *letter_json(const struct post *post, const char *topic, const struct bus_message *message)
{
    struct letter_origin origin;
    struct err err = {0};
    json_t *row = json_pack("{s:o, s:i, s:I, s:o, s:I}", "topic", format_text(topic), "partition",
                            (int)message->partition, "offset", (json_int_t)message->offset, "when",
                            time_json(message->time_ns / 1000000), "bytes", (json_int_t)message->len);
    if (letter_read(message, &origin, &err) == ERR_OK) {
        json_object_set_new(row, "code", format_text(origin.code));
        json_object_set_new(row, "stage", format_text(origin.stage));
        json_object_set_new(row, "message", text_json(post, origin.text));
        json_object_set_new(row, "from",
                            json_pack("{s:o, s:i, s:I, s:o}", "topic", format_text(origin.topic), "partition",
                                      (int)origin.partition, "offset", (json_int_t)origin.offset, "when",
                                      time_json(origin.timestamp_ms)));
        json_object_set_new(row, "attempts", json_integer(origin.attempts));
        json_object_set_new(row, "redriven", json_integer(origin.redriven));
        json_object_set_new(row, "first_seen", time_json(origin.first_seen_ms));
        json_object_set_new(row, "group", format_text(origin.group));
        json_object_set_new(row, "host", format_text(origin.host));
        json_object_set_new(row, "version", format_text(origin.version));
    } else {
        json_object_set_new(row, "message", format_text(err.text));
    }
    if (post->cli->settings.dlq.values) json_object_set_new(row, "value", value_json(message));
    return row;
}

static enum err_code list_topic(struct post *post, const char *topic)
{
    struct range *range = NULL;
    enum err_code code = open_list(post, topic, &range);
    while (!code && post->left) {
        const struct bus_message *message;
        struct letter_origin origin = {0};
        code = next_letter(range, &message, post->err);
        if (code) break;
        bool readable = letter_read(message, &origin, NULL) == ERR_OK;
        if (!is_wanted(post, readable ? &origin : &(struct letter_origin){0})) continue;
        json_array_append_new(post->rows, letter_json(post, topic, message));
        post->left--;
    }
    range_close(range);
    return code == ERR_CLOSED ? ERR_OK : code;
}

static const char *field(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static long long number(const json_t *row, const char *key)
{
    return (long long)json_integer_value(json_object_get(row, key));
}

static void print_table(const json_t *rows, bool values, enum format format)
{
    static const struct table_column columns[] = {{"topic"},
                                                  {"at"},
                                                  {"when"},
                                                  {"code"},
                                                  {"from"},
                                                  {"attempts", .right = true},
                                                  {"redriven", .right = true},
                                                  {"message", .wrap = true},
                                                  {"value", .wrap = true},
                                                  {NULL}};
    static struct table_column without[G_N_ELEMENTS(columns)];
    memcpy(without, columns, sizeof columns - 2 * sizeof *columns);
    struct table *table = table_new(values ? columns : without);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i), *from = json_object_get(row, "from");
        table_row(table);
        table_cell(table, 0, "%s", field(row, "topic"));
        table_cell(table, 1, "%lld:%lld", number(row, "partition"), number(row, "offset"));
        table_cell(table, 2, "%s", field(row, "when"));
        table_cell(table, 3, "%s", field(row, "code"));
        if (from)
            table_cell(table, 4, "%s %lld:%lld", field(from, "topic"), number(from, "partition"),
                       number(from, "offset"));
        table_cell(table, 5, "%lld", number(row, "attempts"));
        table_cell(table, 6, "%lld", number(row, "redriven"));
        table_cell(table, 7, "%.*s", SHOWN_TEXT, field(row, "message"));
        if (values) table_cell(table, 8, "%s", field(row, "value"));
    }
    (format == FORMAT_CSV ? table_print_csv : table_print)(table, stdout);
    table_free(table);
}

static void print_rows(const struct post *post)
{
    bool values = post->cli->settings.dlq.values;
    if (post->format == FORMAT_TEXT || post->format == FORMAT_CSV)
        print_table(post->rows, values, post->format);
    else
        format_json_list(post->rows, post->format, stdout);
}

/* --- redrive ------------------------------------------------------------------------------------------------------ */

/* Progress of the other kind of redrive. `code` is the code that it is limited to; NULL means all codes. */
struct place {
    char *code;
    int64_t *from; /* first offset of each partition that was not sent yet */
    uint32_t n;
};

struct drive {
    struct post *post;
    const char *topic;
    struct range *range;
    GArray *places; /* struct place */
    uint64_t sent, passed, unreadable, unsaved;
};

/* True for the topics that the fleet reads. The dead-letter topic of tasks is excluded, although its name begins like a
 * task topic. */
static bool is_ours(const char *topic)
{
    if (strcmp(topic, BUS_REQUESTS) == 0 || strcmp(topic, BUS_RESULTS) == 0) return true;
    return g_str_has_prefix(topic, BUS_TASKS_PREFIX) && strcmp(topic, BUS_TASKS_DLQ) != 0;
}

/* Waits until all sent records are acknowledged, and then commits the position. */
static enum err_code save(struct drive *drive)
{
    struct post *post = drive->post;
    uint32_t n;
    if (post->cli->settings.dlq.dry_run) return ERR_OK;
    enum err_code code = bus_flush(post->bus, FLUSH_MS);
    if (code == ERR_FULL)
        return err_set(post->err, ERR_UNREACHABLE, "the brokers did not acknowledge the messages sent");
    if (code) return bus_health(post->bus, post->err) ? code : err_set(post->err, code, "%s", err_meaning(code));
    const struct range_part *parts = range_parts(drive->range, &n);
    int64_t *next = g_new(int64_t, n + 1);
    for (uint32_t i = 0; i < n; i++) next[i] = parts[i].at;
    code = range_commit(drive->range, next, post->err);
    g_free(next);
    drive->unsaved = 0;
    return code;
}

static enum err_code send_again(struct drive *drive, const struct bus_message *message)
{
    struct post *post = drive->post;
    struct letter letter;
    struct bus_out out;
    enum err_code code = letter_again(&letter, message, &out, post->err);
    if (code) return code;
    drive->sent++;
    post->left--;
    if (post->cli->settings.dlq.dry_run) return ERR_OK;
    code = range_topic_exists(post->bus, out.topic, post->err);
    if (!code) code = bus_produce(post->bus, &out, 1, FLUSH_MS, NULL);
    if (code && !post->err->code) err_set(post->err, code, "cannot send a dead letter: %s", err_meaning(code));
    return code;
}

static enum err_code open_redrive(const struct post *post, const char *topic, const char *only, struct range **out)
{
    char *group = g_strdup_printf("assay-dlq-redrive%s%s", only ? "-" : "", only ? only : "");
    struct range_config config = {.topic = topic,
                                  .group = group,
                                  .from = {RANGE_FIRST, 0},
                                  .to = {RANGE_LAST, 0},
                                  .resume = true,
                                  .in_order = true};
    enum err_code code = range_open(post->bus, &config, out, post->err);
    g_free(group);
    return code;
}

static enum err_code read_place(struct drive *drive, const char *only, struct place *out)
{
    struct range *range;
    uint32_t n;
    enum err_code code = open_redrive(drive->post, drive->topic, only, &range);
    if (code) return code;
    const struct range_part *parts = range_parts(range, &n);
    *out = (struct place){g_strdup(only), g_new0(int64_t, n + 1), n};
    for (uint32_t i = 0; i < n; i++)
        if ((uint32_t)parts[i].partition < n) out->from[parts[i].partition] = parts[i].from;
    range_close(range);
    return ERR_OK;
}

static void place_clear(void *p)
{
    g_free(((struct place *)p)->code);
    g_free(((struct place *)p)->from);
}

static struct place *find_place(const struct drive *drive, const char *code)
{
    for (guint i = 0; i < drive->places->len; i++) {
        struct place *place = &g_array_index(drive->places, struct place, i);
        if (g_strcmp0(place->code, code) == 0) return place;
    }
    return NULL;
}

/* Sets *out to the position of the other kind of redrive for a dead letter, and reads it on first use. Returns ERR_OK
 * with *out NULL if no other redrive can have sent it. */
static enum err_code other_place(struct drive *drive, const struct letter_origin *origin, const struct place **out)
{
    bool coded = drive->post->cli->settings.dlq.code != NULL;
    const char *other = coded ? NULL : origin->code;
    struct place fresh;
    *out = NULL;
    if (!coded && (!other || !is_known(other))) return ERR_OK;
    if ((*out = find_place(drive, other))) return ERR_OK;
    enum err_code code = read_place(drive, other, &fresh);
    if (code) return code;
    g_array_append_val(drive->places, fresh);
    *out = find_place(drive, other);
    return ERR_OK;
}

static bool was_sent(const struct place *place, const struct bus_message *message)
{
    return place && (uint32_t)message->partition < place->n && message->offset < place->from[message->partition];
}

static enum err_code take_letter(struct drive *drive, const struct bus_message *message)
{
    struct letter_origin origin;
    if (letter_read(message, &origin, NULL) || origin.cut || !is_ours(origin.topic)) {
        drive->unreadable++;
        return ERR_OK;
    }
    const struct place *place = NULL;
    bool wanted = is_wanted(drive->post, &origin);
    enum err_code code = wanted ? other_place(drive, &origin, &place) : ERR_OK;
    if (code) return code;
    if (!wanted || was_sent(place, message)) {
        drive->passed++;
        return ERR_OK;
    }
    return send_again(drive, message);
}

static enum err_code redrive_topic(struct post *post, const char *topic)
{
    struct drive drive = {.post = post, .topic = topic, .places = g_array_new(FALSE, FALSE, sizeof(struct place))};
    enum err_code code = open_redrive(post, topic, post->cli->settings.dlq.code, &drive.range);
    g_array_set_clear_func(drive.places, place_clear);
    while (!code && post->left) {
        const struct bus_message *message;
        code = next_letter(drive.range, &message, post->err);
        if (!code) code = take_letter(&drive, message);
        if (!code && ++drive.unsaved == STEP) code = save(&drive);
    }
    if (code == ERR_CLOSED) code = ERR_OK;
    if (!code) code = save(&drive);
    range_close(drive.range);
    g_array_free(drive.places, TRUE);
    json_array_append_new(post->rows,
                          json_pack("{s:o, s:I, s:I, s:I}", "topic", format_text(topic), "sent", (json_int_t)drive.sent,
                                    "passed", (json_int_t)drive.passed, "no_letters", (json_int_t)drive.unreadable));
    return code;
}

static void print_driven(const struct post *post)
{
    static const struct table_column columns[] = {
        {"topic"}, {"sent", .right = true}, {"passed", .right = true}, {"no_letters", .right = true}, {NULL}};
    if (post->format != FORMAT_TEXT && post->format != FORMAT_CSV) {
        format_json_list(post->rows, post->format, stdout);
        return;
    }
    struct table *table = table_new(columns);
    for (size_t i = 0; i < json_array_size(post->rows); i++) {
        const json_t *row = json_array_get(post->rows, i);
        table_row(table);
        table_cell(table, 0, "%s", field(row, "topic"));
        for (unsigned k = 1; k < 4; k++) table_cell(table, k, "%lld", number(row, columns[k].name));
    }
    (post->format == FORMAT_CSV ? table_print_csv : table_print)(table, stdout);
    table_free(table);
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static const struct action {
    const char *name;
    enum err_code (*topic)(struct post *post, const char *topic);
    void (*print)(const struct post *post);
} actions[] = {{"list", list_topic, print_rows}, {"redrive", redrive_topic, print_driven}};

static const struct action *action_of(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
        if (strcmp(actions[i].name, name) == 0) return &actions[i];
    complain("unknown dlq action '%s', expected list or redrive", name);
    return NULL;
}

static bool is_code(const char *name)
{
    if (!name || is_known(name)) return true;
    complain("unknown error code '%s'" ERR_HINT "run `assay dlq list` to see the codes of the dead letters", name);
    return false;
}

static enum err_code run_action(struct post *post, const struct action *action)
{
    static const char *const usual[] = {BUS_DLQ, BUS_TASKS_DLQ};
    const struct string_list *asked = &post->cli->settings.dlq.topics;
    const char *const *topics = asked->n ? asked->items : usual;
    unsigned n = asked->n ? asked->n : G_N_ELEMENTS(usual);
    enum err_code code = fleet_settings_open_bus(post->cli, &post->bus, post->err);
    for (unsigned i = 0; !code && i < n && post->left; i++) code = action->topic(post, topics[i]);
    bus_close(post->bus);
    return code;
}

static int dlq_run(struct cli *cli)
{
    struct err err = {0};
    struct post post = {.cli = cli, .err = &err};
    const struct action *action = action_of(cli->args[0]);
    if (!action || !is_code(cli->settings.dlq.code) || !format_choose(cli, FORMATS_TABLE, &post.format))
        return EXIT_ERROR;
    post.left = cli->settings.dlq.limit ? (uint64_t)cli->settings.dlq.limit : UINT64_MAX;
    post.rows = json_array();
    enum err_code code = run_action(&post, action);
    if (!code || json_array_size(post.rows)) action->print(&post);
    json_decref(post.rows);
    return code ? complain_err("dlq", &err) : 0;
}

const struct command command_dlq = {
    .name = "dlq",
    .guide = "dlq.md",
    .sentence = "list dead letters, or send them again",
    .args = "list|redrive",
    .description = "Lists dead letters, or sends them again. A dead letter is a message that could not be processed. "
                   "It is stored unchanged in a dead-letter topic, with headers for its origin and the reason.\n\n"
                   "list shows the dead letters. Without --values, it hides their contents, and also the names and "
                   "literals that error texts quote.\n\n"
                   "redrive sends dead letters back to their original topic and partition, with their key and headers. "
                   "It increments the header x-dlq-redriven. Run redrive after you have fixed the cause. Each dead "
                   "letter is sent once, because redrive records its progress, separately for each --code. Progress is "
                   "recorded only after the brokers have acknowledged the messages. A redrive that crashes may "
                   "therefore send some messages twice, which changes no verdict.",
    .examples = "assay dlq list --servers kafka:9092\n"
                "assay dlq list --servers kafka:9092 --topic assay.tasks.dlq --code rejected --format jsonl\n"
                "assay dlq redrive --servers kafka:9092 --code rejected --dry-run",
    .main_flags = "servers topic code dry-run limit values format",
    .words = "list redrive",
    .groups =
        (const struct option_group *const[]){&options_dlq, &options_kafka, &options_output, &options_general, NULL},
    .min_args = 1,
    .max_args = 1,
    .run = dlq_run,
};
