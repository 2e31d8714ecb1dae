/* Labels by execution: which candidates of a log line give the gold query's answer (eval/equal.h says when that is so).
 */
#ifndef ASSAY_EVAL_LABEL_H
#define ASSAY_EVAL_LABEL_H

#include "proto/message/msg.h"
#include "worker/worker.h"

enum label { LABEL_FAILED, LABEL_WRONG, LABEL_RIGHT }; /* failed: refused by the engine or past the time limit */

enum { LABEL_NONE = UINT32_MAX };

/* One line of a log. Arrays live in the arena that label_line was given. */
struct labels {
    uint32_t n;
    enum label *of;      /* per candidate */
    const char **errors; /* per candidate: the engine's words, NULL when it ran */
    bool gold_failed, gold_empty;
    uint32_t first_executable; /* LABEL_NONE when none ran */
    uint32_t majority;         /* first candidate with the most frequent result, by count; 0 when none ran */
    enum label repair;         /* of the verdict's repair, where a caller has labelled one (label_repair) */
};

struct labeler;

/* `databases` must outlive it. The caller owes labeler_free. */
struct labeler *labeler_new(const struct worker_databases *databases);
void labeler_free(struct labeler *labeler);

/* Number of databases that could not be opened. If there are any, *name and *why are those of one; they live as long as
 * the labeler. */
uint32_t labeler_unreached(const struct labeler *labeler, const char **name, const char **why);

/* From now on the time limits are counted in steps of the engine, where it counts them, so that labels for training are
 * the same on every machine. Labels for measuring use time, as the reference labeller does. */
void labeler_by_steps(struct labeler *labeler);

/* `own`, but no looser than the catalogue's entry of that name: its owner's word holds for labels too. Where it cuts a
 * gold query off, the line has no labels. */
struct db_limits labeler_limits(const struct labeler *labeler, const char *name, const struct db_limits *own);

/* Run the gold query (20 s) and each candidate (3 s), or as long as labeler_limits lets them, and compare. Errors are
 * those of opening the database; a gold query that fails makes every candidate wrong. Thread: one at a time. */
enum err_code label_line(struct labeler *labeler, struct arena *arena, const char *db, const char *gold,
                         const struct msg_judged *candidates, uint32_t n, struct labels *out, struct err *err);

/* The same of the repair that a verdict shows, into labels->repair; nothing where it shows none. */
enum err_code label_repair(struct labeler *labeler, const struct msg_verdict *verdict, struct labels *labels,
                           struct err *err);

/* The open database, with a candidate's limits, for whoever needs more of it; NULL with `err` set. Owned by the
 * labeler, valid until the next call. */
struct db *labeler_db(struct labeler *labeler, const char *name, const char **path, struct err *err);

/* The DDL of its tables, views and indexes, as it stands there, for judging without its data. NULL with `err` set: it is
 * no SQLite file, or cannot be read. The caller owes g_free. */
char *labeler_definitions(struct labeler *labeler, const char *name, struct err *err);

/* Its schema index out of `schemas`, built within `limits` and what the catalogue says; NULL when it cannot be. The caller owes
 * schema_unref. */
struct schema_index *labeler_schema(struct labeler *labeler, struct schema_cache *schemas, const char *name,
                                    const struct db_limits *limits);

#endif
