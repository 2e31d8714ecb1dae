/* Implements the log (log.h). Each line is built and escaped in a buffer on the stack, and written with one write(2).
 * RESERVE bytes of the buffer stay free, so a truncated line still closes its quotes and brackets. A hash table of
 * formats limits repeated messages. A scanner removes literals from fields that hold SQL. */
#include "lib/base/log.h"

#include "lib/base/clock.h"
#include "lib/base/invisible.h"
#include "lib/base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* MESSAGE: maximum bytes of a message. RESERVE: bytes of a line kept free for its closing characters. SLOTS: size of
 * the hash table of formats. */
enum { MESSAGE = 1024, RESERVE = 64, SLOTS = 64 };

static const char *const level_names[LOG_LEVELS] = {"error", "warn", "info", "debug"};

static struct {
    int fd;
    bool json;
    enum log_level most;
    bool closed;
} settings = {STDERR_FILENO, false, LOG_LEVEL_ERROR, false};

static atomic_ullong lines[LOG_LEVELS], suppressed, lost;

const char *log_level_name(enum log_level level)
{
    return level_names[level];
}

static int find(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

int log_level_by_name(const char *name)
{
    return find(level_names, LOG_LEVELS, name);
}

int log_form_by_name(const char *name)
{
    static const char *const names[] = {[LOG_FORM_AUTO] = "auto", [LOG_FORM_TEXT] = "text", [LOG_FORM_JSON] = "json"};
    return find(names, sizeof names / sizeof *names, name);
}

void log_open(int fd, enum log_form form, enum log_level most)
{
    settings.fd = fd < 0 ? STDERR_FILENO : fd;
    settings.json = form == LOG_FORM_JSON || (form == LOG_FORM_AUTO && !isatty(settings.fd));
    settings.most = most;
    settings.closed = false;
}

void log_close(void)
{
    settings.closed = true;
}

bool log_enabled(enum log_level level)
{
    return level <= settings.most && !settings.closed;
}

void log_get_stats(struct log_stats *out)
{
    for (unsigned i = 0; i < LOG_LEVELS; i++) out->lines[i] = atomic_load(&lines[i]);
    out->suppressed = atomic_load(&suppressed);
    out->lost = atomic_load(&lost);
}

/* --- limits on repetition --- */

/* The current time window of one message. If two messages share a slot, each of them replaces the other's window, so
 * LOG_BURST does not limit them. LOG_ALL still does. */
struct log_slot {
    uint64_t hash;
    int64_t since_ns;
    uint32_t n;
    uint64_t suppressed;
};

static struct {
    pthread_mutex_t lock;
    struct log_slot slots[SLOTS];
    struct log_slot all;
    uint64_t forgotten; /* suppressed lines of messages whose slot another message has taken */
} rates = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t hash_of(uint64_t hash, const char *text)
{
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001B3U;
    return hash;
}

/* Returns true and counts the line if the window has fewer than `max` lines. Begins a new window if the current one has
 * ended. */
static bool fits(struct log_slot *slot, uint32_t max, int64_t length_ns, int64_t now)
{
    if (slot->n == 0 || now - slot->since_ns >= length_ns) {
        slot->since_ns = now;
        slot->n = 0;
    }
    if (slot->n >= max) return false;
    slot->n++;
    return true;
}

/* Returns true if the line may be written. Sets *missed to the number of lines suppressed before it. */
static bool admit(enum log_level level, const char *room, const char *format, uint64_t *missed)
{
    uint64_t hash = hash_of(hash_of(0xCBF29CE484222325U + (uint64_t)level, room), format);
    int64_t now = clock_now_ns();
    pthread_mutex_lock(&rates.lock);
    struct log_slot *slot = &rates.slots[hash % SLOTS];
    if (slot->hash != hash) {
        rates.forgotten += slot->suppressed;
        *slot = (struct log_slot){.hash = hash};
    }
    bool yes = fits(slot, LOG_BURST, LOG_WINDOW_MS * (int64_t)1000000, now);
    if (yes && level != LOG_LEVEL_ERROR) yes = fits(&rates.all, LOG_ALL, 1000000000, now);
    if (yes) {
        *missed = slot->suppressed + rates.forgotten;
        slot->suppressed = rates.forgotten = 0;
    } else {
        slot->suppressed++;
        atomic_fetch_add(&suppressed, 1);
    }
    pthread_mutex_unlock(&rates.lock);
    return yes;
}

/* --- a line --- */

struct log_line {
    char bytes[LOG_LINE];
    size_t len;
    bool cut;
};

/* Appends the whole text. If it does not fit, appends nothing and marks the line as cut. */
static bool put(struct log_line *line, const char *text, size_t len)
{
    if (line->len + len > LOG_LINE - RESERVE) {
        line->cut = true;
        return false;
    }
    memcpy(line->bytes + line->len, text, len);
    line->len += len;
    return true;
}

/* Appends closing characters. May use the reserved bytes. */
static void close_with(struct log_line *line, const char *text)
{
    size_t len = strlen(text), room = sizeof line->bytes - line->len;
    memcpy(line->bytes + line->len, text, len < room ? len : room);
    line->len += len < room ? len : room;
}

static bool put_format(struct log_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool put_format(struct log_line *line, const char *format, ...)
{
    char text[128];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return len >= 0 && (size_t)len < sizeof text && put(line, text, (size_t)len);
}

/* Decodes one valid UTF-8 character of `len` bytes. */
static uint32_t code_point(const char *at, unsigned len)
{
    const unsigned char *byte = (const unsigned char *)at;
    uint32_t point = len == 1 ? byte[0] : byte[0] & (0xFFU >> (len + 1));
    for (unsigned i = 1; i < len; i++) point = point << 6 | (byte[i] & 0x3FU);
    return point;
}

/* Appends one character, escaped as in JSON. Text on a terminal uses the same escapes, because characters could move
 * the cursor or be invisible. A `len` of 0 means an invalid byte. */
static bool put_character(struct log_line *line, const char *at, unsigned len)
{
    if (len == 0) return put(line, "\\ufffd", 6);
    if (*at == '\n') return put(line, "\\n", 2);
    if (*at == '"' || *at == '\\') return put_format(line, "\\%c", *at);
    uint32_t point = code_point(at, len);
    if (!is_invisible(point)) return put(line, at, len);
    if (point < 0x10000) return put_format(line, "\\u%04x", point);
    return put_format(line, "\\u%04x\\u%04x", 0xD7C0 + (point >> 10), 0xDC00 + (point & 0x3FF));
}

static void put_escaped(struct log_line *line, const char *text)
{
    for (const char *at = text; *at;) {
        unsigned len = utf8_length(at);
        if (!put_character(line, at, len)) return;
        at += len ? len : 1;
    }
}

/* --- SQL without its literals --- */

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

/* True for characters that SQL dialects read differently. Read in the wrong dialect, the inside of a literal could
 * appear to be outside of it. So the log omits the SQL from the first such character on. */
static bool is_doubtful(const char *at)
{
    if (strncmp(at, "--", 2) == 0 || strncmp(at, "/*", 2) == 0) return true;
    if (*at == '$') return at[1] < '0' || at[1] > '9';
    return strchr("\\`[#", *at) != NULL;
}

/* Returns the end of a quoted text. Returns the end of the input if the text is not closed or contains a backslash. */
static const char *skip_quoted(const char *at)
{
    char quote = *at;
    for (at++; *at && *at != '\\'; at++)
        if (*at == quote && *++at != quote) return at;
    return at + strlen(at);
}

static void put_sql(struct log_line *line, const char *sql)
{
    for (const char *at = sql; *at;) {
        if (is_doubtful(at)) {
            put(line, "...", 3);
            return;
        }
        bool number = *at >= '0' && *at <= '9';
        if (*at == '\'' || *at == '"' || number) {
            put(line, "?", 1);
            if (!number) at = skip_quoted(at);
            while (number && (is_word(*at) || *at == '.')) at++;
            continue;
        }
        do { /* copy a whole word, so that the 1 of t1 is not taken for a number */
            unsigned len = utf8_length(at);
            if (!put_character(line, at, len)) return;
            at += len ? len : 1;
        } while (is_word(at[-1]) && is_word(*at));
    }
}

/* --- parts of a line --- */

static void put_field(struct log_line *line, const struct log_field *field)
{
    bool json = settings.json, open = settings.most >= LOG_LEVEL_DEBUG;
    if (!field->text || (field->kind == LOG_OUTSIDE && !open)) return;
    if (field->kind == LOG_NUMBER) {
        put_format(line, json ? ",\"%.40s\":%" PRId64 : " %.40s=%" PRId64, field->name, field->number);
        return;
    }
    if (!put_format(line, json ? ",\"%.40s\":\"" : " %.40s=\"", field->name)) return;
    if (field->kind == LOG_SQL && !open)
        put_sql(line, field->text);
    else
        put_escaped(line, field->text);
    close_with(line, "\"");
}

static void put_start(struct log_line *line, enum log_level level, const char *room)
{
    struct timespec now;
    struct tm utc;
    char time[32] = "";
    clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &utc)) strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &utc);
    put_format(line,
               settings.json ? "{\"time\":\"%s.%03ldZ\",\"level\":\"%s\",\"room\":\"%.40s\",\"message\":\""
                             : "%s.%03ldZ %s %.40s: ",
               time, now.tv_nsec / 1000000, level_names[level], room);
}

