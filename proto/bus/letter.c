/* DESIGN: a dead letter is built in place, without allocation.
 *
 * The caller owns `struct letter`, which holds the texts of the added headers. Key, value and the message's own headers
 * are not copied: the bus_out points to them. Every part has a fixed bound, so a letter always fits its topic. The
 * value is cut last, to the bytes that the other parts leave. Headers named x-dlq-* of an earlier letter are dropped,
 * except for x-dlq-first-seen and x-dlq-redriven, whose values are used again.
 */
#include "proto/bus/letter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX     "x-dlq-"
#define FIRST_SEEN PREFIX "first-seen"
#define REDRIVEN   PREFIX "redriven"
#define CUT        PREFIX "cut"

enum { OURS = 14 };
_Static_assert(LETTER_OWN + OURS <= BUS_MAX_HEADERS, "a letter's headers fit");

static void add(struct letter *letter, const char *name, const char *value)
{
    if (!value) return;
    letter->headers[letter->n_headers++] = (struct bus_header){name, value, (uint32_t)strlen(value)};
}

static bool is_ours(const struct bus_header *header)
{
    return strncmp(header->name, PREFIX, strlen(PREFIX)) == 0;
}

/* Adds the message's own headers, without those of an earlier letter. Returns false if some of them did not fit. */
static bool add_own(struct letter *letter, const struct bus_message *message)
{
    size_t bytes = 0;
    bool all = true;
    for (uint32_t i = 0; i < message->n_headers; i++) {
        const struct bus_header *header = &message->headers[i];
        if (is_ours(header)) continue;
        size_t more = strlen(header->name) + header->len;
        bool fits = letter->n_headers < LETTER_OWN && bytes + more <= LETTER_OWN_BYTES;
        if (fits) letter->headers[letter->n_headers++] = *header, bytes += more;
        all = all && fits;
    }
    return all;
}

/* Copies at most size - 1 bytes of the text, cut at the end of a character. Returns `out`. */
static const char *cut(char *out, size_t size, const char *text)
{
    size_t len = strnlen(text, size);
    if (len == size) {
        len = size - 1;
        while (len && ((unsigned char)text[len] & 0xC0) == 0x80) len--;
    }
    memcpy(out, text, len);
    out[len] = '\0';
    return out;
}

static const char *host_name(struct letter *letter)
{
    if (gethostname(letter->host, sizeof letter->host) != 0) return NULL;
    letter->host[sizeof letter->host - 1] = '\0';
    return letter->host;
}

/* Formats a number into a field. The value of the expression is the field. */
#define NUMBER(field, format, value) (snprintf(field, sizeof field, format, value), field)

static void add_story(struct letter *letter, const struct bus_message *message, const struct letter_cause *cause)
{
    const char *first = bus_header_get(message, FIRST_SEEN), *again = bus_header_get(message, REDRIVEN);
    add(letter, PREFIX "topic", message->topic);
    add(letter, PREFIX "partition", NUMBER(letter->partition, "%" PRId32, message->partition));
    add(letter, PREFIX "offset", NUMBER(letter->offset, "%" PRId64, message->offset));
    add(letter, PREFIX "code", err_name(cause->code));
    add(letter, PREFIX "message",
        cut(letter->message, sizeof letter->message, cause->text ? cause->text : err_meaning(cause->code)));
    add(letter, PREFIX "attempts", NUMBER(letter->attempts, "%" PRIu32, message->attempts));
    add(letter, REDRIVEN, again ? cut(letter->redriven, sizeof letter->redriven, again) : NULL);
    add(letter, PREFIX "stage", cause->stage);
    add(letter, PREFIX "timestamp", NUMBER(letter->timestamp, "%" PRId64, message->time_ns / 1000000));
    add(letter, FIRST_SEEN,
        first ? cut(letter->first_seen, sizeof letter->first_seen, first)
              : NUMBER(letter->first_seen, "%" PRId64, cause->now_ns / 1000000));
    add(letter, PREFIX "group", cause->group ? cut(letter->group, sizeof letter->group, cause->group) : NULL);
    add(letter, PREFIX "host", host_name(letter));
    add(letter, PREFIX "version", ASSAY_VERSION);
}

/* Checks that the letter has at most `most` bytes. If it has more, reduces *len by the excess and returns false. */
static bool fits(const struct bus_out *out, size_t most, size_t *len)
{
    size_t bytes = bus_out_bytes(out);
    if (bytes <= most) return true;
    size_t over = bytes - most;
    *len -= over < *len ? over : *len;
    return false;
}

