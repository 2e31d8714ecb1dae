/* What a process tells its operator: one line an event on standard error.
 *
 * DESIGN. A line has a time, a level, the room that speaks, a message, and fields. Into a pipe or file it is JSON; on a
 * terminal it is text for a person. The message is made from a format of this source (it names what happened); what
 * came from outside goes into fields, which know what they hold:
 *
 *   log_field_text     a name, a path, a code: shown
 *   log_field_sql      SQL: above the level debug without its literals, quoted names and comments
 *   log_field_outside  anything else that a request, a database or a peer said: only at the level debug
 *
 * so that no literal of a query and no value of a database reaches a log that is kept. Never log a secret at all.
 *
 * Bounds. A line is at most LOG_LINE bytes, one write(2), control characters escaped. Messages of one format repeat at
 * most LOG_BURST times within LOG_WINDOW_MS, all lines together at most LOG_ALL times a second; the next of
 * them that passes says how many did not ("suppressed"). Errors count against the first bound alone.
 *
 * The log belongs to the process, as standard error does: settings here are the one global state of lib/base. Until
 * log_open it is errors alone, as text: a command for a person has its own words for the rest. Thread: any for all but
 * log_open.
 */
#ifndef ASSAY_LIB_BASE_LOG_H
#define ASSAY_LIB_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum { LOG_LINE = 4096, LOG_BURST = 5, LOG_WINDOW_MS = 10000, LOG_ALL = 100, LOG_FIELDS = 8 };

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG, LOG_LEVELS };

enum log_form { LOG_FORM_AUTO, LOG_FORM_TEXT, LOG_FORM_JSON }; /* auto: text on a terminal, else JSON */

/* "error", "warn", "info", "debug", and back; "auto", "text", "json". -1: there is none. */
const char *log_level_name(enum log_level level);
int log_level_by_name(const char *name);
int log_form_by_name(const char *name);

/* From now on. `fd` stays the caller's; below 0: standard error. Before threads start. */
void log_open(int fd, enum log_form form, enum log_level most);

/* Nothing is written any more: for a library, whose program's standard error it is. Before threads start. */
void log_close(void);

/* Would a line of this level be written? For fields that are expensive to compute. */
bool log_enabled(enum log_level level);

enum log_kind { LOG_TEXT, LOG_NUMBER, LOG_SQL, LOG_OUTSIDE };

/* Made by the functions below. `name`: letters and underscores, of this source. Borrowed until the line is written. */
struct log_field {
    const char *name;
    enum log_kind kind;
    const char *text; /* NULL: the field is left out */
    int64_t number;
};

static inline struct log_field log_field_text(const char *name, const char *text)
{
    return (struct log_field){name, LOG_TEXT, text, 0};
}
static inline struct log_field log_field_number(const char *name, int64_t number)
{
    return (struct log_field){name, LOG_NUMBER, "", number};
}
static inline struct log_field log_field_sql(const char *name, const char *sql)
{
    return (struct log_field){name, LOG_SQL, sql, 0};
}
static inline struct log_field log_field_outside(const char *name, const char *text)
{
    return (struct log_field){name, LOG_OUTSIDE, text, 0};
}

/* One line. `room`: "worker", "kafka"; at most LOG_FIELDS fields count. Keeps errno. */
void log_event(enum log_level level, const char *room, const struct log_field *fields, unsigned n, const char *format,
               ...) __attribute__((format(printf, 5, 6)));

/* The same without fields. The arguments of the format are shown as they are: none from outside. */
void log_error(const char *room, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_warn(const char *room, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_info(const char *room, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_debug(const char *room, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct log_stats {
    uint64_t lines[LOG_LEVELS];
    uint64_t suppressed; /* by the bounds on repeating */
    uint64_t lost;       /* that could not be written */
};
void log_get_stats(struct log_stats *out);

#endif
