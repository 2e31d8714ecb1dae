/* The log of a process for its operator: one line for each event, on standard error.
 *
 * DESIGN. A line has a time, a level, the name of the room, a message and fields. In a pipe or file it is JSON; on a
 * terminal it is text. The message comes from a format string of this source code and names the event. External data
 * goes into typed fields:
 *
 * - log_field_text: a name, a path, a code; shown
 * - log_field_sql: SQL; above level debug without its literals, quoted names and comments
 * - log_field_outside: other text from a request, a database or a peer; only at level debug
 *
 * So no literal of a query and no value of a database reaches a stored log. Never log a secret.
 *
 * Bounds. A line has at most LOG_LINE bytes, with control characters escaped, and is one write(2). Messages of one
 * format repeat at most LOG_BURST times within LOG_WINDOW_MS. All lines together are bounded by LOG_ALL a second. The
 * next line that passes reports the number of suppressed ones ("suppressed"). Only the first bound applies to errors.
 *
 * The log belongs to the process, as standard error does: its settings are the only global state of lib/base. Before
 * log_open it writes only errors, as text, because interactive commands report everything else themselves. Thread: any,
 * except for log_open.
 */
#ifndef ASSAY_LIB_BASE_LOG_H
#define ASSAY_LIB_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum { LOG_LINE = 4096, LOG_BURST = 5, LOG_WINDOW_MS = 10000, LOG_ALL = 100, LOG_FIELDS = 8 };

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG, LOG_LEVELS };

enum log_form { LOG_FORM_AUTO, LOG_FORM_TEXT, LOG_FORM_JSON }; /* auto: text on a terminal, otherwise JSON */

/* Map levels and forms to their names and back: "error", "warn", "info", "debug"; "auto", "text", "json". Return -1 for
 * an unknown name. */
const char *log_level_name(enum log_level level);
int log_level_by_name(const char *name);
int log_form_by_name(const char *name);

/* Starts logging with these settings. The caller owns `fd`; a negative one means standard error. Call before threads
 * start. */
void log_open(int fd, enum log_form form, enum log_level most);

/* Stops all output: for a library, whose host program owns standard error. Call before threads start. */
void log_close(void);

/* True if a line of this level would be written. For fields that are expensive to compute. */
bool log_enabled(enum log_level level);

enum log_kind { LOG_TEXT, LOG_NUMBER, LOG_SQL, LOG_OUTSIDE };

/* Created by the functions below. `name` consists of letters and underscores and comes from this source code. The text
 * is borrowed until the line is written. */
struct log_field {
    const char *name;
    enum log_kind kind;
    const char *text; /* NULL omits the field */
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

/* Writes one line. `room` is "worker" or "kafka", for example. Uses at most LOG_FIELDS fields. Preserves errno. */
void log_event(enum log_level level, const char *room, const struct log_field *fields, unsigned n, const char *format,
               ...) __attribute__((format(printf, 5, 6)));

/* Write a line without fields. The arguments of the format are shown unchanged, so they must not be external data. */
void log_error(const char *room, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_warn(const char *room, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_info(const char *room, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_debug(const char *room, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct log_stats {
    uint64_t lines[LOG_LEVELS];
    uint64_t suppressed; /* by the bounds on repetition */
    uint64_t lost;       /* failed writes */
};
void log_get_stats(struct log_stats *out);

#endif
