/* Reading files and logs, in bounds. */
#ifndef ASSAY_LIB_BASE_INPUT_H
#define ASSAY_LIB_BASE_INPUT_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    INPUT_MAX_BYTES = 16 << 20, /* a whole file; also the longest line of a log */
    INPUT_HEAD_BYTES = 4096,    /* of a log, looked at before anything else */
    INPUT_FIRST_LINES = 5       /* one of them is a JSON object, or this is no log */
};

struct input {
    char *text; /* NUL-terminated after `len` bytes */
    size_t len;
};

/* Read a whole file, or standard input for "-", without a byte-order mark. ERR_IO, ERR_LIMIT_BYTES. On success the
 * caller owes input_free. */
enum err_code input_read(const char *path, struct input *out, struct err *err);
void input_free(struct input *input);

/* Lines of a log, one at a time: memory for the longest line, never for the log. */
struct lines {
    FILE *file;
    const char *path;
    char *text; /* the current line, without its newline, NUL-terminated */
    size_t len, cap;
    uint64_t number;             /* of the current line, from 1 */
    uint64_t start;              /* byte at which the current line begins */
    uint64_t offset;             /* bytes read so far */
    uint64_t size;               /* of the file; 0 when it is no regular file */
    char head[INPUT_HEAD_BYTES]; /* what was looked at when it was opened */
    size_t head_len, head_at;    /* bytes of it; those that were handed on */
    bool empty;                  /* there is no line but blank ones */
    bool is_log;                 /* a line was a JSON object */
    unsigned strange;            /* lines before that, which were none */
    int failed;                  /* errno of the read that failed; 0: none */
    bool too_long;               /* the line was longer than INPUT_MAX_BYTES and has been skipped: no text */
};

/* "log.jsonl:7". g_free */
char *lines_where(const struct lines *lines);

/* Called for a line, or a record of a topic, that cannot be used, with its place and the reason. May be NULL. */
typedef void (*input_skipped)(const char *where, const char *why);

/* Open a log, or standard input for "-"; waits for its first line. A byte-order mark is skipped. ERR_IO; ERR_ENCODING
 * when this is no text at all. On success the caller owes lines_close. */
enum err_code lines_open(const char *path, struct lines *out, struct err *err);

void lines_close(struct lines *lines);

/* Go to the next line: 1; 0 at the end; -1 when reading failed, or no line so far was a JSON object and they are
 * INPUT_FIRST_LINES (lines_error). Blank lines are skipped but counted. */
int lines_next(struct lines *lines);

/* Why lines_next or lines_at, just called, returned -1. Of the calling thread. */
const char *lines_error(const struct lines *lines);

/* Go to the line that begins at this byte of a regular file, whose number the caller knows: 1, 0, -1 as above. */
int lines_at(struct lines *lines, uint64_t start, uint64_t number);

/* Several logs, read one after the other. Start with paths and n set; the current line is in `lines`. */
struct logs {
    const char *const *paths;
    int n, next;
    bool again;                         /* not the first time */
    void (*on_empty)(const char *path); /* told once of each that holds no line; NULL: nobody is */
    struct lines lines;
};

/* Go to the next line of any of them: 1; 0 at the end of the last; -1 with `err` set when one cannot be read. */
int logs_next(struct logs *logs, struct err *err);

/* Back to the start of the first; also closes what is open. */
void logs_rewind(struct logs *logs);

#endif
