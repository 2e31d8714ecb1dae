/* DESIGN: one type for two kinds of sources. A source with a `range` reads a topic, and one without it reads a log.
 *
 * Both kinds are read record by record, without a buffer of their own. The position of the current record becomes the
 * tag of its request, so an answered request can be matched to its partition. `next` holds the first unanswered offset
 * of each partition; source_commit writes these offsets to the group.
 */
#include "proto/bus/source.h"
#include "proto/bus/position.h"

#include <errno.h>
#include <glib.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { POLL_MS = 20 };

enum err_code source_open_log(struct source *source, const char *path, struct err *err)
{
    *source = (struct source){0};
    return lines_open(path, &source->lines, err);
}

enum err_code source_open_topic(struct source *source, struct bus *bus, const struct range_config *config,
                                struct err *err)
{
    *source = (struct source){.topic = config->topic};
    enum err_code code = range_open(bus, config, &source->range, err);
    if (code) return code;
    source->parts = range_parts(source->range, &source->n_parts);
    source->next = g_new(int64_t, source->n_parts + 1);
    for (uint32_t i = 0; i < source->n_parts; i++) source->next[i] = -1;
    if (source->n_parts <= POSITION_MAX_PARTITIONS) return ERR_OK;
    source_close(source);
    return err_set(err, ERR_LIMIT_COUNT, "%s has more than %d partitions", config->topic, POSITION_MAX_PARTITIONS);
}

void source_close(struct source *source)
{
    lines_close(&source->lines);
    range_close(source->range);
    g_free(source->next);
    *source = (struct source){0};
}

int source_advance(struct source *source, struct err *err)
{
    if (source->range) {
        enum err_code code = range_poll(source->range, POLL_MS, &source->message, err);
        return code == ERR_OK       ? SOURCE_READY
               : code == ERR_FULL   ? SOURCE_LATER
               : code == ERR_CLOSED ? SOURCE_END
                                    : SOURCE_STOP;
    }
    int more = lines_next(&source->lines);
    if (more >= 0) return more ? SOURCE_READY : SOURCE_END;
    if (errno == EINTR) return SOURCE_LATER;
    err_set(err, ERR_IO, "cannot read %s: %s", source->lines.path, lines_error(&source->lines));
    return SOURCE_STOP;
}

uint64_t source_position(const struct source *source)
{
    if (!source->range) return position_line(source->lines.number);
    return position_record(source->message->partition, source->message->offset);
}

bool source_parse_time(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (*text && !*end && !errno) return *out >= 0;
    GTimeZone *utc = g_time_zone_new_utc();
    GDateTime *time = g_date_time_new_from_iso8601(text, utc);
    if (time) *out = g_date_time_to_unix(time) * 1000 + g_date_time_get_microsecond(time) / 1000;
    if (time) g_date_time_unref(time);
    g_time_zone_unref(utc);
    return time && *out >= 0;
}

int64_t source_time_ms(const struct source *source)
{
    if (source->range) return source->message->time_ns / 1000000;
    if (!source->timed || source->lines.too_long) return -1;
    json_t *json = json_loadb(source->lines.text, source->lines.len, 0, NULL);
    const json_t *time = json_object_get(json, "time");
    int64_t ms = -1;
    if (json_is_integer(time))
        ms = json_integer_value(time);
    else if (json_is_string(time) && !source_parse_time(json_string_value(time), &ms))
        ms = -1;
    json_decref(json);
    return ms;
}

/* Returns the id of a request that has none. It is the record's key if that is readable text, and otherwise its
 * partition and offset. */
static const char *record_name(const struct source *source, struct arena *arena)
{
    const struct bus_message *message = source->message;
    bool text = message->key && message->key_len && message->key_len <= MSG_MAX_NAME &&
                g_utf8_validate(message->key, (gssize)message->key_len, NULL);
    if (text) return arena_strndup(arena, message->key, message->key_len);
    return arena_printf(arena, "%d@%lld", message->partition, (long long)message->offset);
}

enum err_code source_read(const struct source *source, struct arena *arena, struct msg_request **out, struct err *err)
{
    const struct lines *lines = &source->lines;
    enum err_code code;
    if (source->range)
        code = edge_read_request(arena, source->message, out, err);
    else if (lines->too_long)
        code = err_set(err, ERR_LIMIT_BYTES, "the line is longer than %d bytes", INPUT_MAX_BYTES);
    else
        code = msg_request_from_json(arena, lines->text, lines->len, out, err);
    if (code != ERR_OK) return code;
    (*out)->tag = source_position(source);
    if (!(*out)->id && source->range) (*out)->id = record_name(source, arena);
    if (!(*out)->id) (*out)->id = arena_printf(arena, "line-%llu", (unsigned long long)lines->number);
    return (*out)->id ? ERR_OK : err_set(err, ERR_LIMIT_MEMORY, "out of memory");
}

const char *source_text(const struct source *source, size_t *len)
{
    const char *text = source->range ? source->message->value : source->lines.text;
    *len = source->range ? source->message->len : source->lines.len;
    return text ? text : "";
}

/* Returns true if the name is short enough for a verdict. */
static bool is_short(const char *name)
{
    return name && strlen(name) <= MSG_MAX_NAME;
}

bool source_name(const struct source *source, struct arena *arena, const char **id, const char **db)
{
    size_t len;
    const char *text = source_text(source, &len);
    json_t *json = json_loadb(text, len, 0, NULL);
    const char *own_id = json_string_value(json_object_get(json, "id")),
               *own_db = json_string_value(json_object_get(json, "db"));
    *id = is_short(own_id) ? arena_strdup(arena, own_id) : NULL;
    *db = is_short(own_db) ? arena_strdup(arena, own_db) : NULL;
    json_decref(json);
    return *id != NULL;
}

char *source_where(const struct source *source)
{
    if (!source->range) return lines_where(&source->lines);
    if (!source->message) return g_strdup(source->topic);
    return g_strdup_printf("%s[%d]@%lld", source->topic, source->message->partition,
                           (long long)source->message->offset);
}

double source_share(const struct source *source)
{
    if (!source->range) return source->lines.size ? (double)source->lines.offset / (double)source->lines.size : -1;
    double read = 0, all = 0;
    for (uint32_t i = 0; i < source->n_parts; i++) {
        read += (double)(source->parts[i].at - source->parts[i].from);
        all += (double)(source->parts[i].to - source->parts[i].from);
    }
    return all > 0 ? read / all : -1;
}

void source_answered(struct source *source, uint64_t place)
{
    if (source->range && position_is_record(place))
        source->next[position_partition(place)] = position_offset(place) + 1;
}

enum err_code source_commit(struct source *source, struct err *err)
{
    return source->range ? range_commit(source->range, source->next, err) : ERR_OK;
}
