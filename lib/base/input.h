/* Reads files and logs within bounds. */
#ifndef ASSAY_LIB_BASE_INPUT_H
#define ASSAY_LIB_BASE_INPUT_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    INPUT_MAX_BYTES = 16 << 20, /* bytes of a whole file, and of the longest line of a log */
    INPUT_HEAD_BYTES = 4096,    /* first bytes of a log, inspected on opening */
    INPUT_FIRST_LINES = 5       /* lines of which at least one must be a JSON object */
};

struct input {
    char *text; /* NUL-terminated after `len` bytes */
    size_t len;
};

/* Reads a whole file, or standard input for "-", and removes a byte-order mark. Free *out with input_free. Errors:
 * ERR_IO, ERR_LIMIT_BYTES. */
enum err_code input_read(const char *path, struct input *out, struct err *err);
void input_free(struct input *input);

/* Iterates over the lines of a log. Uses memory for the longest line, never for the whole log. */
struct lines {
    FILE *file;
    const char *path;
    char *text; /* the current line, without its newline, NUL-terminated */
    size_t len, cap;
    uint64_t number;             /* of the current line, from 1 */
    uint64_t start;              /* byte at which the current line begins */
    uint64_t offset;             /* bytes read so far */
    uint64_t size;               /* of the file; 0 if it is not a regular file */
    char head[INPUT_HEAD_BYTES]; /* first bytes, inspected on opening */
    size_t head_len, head_at;    /* their number; how many have been returned */
    bool empty;                  /* all lines are blank */
    bool is_log;                 /* a line was a JSON object */
    unsigned strange;            /* lines before that which are not JSON objects */
    int failed;                  /* errno of a failed read; 0 if none failed */
    bool too_long;               /* the line was longer than INPUT_MAX_BYTES and was skipped: there is no text */
};

/* Returns a position such as "log.jsonl:7". Free with g_free. */
char *lines_where(const struct lines *lines);

/* Called for an unusable line, or an unusable record of a topic, with its place and the reason. May be NULL. */
typedef void (*input_skipped)(const char *where, const char *why);

/* Opens a log, or standard input for "-", and waits for its first line. Skips a byte-order mark. Close with
 * lines_close. Errors: ERR_IO; ERR_ENCODING if the input is not text. */
enum err_code lines_open(const char *path, struct lines *out, struct err *err);

void lines_close(struct lines *lines);

/* Advances to the next line. Returns 1, or 0 at the end. Returns -1 if reading failed, or if none of the first
 * INPUT_FIRST_LINES lines was a JSON object (lines_error). Blank lines are skipped but counted. */
int lines_next(struct lines *lines);

/* Returns the reason of a -1 of lines_next or lines_at. Valid until the thread's next call. */
const char *lines_error(const struct lines *lines);

/* Goes to the line at this byte of a regular file, whose number the caller supplies. Returns as lines_next. */
int lines_at(struct lines *lines, uint64_t start, uint64_t number);

/* Iterates over several logs in order. Initialise `paths` and `n`; the current line is in `lines`. */
struct logs {
    const char *const *paths;
    int n, next;
    bool again;                         /* true after the first pass */
    void (*on_empty)(const char *path); /* called once for each empty log; may be NULL */
    struct lines lines;
};

/* Advances to the next line of the logs. Returns 1, 0 at the end of the last, or -1 with `err` set if a log cannot be
 * read. */
int logs_next(struct logs *logs, struct err *err);

/* Returns to the start of the first log; closes the open one. */
void logs_rewind(struct logs *logs);

#endif
