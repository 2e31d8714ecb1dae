/* Loads the sample databases into SQLite and into a server, and judges their whole log on both. Compares the states of
 * signals, the validity of candidates, and their results. */
#ifndef ASSAY_TESTS_LIVE_SAMPLES_H
#define ASSAY_TESTS_LIVE_SAMPLES_H

#include "lib/db/db.h"

struct samples_server {
    const char *differences; /* file below TEST_DATA that lists every expected difference with its reason */
    /* Creates a database and fills it with the script of a sample, as `rewrite` returned it. */
    struct db *(*open)(const char *script);
    void (*close)(void);
    /* Returns the SQL that replaces a script or candidate on both engines, or NULL to leave it unchanged. Free with
     * g_free. */
    char *(*rewrite)(const char *sql);
};

/* Asserts that there are no differences except the listed ones. */
void samples_compare(const struct samples_server *server);

#endif
