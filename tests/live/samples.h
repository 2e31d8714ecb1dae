/* The sample databases in SQLite and on a server, and their whole log judged on both: what each signal says, whether a
 * candidate is valid, and what it answers. */
#ifndef ASSAY_TESTS_LIVE_SAMPLES_H
#define ASSAY_TESTS_LIVE_SAMPLES_H

#include "lib/db/db.h"

struct samples_server {
    const char *differences; /* below TEST_DATA: every difference with its reason; any other fails */
    /* A database filled by the script of a sample, as `rewrite` leaves it. */
    struct db *(*open)(const char *script);
    void (*close)(void);
    /* What both engines are given in place of a script's or candidate's SQL; g_free. NULL: the same. */
    char *(*rewrite)(const char *sql);
};

/* Asserts that there are no other differences. */
void samples_compare(const struct samples_server *server);

#endif
