/* Compares two sets of verdicts on the same requests, for `assay diff`.
 *
 * DESIGN. One side is indexed; the other is streamed. The index (diff_ids.c) holds a hash, an offset and a line number
 * for each id, but no verdict. So memory is about 45 bytes for each verdict, plus the longest line. The verdict itself
 * is read again from the file when its partner arrives. Files of the same replay have the same order, so reading again
 * is sequential. Only the indexed side must be a regular file; the other may be a pipe. Rejected: sorting both sides to
 * temporary files. It costs twice their size on disk to save memory that is not scarce.
 *
 * Thread: any; one for each comparison.
 */
#ifndef ASSAY_EVAL_DIFF_H
#define ASSAY_EVAL_DIFF_H

#include "eval/label.h"
#include "lib/base/input.h"

#include <glib.h>
#include <jansson.h>
#include <xxhash.h>

/* --- diff_ids.c: the position of each id --- */

struct diff_id {
    XXH128_hash_t hash;
    uint64_t start; /* byte offset at which its line starts */
    uint32_t line;  /* line number, at most UINT32_MAX; for messages only */
    bool matched;   /* the other side has this id too */
    bool foreign;   /* only the streamed side has this id */
};

struct diff_ids {
    struct diff_id *all; /* entries in order of the file */
    uint32_t *slots;     /* open addressing, 1 + index into `all`; 0 if free */
    uint32_t n, room, n_slots;
    uint64_t seed; /* random seed of the hash, so that an attacker cannot choose colliding ids */
};

enum { DIFF_MAX_IDS = 1U << 30 };

void diff_ids_init(struct diff_ids *ids);
void diff_ids_free(struct diff_ids *ids);

/* Returns the entry of an id, and creates it if it is new (*fresh). Returns NULL if DIFF_MAX_IDS entries exist. The
 * entry is valid until the next call. */
struct diff_id *diff_ids_take(struct diff_ids *ids, const char *id, bool *fresh);

/* Returns the entry of an id, or NULL. */
struct diff_id *diff_ids_find(const struct diff_ids *ids, const char *id);

/* --- diff_compare.c: two verdicts --- */

enum diff_field {
    DIFF_STATUS,
    DIFF_REASON,
    DIFF_SQL, /* compared in normal form */
    DIFF_P,
    DIFF_SIGNALS,
    DIFF_CANDIDATES,   /* the candidates differ, so the requests differ */
    DIFF_EXPLANATIONS, /* compared only if diff_rules.explanations is set */
    DIFF_FIELD_COUNT
};

const char *diff_field_name(enum diff_field field);

/* The compared parts of a verdict in JSON. Points into `json`. */
struct diff_verdict {
    json_t *json;
    const char *id, *db, *reason, *sql, *gold;
    enum msg_status status;
    double p; /* NAN if missing */
    uint64_t line;
};

/* Parses a line. Free with diff_verdict_free. Returns false, with the reason in `err`, if the line is not a verdict. */
bool diff_verdict_read(const struct lines *lines, struct diff_verdict *out, struct err *err);
void diff_verdict_free(struct diff_verdict *verdict);

/* A changed state of a candidate's signal. */
struct diff_signal {
    uint32_t candidate;
    const char *name;
    enum msg_state from, to;
};

/* Correctness of an answer. */
enum diff_right { DIFF_UNKNOWN, DIFF_WRONG, DIFF_RIGHT };

struct diff_pair {
    struct diff_verdict side[2]; /* A, B */
    unsigned fields;             /* bits of the changed fields */
    GArray *signals;             /* struct diff_signal */
    enum diff_right right[2];
    bool measured; /* gold was available and usable */
};

struct diff_rules {
    double tolerance; /* tolerance of p_correct */
    bool explanations;
};

/* Sets fields and signals (which must be an empty array). */
void diff_compare(struct diff_pair *pair, const struct diff_rules *rules);

