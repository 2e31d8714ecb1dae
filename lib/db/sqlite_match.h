/* LIKE and GLOB as SQLite 3.40 does them, line by line, looking at the clock inside. */
#ifndef ASSAY_LIB_DB_SQLITE_MATCH_H
#define ASSAY_LIB_DB_SQLITE_MATCH_H

#include "lib/db/work.h"

#include <stdint.h>

struct match {
    uint32_t all, one; /* "%" and "_", "*" and "?"; 0: there is none */
    uint32_t other;    /* the escape of LIKE (0: none), "[" of GLOB */
    bool fold, sets;   /* ASCII letters in either case; [...] is a set */
    struct work *work;
};

enum match_outcome { MATCH_YES, MATCH_NO, MATCH_NO_FURTHER /* nor from any later place */, MATCH_OVER /* of time */ };

struct match match_like(struct work *work);
struct match match_glob(struct work *work);
/* false: the text is not one character. */
bool match_set_escape(struct match *match, const char *escape);

/* Both end at their first NUL, and may be any bytes. The depth of the recursion is the number of `all` in the pattern.
 */
enum match_outcome match_text(const struct match *match, const char *pattern, const char *text);

#endif
