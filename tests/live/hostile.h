/* Runs hostile statements against a server. After each one it checks that the server runs, the data are unchanged, no
 * object was created, and the handle still answers. */
#ifndef ASSAY_TESTS_LIVE_HOSTILE_H
#define ASSAY_TESTS_LIVE_HOSTILE_H

#include "lib/db/db.h"

struct hostile {
    struct db *db;       /* has HOSTILE_LIMITS and a table t of three rows */
    struct arena *arena; /* reset after each statement */
    /* Returns the state of the server that a statement could change, as one text. Free with g_free. */
    char *(*traces)(void *ctx);
    void *ctx;
    char *before; /* state before the statements; set by hostile_begin */
    unsigned n, failures;
    double slowest; /* ms */
};
extern const struct db_limits HOSTILE_LIMITS;

void hostile_begin(struct hostile *suite);
/* Runs one statement. `class` is the expected error code, such as "refused" or "engine". The classes "limit", "bounded"
 * and "said no" each cover several codes. */
void hostile_attack(struct hostile *suite, const char *name, const char *class, const char *sql, size_t len);
/* Likewise; the statement is `before`, then `part` n times, then `after`. */
void hostile_attack_repeated(struct hostile *suite, const char *class, const char *before, const char *part, unsigned n,
                             const char *after);
/* Runs all statements of TEST_DATA/hostile/<file>. An entry is "### name: class", then one statement up to the next
 * blank line. */
void hostile_attack_list(struct hostile *suite, const char *file);
/* Returns true if the session settings that a candidate could have changed are unchanged. */
bool hostile_session_is_clean(struct hostile *suite);
/* Asserts that no statement failed. */
void hostile_end(struct hostile *suite);

#endif
