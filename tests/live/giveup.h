/* Searches for statements that continue in a server after their cancellation. It covers all functions that a gate
 * permits.
 *
 * Each function is called with arguments of several kinds: long texts, long patterns, documents, formats, arrays,
 * numbers. All arguments of a call have one size. This size is halved until the gate permits the statement. A second
 * handle observes when the server has ended the statement. */
#ifndef ASSAY_TESTS_LIVE_GIVEUP_H
#define ASSAY_TESTS_LIVE_GIVEUP_H

#include "lib/db/db.h"

#include <stdio.h>

enum { GIVEUP_LIMIT_MS = 500, GIVEUP_MOST_MS = 1000, GIVEUP_WORST = 12 };

/* The text of one kind of argument for an engine: a letter for the kind, and the SQL text, in which @ is the size. */
struct giveup_kind {
    char letter;
    const char *text;
};

struct giveup_engine {
    const struct giveup_kind *kinds; /* a NULL text ends the list */
    const char *const *others;       /* operators and casts, as expressions with @; NULL ends the list */
    const char *const *short_list;   /* functions that the short form of the search calls; NULL ends the list */
    const char *active;              /* query that counts the other sessions of this role that run a statement */
};

extern const struct giveup_engine giveup_postgres, giveup_mariadb;

struct giveup_case {
    char sql[160];
    double ms; /* time that the server continued after the limit */
};

struct giveup {
    struct db *db, *watch; /* connected as a role that only this search uses */
    struct arena *arena;
    /* Numbers of statements: all, refused in every size, stopped by the limit, ended later than GIVEUP_MOST_MS. */
    unsigned n, n_refused, n_stopped, n_late;
    struct giveup_case worst[GIVEUP_WORST];
};

/* Runs the statement and waits until the server has ended it. Returns false if the gate refused it. */
bool giveup_run(struct giveup *search, const struct giveup_engine *engine, const char *sql);
/* Runs calls of the n functions, and the other expressions. With `full` all shapes are run, otherwise those of the
 * short list. */
void giveup_search(struct giveup *search, const struct giveup_engine *engine, const char *const *functions, size_t n,
                   bool full);
/* Prints the table of results in Markdown. */
void giveup_print(const struct giveup *search, const char *name, FILE *out);

#endif
