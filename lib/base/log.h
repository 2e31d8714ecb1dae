/* Writes the log of a process: one line on standard error for each event.
 *
 * DESIGN. A line has a time, a level, the name of the room, a message and fields. It is JSON in a pipe or file, and
 * text on a terminal. The message names the event; its format string is a constant of the program. External data goes
 * into typed fields:
 *
 * - log_field_text: a name, a path or a code, written at every level
 * - log_field_sql: SQL; unless the level is debug, it is written without literals, quoted names and comments
 * - log_field_outside: other text from a request, a database or a peer; written only if the level is debug
 *
 * So a log of levels error to info contains no literal of a query and no value of a database. Never log a secret.
 *
 * Bounds. A line has at most LOG_LINE bytes, including escapes, and is written with one write(2). At most LOG_BURST
 * lines with the same format are written within LOG_WINDOW_MS. At most LOG_ALL lines a second are written in total;
 * errors are exempt from this bound. A later line reports the number of suppressed lines in its field "suppressed".
 *
 * There is one log for each process, as there is one standard error, so its settings are global. Before log_open only
 * errors are written, as text, because interactive commands report everything else themselves. Thread: any, except for
 * log_open and log_close.
 */
#ifndef ASSAY_LIB_BASE_LOG_H
#define ASSAY_LIB_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum { LOG_LINE = 4096, LOG_BURST = 5, LOG_WINDOW_MS = 10000, LOG_ALL = 100, LOG_FIELDS = 8 };

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG, LOG_LEVELS };

enum log_form { LOG_FORM_AUTO, LOG_FORM_TEXT, LOG_FORM_JSON }; /* AUTO: text on a terminal, otherwise JSON */

/* Convert levels ("error", "warn", "info", "debug") to names, and names of levels and forms ("auto", "text", "json") to
 * values. Return -1 for an unknown name. */
const char *log_level_name(enum log_level level);
int log_level_by_name(const char *name);
int log_form_by_name(const char *name);

/* Sets the output, the form and the most detailed level that is written. The caller owns `fd`; a negative `fd` means
 * standard error. Call it before threads start. */
void log_open(int fd, enum log_form form, enum log_level most);

/* Stops all output. For use as a library, because the host program owns standard error. Call it before threads start.
 */
void log_close(void);

/* True if the settings allow lines of this level. Lets a caller skip fields that are expensive to compute. */
bool log_enabled(enum log_level level);

enum log_kind { LOG_TEXT, LOG_NUMBER, LOG_SQL, LOG_OUTSIDE };

/* A field of a line. Create it with the functions below. `name` is a constant of letters and underscores. `text` is
 * borrowed until the line is written. */
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

/* Writes one line. `room` is a short name such as "worker" or "kafka". Fields beyond LOG_FIELDS are dropped. Preserves
 * errno. */
void log_event(enum log_level level, const char *room, const struct log_field *fields, unsigned n, const char *format,
               ...) __attribute__((format(printf, 5, 6)));

/* Write a line without fields. The arguments of the format are written at every level, so they must not be external
 * data. */
void log_error(const char *room, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_warn(const char *room, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_info(const char *room, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_debug(const char *room, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct log_stats {
    uint64_t lines[LOG_LEVELS];
    uint64_t suppressed; /* lines that exceeded LOG_BURST or LOG_ALL */
    uint64_t lost;       /* lines that were not written completely */
};
void log_get_stats(struct log_stats *out);

#endif
