/* The search for statements that run on in a server after their cancellation, over all functions that a gate permits.
 *
 * Each function is called with arguments of several kinds: long texts, long patterns, documents, formats, arrays,
 * numbers. Each call has one size, which is halved until the gate permits the statement, so the statement runs with the
 * largest permitted size. A second handle observes when the server is done with it. */
#ifndef ASSAY_TESTS_LIVE_GIVEUP_H
#define ASSAY_TESTS_LIVE_GIVEUP_H

#include "lib/db/db.h"

#include <stdio.h>

enum { GIVEUP_LIMIT_MS = 500, GIVEUP_MOST_MS = 1000, GIVEUP_WORST = 12 };

/* The text of an argument kind for an engine: a letter and its text, in which @ is the size. */
struct giveup_kind {
    char letter;
    const char *text;
};

struct giveup_engine {
    const struct giveup_kind *kinds; /* ends at a text that is NULL */
    const char *const *others;       /* operators and casts, as expressions with @; ended by NULL */
    const char *const *short_list;   /* functions of the short form; ended by NULL */
    const char *active;              /* query that counts the other sessions of this role that run a statement */
};

extern const struct giveup_engine giveup_postgres, giveup_mariadb;

struct giveup_case {
    char sql[160];
    double ms; /* time that the server ran on after the limit */
};

struct giveup {
    struct db *db, *watch; /* of a role that only the search uses */
    struct arena *arena;
    /* Numbers of statements: all, always refused, stopped by the limit, and done later than GIVEUP_MOST_MS. */
    unsigned n, n_refused, n_stopped, n_late;
    struct giveup_case worst[GIVEUP_WORST];
};

/* Runs the statement and waits until the server is done. Returns false if the gate refused it. */
bool giveup_run(struct giveup *search, const struct giveup_engine *engine, const char *sql);
/* Runs calls of the n functions and the others: all shapes if `full`, else those of the short list. */
void giveup_search(struct giveup *search, const struct giveup_engine *engine, const char *const *functions, size_t n,
                   bool full);
/* Prints the table of results in Markdown. */
void giveup_print(const struct giveup *search, const char *name, FILE *out);

#endif