/* True if two texts have the same normal form. NULL equals only NULL. Texts that do not parse are compared byte by
 * byte. */
bool diff_same_sql(const char *a, const char *b);

/* --- totals --- */

enum { DIFF_STEPS = 6, DIFF_MAX_SIGNALS = 1024 };
extern const double diff_steps[DIFF_STEPS]; /* upper bounds of |change of p_correct|; the last is 1 */

struct diff_tally {            /* counts of candidates whose state of a signal changed */
    uint64_t gained, lost;     /* the signal started to fire; the signal stopped firing */
    uint64_t blinded, sighted; /* the signal became unavailable; the signal became available */
};

enum diff_measure { DIFF_BY_NOTHING, DIFF_BY_FORM, DIFF_BY_EXECUTION };

struct diff_totals {
    uint64_t verdicts[2], pairs, changed, by_field[DIFF_FIELD_COUNT];
    uint64_t only[2], repeated[2], bad[2];
    uint64_t status[MSG_STATUS_COUNT][MSG_STATUS_COUNT];
    uint64_t p_pairs, up[DIFF_STEPS], down[DIFF_STEPS]; /* pairs with a p_correct on both sides */
    double p_up, p_down, p_sum[2];
    GHashTable *signals; /* name → struct diff_tally */
    enum diff_measure measure;
    /* better, worse: pairs with both answers known, by which side is right */
    uint64_t measured, right[2], better, worse;
    uint64_t unknown[2];           /* answers of measured pairs that stayed DIFF_UNKNOWN */
    uint64_t no_gold, gold_failed; /* pairs that could not be measured */
    uint64_t bad_requests;         /* invalid lines of the log */
};

void diff_totals_init(struct diff_totals *totals);
void diff_totals_free(struct diff_totals *totals);

/* Counts a pair that has been compared and measured. */
void diff_count(struct diff_totals *totals, const struct diff_pair *pair);

/* --- diff_gold.c: correctness of the answers --- */

struct diff_gold;

/* Creates a measurer. It executes queries on `databases`, which must outlive it. If `databases` is NULL, it compares
 * normal forms. */
struct diff_gold *diff_gold_new(const struct worker_databases *databases);
void diff_gold_free(struct diff_gold *gold);

/* Sets pair->right, the correctness of both answers. `db` and `sql` are the database and the gold query; either may be
 * NULL. A pair that cannot be measured is counted and stays DIFF_UNKNOWN. If the gold query fails, returns its error,
 * with the reason in `err`. A missing answer is wrong, as in `assay eval`. If normal forms are compared, an answer that
 * differs from gold stays DIFF_UNKNOWN. */
enum err_code diff_measure(struct diff_gold *gold, struct diff_pair *pair, const char *db, const char *sql,
                           struct diff_totals *totals, struct err *err);

/* --- diff_files.c: the whole comparison --- */

struct diff_files {
    const char *names[2]; /* A, B; one may be "-" or a pipe */
    /* query log with the gold queries; NULL means that the verdicts contain them */
    const char *log;
    const struct worker_databases *databases; /* databases on which gold runs; NULL compares normal forms */
    struct diff_rules rules;
    uint64_t most; /* maximum number of verdicts of a side; more are an error. 0 sets no limit */
    void (*pair)(void *ctx, const struct diff_pair *pair); /* receives a changed pair */
    /* Receives an id that only `side` has (`only` is true), or that `side` repeats. */
    void (*lone)(void *ctx, const char *id, unsigned side, uint64_t line, bool only);
    /* reports a line that is not a verdict, or a gold query that cannot run. May be NULL */
    void (*left_out)(void *ctx, const char *text);
    void *ctx;
};

/* Compares the files and counts into `totals`, which diff_totals_init has set up. Errors: a file is unreadable, is not
 * text or changed during the comparison; both are pipes; there are more than `most` verdicts. */
enum err_code diff_files(const struct diff_files *asked, struct diff_totals *totals, struct err *err);

#endif
