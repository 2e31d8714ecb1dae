/* The sample databases in SQLite and on a server, and their whole log judged on both. Compared are the states of
 * signals, the validity of candidates, and their results. */
#ifndef ASSAY_TESTS_LIVE_SAMPLES_H
#define ASSAY_TESTS_LIVE_SAMPLES_H

#include "lib/db/db.h"

struct samples_server {
    const char *differences; /* below TEST_DATA: every difference with its reason; any other fails */
    /* Creates a database that is filled by the script of a sample, as `rewrite` returns it. */
    struct db *(*open)(const char *script);
    void (*close)(void);
    /* Returns the SQL for both engines in place of a script or candidate (free with g_free), or NULL if it is
     * unchanged. */
    char *(*rewrite)(const char *sql);
};

/* Asserts that there are no other differences. */
void samples_compare(const struct samples_server *server);

#endif
