/* Text that is safe to show: bounded, valid UTF-8, without control characters, for any input. */
#ifndef ASSAY_LIB_EXPLAIN_SAY_H
#define ASSAY_LIB_EXPLAIN_SAY_H

#include "lib/db/db.h"

/* A buffer of `max` bytes. Text that does not fit is dropped: `cut` is then set, and an ellipsis ends the text. */
struct say {
    char *text;
    size_t len, max;
    bool cut;
    bool prose; /* prose if true, premise if false */
};

/* Initialises a buffer for at most `max` bytes and a NUL. Returns false if the arena is full. */
bool say_init(struct say *out, struct arena *arena, size_t max, bool prose);
void say_clear(struct say *out);

/* Appends trusted text unchanged. */
void say(struct say *out, const char *text);
/* Appends `premise` or `prose`, depending on the rendering of `out`. */
void say_either(struct say *out, const char *premise, const char *prose);
/* Appends the number. */
void say_count(struct say *out, uint64_t n);
/* Appends "1 row" or "7 rows". */
void say_counted(struct say *out, uint64_t n, const char *one, const char *many);
/* Appends untrusted bytes. Invalid UTF-8 becomes U+FFFD, and control characters become spaces. An ellipsis replaces the
 * text beyond `most` bytes. */
void say_bytes(struct say *out, const char *bytes, size_t len, size_t most);
/* Appends the bytes in single quotes, with inner quotes doubled. */
void say_quoted(struct say *out, const char *bytes, size_t len, size_t most);
/* Appends a value of the database: 'text', 12, 1.5 or NULL. Of a blob it appends only the size. */
void say_value(struct say *out, const struct db_value *value);

/* Appends the separator before entry `i` of `n`: "", ", " or " and ". */
void say_comma(struct say *out, uint32_t i, uint32_t n);

#endif
