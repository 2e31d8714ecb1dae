/* LIKE and GLOB. The code follows SQLite 3.40 line by line, but charges its work, so it can be stopped (work.h). */
#ifndef ASSAY_LIB_DB_SQLITE_MATCH_H
#define ASSAY_LIB_DB_SQLITE_MATCH_H

#include "lib/db/work.h"

#include <stdint.h>

struct match {
    uint32_t all, one; /* "%" and "_" of LIKE, or "*" and "?" of GLOB; 0 if disabled */
    uint32_t other;    /* the escape character of LIKE (0 if there is none), or "[" of GLOB */
    bool fold, sets;   /* fold: ignore the case of ASCII letters; sets: [...] is a set of characters */
    struct work *work;
};

enum match_outcome {
    MATCH_YES,
    MATCH_NO,
    MATCH_NO_FURTHER, /* no match here or at any later position */
    MATCH_OVER        /* the statement must stop */
};

struct match match_like(struct work *work);
struct match match_glob(struct work *work);
/* Sets the escape character of LIKE. Returns false if `escape` is not exactly one character. */
bool match_set_escape(struct match *match, const char *escape);

/* Matches `text` with the pattern. Both end at their first NUL and may contain any bytes. The recursion depth is at
 * most the number of `all` characters in the pattern. */
enum match_outcome match_text(const struct match *match, const char *pattern, const char *text);

#endif
