/* Labels candidates by execution: a candidate of a log line is right if its result equals that of the gold query
 * (eval/equal.h). */
#ifndef ASSAY_EVAL_LABEL_H
#define ASSAY_EVAL_LABEL_H

#include "proto/message/msg.h"
#include "worker/worker.h"

enum label { LABEL_FAILED, LABEL_WRONG, LABEL_RIGHT }; /* LABEL_FAILED: the engine refused the query, or it timed out */

enum { LABEL_NONE = UINT32_MAX };

/* The labels of one line of a log. The arrays live in the arena passed to label_line. */
struct labels {
    uint32_t n;
    enum label *of;      /* per candidate */
    const char **errors; /* per candidate: the engine's message, or NULL if it ran */
    bool gold_failed, gold_empty;
    uint32_t first_executable; /* LABEL_NONE if none ran */
    uint32_t majority;         /* first candidate with the most frequent result; 0 if none ran */
    enum label repair;         /* label of the verdict's repair, if label_repair has run */
};

struct labeler;

/* Creates a labeler. `databases` must outlive it. Free with labeler_free. */
struct labeler *labeler_new(const struct worker_databases *databases);
void labeler_free(struct labeler *labeler);

/* Returns the number of databases that could not be opened. If it is not 0, *name and *why describe one of them; they
 * live as long as the labeler. */
uint32_t labeler_unreached(const struct labeler *labeler, const char **name, const char **why);

/* Makes all later time limits count steps of the engine, if the engine counts steps. Training labels are then the same
 * on every machine. Labels for measuring use time, as the reference labeller does. */
void labeler_by_steps(struct labeler *labeler);

/* Returns the stricter of `own` and the limits of the catalogue's entry `name`. The limits of a database's owner apply
 * to labels too. If they stop a gold query, the line has no labels. */
struct db_limits labeler_limits(const struct labeler *labeler, const char *name, const struct db_limits *own);

/* Runs the gold query (20 s) and each candidate (3 s), within labeler_limits, and compares the results. Errors are
 * those of opening the database. A failed gold query makes every candidate wrong. Thread: one at a time. */
enum err_code label_line(struct labeler *labeler, struct arena *arena, const char *db, const char *gold,
                         const struct msg_judged *candidates, uint32_t n, struct labels *out, struct err *err);

/* Labels the repair of a verdict and stores the label in labels->repair. Does nothing if the verdict has no repair. */
enum err_code label_repair(struct labeler *labeler, const struct msg_verdict *verdict, struct labels *labels,
                           struct err *err);

/* Returns the open database, with the limits for candidates, or NULL with `err` set. Owned by the labeler and valid
 * until the next call. */
struct db *labeler_db(struct labeler *labeler, const char *name, const char **path, struct err *err);

/* Returns the DDL of the database's tables, views and indexes, unchanged, for judging without data. Free with g_free.
 * Returns NULL with `err` set if the database is not a SQLite file or is unreadable. */
char *labeler_definitions(struct labeler *labeler, const char *name, struct err *err);

/* Returns the database's schema index from `schemas`, built within `limits` and those of the catalogue, or NULL if it
 * is unavailable. Release with schema_unref. */
struct schema_index *labeler_schema(struct labeler *labeler, struct schema_cache *schemas, const char *name,
                                    const struct db_limits *limits);

#endif
