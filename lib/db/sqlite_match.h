/* LIKE and GLOB as in SQLite 3.40, line by line, with checks of the clock inside. */
#ifndef ASSAY_LIB_DB_SQLITE_MATCH_H
#define ASSAY_LIB_DB_SQLITE_MATCH_H

#include "lib/db/work.h"

#include <stdint.h>

struct match {
    uint32_t all, one; /* "%" and "_", or "*" and "?"; 0 if disabled */
    uint32_t other;    /* the escape of LIKE (0 if there is none), or "[" of GLOB */
    bool fold, sets;   /* fold: ASCII letters match in either case; sets: [...] is a set */
    struct work *work;
};

enum match_outcome {
    MATCH_YES,
    MATCH_NO,
    MATCH_NO_FURTHER, /* nor at any later position */
    MATCH_OVER        /* the statement timed out */
};

struct match match_like(struct work *work);
struct match match_glob(struct work *work);
/* Sets the escape of LIKE. Returns false if the text is not one character. */
bool match_set_escape(struct match *match, const char *escape);

/* Matches `text`. Both texts end at their first NUL and may hold any bytes. The recursion depth is the number of `all`
 * in the pattern. */
enum match_outcome match_text(const struct match *match, const char *pattern, const char *text);

#endif
