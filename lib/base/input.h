/* Reads whole files, and query logs line by line, with limits on size. */
#ifndef ASSAY_LIB_BASE_INPUT_H
#define ASSAY_LIB_BASE_INPUT_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    INPUT_MAX_BYTES = 16 << 20, /* maximum size of a whole file, and of a line of a log */
    INPUT_HEAD_BYTES = 4096,    /* bytes of a log that are inspected on opening */
    INPUT_FIRST_LINES = 5       /* a log has a JSON object among its first lines */
};

struct input {
    char *text; /* `len` bytes and a NUL */
    size_t len;
};

/* Reads a whole file, or standard input for "-", and removes a byte-order mark. Free *out with input_free. Errors:
 * ERR_IO, ERR_LIMIT_BYTES. */
enum err_code input_read(const char *path, struct input *out, struct err *err);
void input_free(struct input *input);

/* Iterates over the lines of a log. Holds one line in memory at a time. */
struct lines {
    FILE *file;
    const char *path;
    char *text; /* the current line, without its newline, NUL-terminated */
    size_t len, cap;
    uint64_t number;             /* number of the current line, from 1 */
    uint64_t start;              /* offset of the current line in the file */
    uint64_t offset;             /* bytes of the file read so far */
    uint64_t size;               /* bytes of the file; 0 if it is not a regular file */
    char head[INPUT_HEAD_BYTES]; /* first bytes of the log, inspected on opening */
    size_t head_len, head_at;    /* bytes in `head`; bytes of it that have been returned */
    bool empty;                  /* all lines are blank */
    bool is_log;                 /* a line was a JSON object */
    unsigned strange;            /* lines before it that are not JSON objects */
    int failed;                  /* errno of a failed read; 0 if none failed */
    bool too_long;               /* the line exceeds INPUT_MAX_BYTES; `text` is empty */
};

/* Returns a position such as "log.jsonl:7". Free with g_free. */
char *lines_where(const struct lines *lines);

/* Reports a line of a log, or a record of a topic, that cannot be used. `where` is its position, `why` the reason.
 * Callers may pass NULL instead. */
typedef void (*input_skipped)(const char *where, const char *why);

/* Opens a log, or standard input for "-", and skips a byte-order mark. Blocks until the first line is available. Close
 * with lines_close. Errors: ERR_IO; ERR_ENCODING if the input is not text. */
enum err_code lines_open(const char *path, struct lines *out, struct err *err);

void lines_close(struct lines *lines);

/* Advances to the next line. Returns 1 for a line and 0 at the end. Returns -1 if reading failed, or if none of the
 * first INPUT_FIRST_LINES lines was a JSON object; lines_error then has the reason. Blank lines are skipped, but
 * `number` counts them. */
int lines_next(struct lines *lines);

/* Returns the reason why lines_next or lines_at returned -1. The text is valid until the thread's next call. */
const char *lines_error(const struct lines *lines);

/* Reads the line that begins at byte `start` of a regular file. `number` is the number of that line. Returns the same
 * values as lines_next. */
int lines_at(struct lines *lines, uint64_t start, uint64_t number);

/* Iterates over several logs in order. The caller initialises `paths` and `n`, and reads the current line from `lines`.
 */
struct logs {
    const char *const *paths;
    int n, next;
    bool again;                         /* a pass after the first one */
    void (*on_empty)(const char *path); /* called in the first pass for each empty log; may be NULL */
    struct lines lines;
};

/* Advances to the next line of the logs. Returns 1 for a line and 0 after the last log. Returns -1 and sets `err` if a
 * log cannot be read. */
int logs_next(struct logs *logs, struct err *err);

/* Closes the open log and restarts at the first one. */
void logs_rewind(struct logs *logs);

#endif