static void write_line(struct log_line *line)
{
    size_t done = 0;
    while (done < line->len) {
        ssize_t n = write(settings.fd, line->bytes + done, line->len - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            break;
    }
    if (done < line->len) atomic_fetch_add(&lost, 1);
}

static void log_va(enum log_level level, const char *room, const struct log_field *fields, unsigned n,
                   const char *format, va_list args)
{
    struct log_line line = {.len = 0};
    char message[MESSAGE];
    uint64_t missed = 0;
    int before = errno;
    if (log_enabled(level) && admit(level, room, format, &missed)) {
        if (vsnprintf(message, sizeof message, format, args) < 0) message[0] = '\0';
        put_start(&line, level, room);
        put_escaped(&line, message);
        if (settings.json) close_with(&line, "\"");
        if (missed) {
            const struct log_field field = log_field_number("suppressed", (int64_t)missed);
            put_field(&line, &field);
        }
        for (unsigned i = 0; i < n && i < LOG_FIELDS; i++) put_field(&line, &fields[i]);
        if (line.cut) close_with(&line, settings.json ? ",\"cut\":true" : " ...");
        close_with(&line, settings.json ? "}\n" : "\n");
        write_line(&line);
        atomic_fetch_add(&lines[level], 1);
    }
    errno = before;
}

void log_event(enum log_level level, const char *room, const struct log_field *fields, unsigned n, const char *format,
               ...)
{
    va_list args;
    va_start(args, format);
    log_va(level, room, fields, n, format, args);
    va_end(args);
}

#define LOG_AT(name, level)                                                                                            \
    void name(const char *room, const char *format, ...)                                                               \
    {                                                                                                                  \
        va_list args;                                                                                                  \
        va_start(args, format);                                                                                        \
        log_va(level, room, NULL, 0, format, args);                                                                    \
        va_end(args);                                                                                                  \
    }

LOG_AT(log_error, LOG_LEVEL_ERROR)
LOG_AT(log_warn, LOG_LEVEL_WARN)
LOG_AT(log_info, LOG_LEVEL_INFO)
LOG_AT(log_debug, LOG_LEVEL_DEBUG)