void letter_make(struct letter *letter, const struct bus_message *message, const struct letter_cause *cause,
                 const char *topic, size_t most, struct bus_out *out)
{
    static const size_t NAMES = sizeof CUT + sizeof "headers,key,value";
    letter->n_headers = 0;
    bool headers = add_own(letter, message), key = message->key_len <= LETTER_KEY;
    add_story(letter, message, cause);
    *out = (struct bus_out){
        .topic = topic,
        .partition = BUS_ANY_PARTITION,
        .key = message->key,
        .key_len = key ? message->key_len : LETTER_KEY,
        .value = message->value,
        .len = message->len,
        .headers = letter->headers,
        .n_headers = letter->n_headers,
    };
    bool value = fits(out, most > NAMES ? most - NAMES : 0, &out->len);
    snprintf(letter->cut, sizeof letter->cut, "%s%s%s", headers ? "" : "headers,", key ? "" : "key,",
             value ? "" : "value,");
    if (headers && key && value) return;
    letter->cut[strlen(letter->cut) - 1] = '\0';
    add(letter, CUT, letter->cut);
    out->n_headers = letter->n_headers;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Reads a number from a header, or `usual` if the header is missing. Returns false if the text is not a number from 0
 * to `most`. */
static bool read_number(const struct bus_message *message, const char *name, int64_t most, int64_t usual, int64_t *out)
{
    const char *text = bus_header_get(message, name);
    char *end = NULL;
    *out = usual;
    if (!text) return true;
    if (*text < '0' || *text > '9' || strlen(text) > 18) return false;
    *out = strtoll(text, &end, 10);
    return *end == '\0' && *out <= most;
}

static bool read_numbers(const struct bus_message *message, struct letter_origin *out)
{
    int64_t partition, attempts, redriven;
    if (!read_number(message, PREFIX "partition", INT32_MAX, -1, &partition) ||
        !read_number(message, PREFIX "offset", INT64_MAX, -1, &out->offset) ||
        !read_number(message, PREFIX "timestamp", INT64_MAX, -1, &out->timestamp_ms) ||
        !read_number(message, FIRST_SEEN, INT64_MAX, -1, &out->first_seen_ms) ||
        !read_number(message, PREFIX "attempts", UINT32_MAX, 0, &attempts) ||
        !read_number(message, REDRIVEN, UINT32_MAX - 1, 0, &redriven))
        return false;
    out->partition = (int32_t)partition;
    out->attempts = (uint32_t)attempts;
    out->redriven = (uint32_t)redriven;
    return true;
}

enum err_code letter_read(const struct bus_message *message, struct letter_origin *out, struct err *err)
{
    *out = (struct letter_origin){
        .topic = bus_header_get(message, PREFIX "topic"),
        .code = bus_header_get(message, PREFIX "code"),
        .stage = bus_header_get(message, PREFIX "stage"),
        .text = bus_header_get(message, PREFIX "message"),
        .group = bus_header_get(message, PREFIX "group"),
        .host = bus_header_get(message, PREFIX "host"),
        .version = bus_header_get(message, PREFIX "version"),
        .cut = bus_header_get(message, CUT),
    };
    if (!out->topic || !*out->topic)
        return err_set(err, ERR_MALFORMED, "the dead letter does not name its original topic");
    if (!read_numbers(message, out)) return err_set(err, ERR_MALFORMED, "a header of the dead letter is not a number");
    return ERR_OK;
}

enum err_code letter_again(struct letter *letter, const struct bus_message *message, struct bus_out *out,
                           struct err *err)
{
    struct letter_origin origin;
    enum err_code code = letter_read(message, &origin, err);
    if (code) return code;
    if (origin.cut) return err_set(err, ERR_LIMIT_BYTES, "the dead letter holds only a part of the message");
    letter->n_headers = 0;
    add_own(letter, message);
    add(letter, REDRIVEN, NUMBER(letter->redriven, "%" PRIu32, origin.redriven + 1));
    add(letter, FIRST_SEEN, bus_header_get(message, FIRST_SEEN));
    *out = (struct bus_out){
        .topic = origin.topic,
        .partition = origin.partition,
        .key = message->key,
        .key_len = message->key_len,
        .value = message->value,
        .len = message->len,
        .headers = letter->headers,
        .n_headers = letter->n_headers,
    };
    return ERR_OK;
}
