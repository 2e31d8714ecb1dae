/* Hostile statements against a server: after each it lives, the data are the same, nothing was made, and the same handle
 * answers. */
#ifndef ASSAY_TESTS_LIVE_HOSTILE_H
#define ASSAY_TESTS_LIVE_HOSTILE_H

#include "lib/db/db.h"

struct hostile {
    struct db *db;       /* with HOSTILE_LIMITS; has a table t of three rows */
    struct arena *arena; /* reset after each */
    /* Everything that a statement could have left behind, as one text; g_free. */
    char *(*traces)(void *ctx);
    void *ctx;
    char *before; /* set by hostile_begin */
    unsigned n, failures;
    double slowest; /* ms */
};
extern const struct db_limits HOSTILE_LIMITS;

void hostile_begin(struct hostile *suite);
/* One statement: "refused", "engine" ... or, of several codes, "limit", "bounded", "said no". */
void hostile_attack(struct hostile *suite, const char *name, const char *class, const char *sql, size_t len);
/* before, `part` n times, after */
void hostile_attack_repeated(struct hostile *suite, const char *class, const char *before, const char *part, unsigned n,
                             const char *after);
/* All of TEST_DATA/hostile/<file>: "### name: class", then one statement to the next blank line. */
void hostile_attack_list(struct hostile *suite, const char *file);
/* Did the session keep what a candidate could have spoilt? */
bool hostile_session_is_clean(struct hostile *suite);
/* Asserts that nothing failed. */
void hostile_end(struct hostile *suite);

#endif
