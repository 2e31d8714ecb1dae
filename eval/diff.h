/* Two sets of verdicts on the same requests: what changed between them. The parts of `assay diff`.
 *
 * DESIGN. One side is indexed, the other streams past it. The index (diff_ids.c) holds a hash, an offset and a line
 * number for each id, never a verdict, so memory is about 45 bytes a verdict whatever they hold, plus the longest line;
 * the verdict itself is read again from the file when its partner comes by. Files made by the same replay are in the
 * same order, and reading again is then reading on. Only what is indexed must be a regular file: the other side may be
 * a pipe. Rejected: sorting both sides to temporary files, which costs the disk twice their size to save memory that is
 * not short.
 *
 * Thread: any, one a comparison.
 */
#ifndef ASSAY_EVAL_DIFF_H
#define ASSAY_EVAL_DIFF_H

#include "eval/label.h"
#include "lib/base/input.h"

#include <glib.h>
#include <jansson.h>
#include <xxhash.h>

/* --- diff_ids.c: where each id stands --- */

struct diff_id {
    XXH128_hash_t hash;
    uint64_t start; /* byte of its line */
    uint32_t line;  /* cut at UINT32_MAX: for messages only */
    bool matched;   /* it has a partner on the other side */
    bool foreign;   /* seen on the streaming side only */
};

struct diff_ids {
    struct diff_id *all; /* in order of the file */
    uint32_t *slots;     /* open addressing, 1 + index into `all`; 0: free */
    uint32_t n, room, n_slots;
    uint64_t seed; /* of the hash, so that nobody can choose ids that collide */
};

enum { DIFF_MAX_IDS = 1U << 30 };

void diff_ids_init(struct diff_ids *ids);
void diff_ids_free(struct diff_ids *ids);

/* The entry of an id, made when it is new (*fresh). NULL: there are DIFF_MAX_IDS. Valid until the next call. */
struct diff_id *diff_ids_take(struct diff_ids *ids, const char *id, bool *fresh);

/* The entry of an id, or NULL. */
struct diff_id *diff_ids_find(const struct diff_ids *ids, const char *id);

/* --- diff_compare.c: two verdicts --- */

enum diff_field {
    DIFF_STATUS,
    DIFF_REASON,
    DIFF_SQL, /* by normal form */
    DIFF_P,
    DIFF_SIGNALS,
    DIFF_CANDIDATES,   /* not the same candidates: the requests differ */
    DIFF_EXPLANATIONS, /* only when asked */
    DIFF_FIELD_COUNT
};

const char *diff_field_name(enum diff_field field);

/* A verdict in JSON, as far as it is compared. Points into `json`. */
struct diff_verdict {
    json_t *json;
    const char *id, *db, *reason, *sql, *gold;
    enum msg_status status;
    double p; /* NAN */
    uint64_t line;
};

/* Take a line apart; the caller owes diff_verdict_free. False: it is no verdict, and `err` says why. */
bool diff_verdict_read(const struct lines *lines, struct diff_verdict *out, struct err *err);
void diff_verdict_free(struct diff_verdict *verdict);

/* A signal of a candidate that says something else now. */
struct diff_signal {
    uint32_t candidate;
    const char *name;
    enum msg_state from, to;
};

/* Is the answer right? */
enum diff_right { DIFF_UNKNOWN, DIFF_WRONG, DIFF_RIGHT };

struct diff_pair {
    struct diff_verdict side[2]; /* A, B */
    unsigned fields;             /* bits of what changed */
    GArray *signals;             /* of struct diff_signal */
    enum diff_right right[2];
    bool measured; /* gold was there, and could be used */
};

struct diff_rules {
    double tolerance; /* of p_correct */
    bool explanations;
};

/* Fill fields and signals (which must be an empty array). */
void diff_compare(struct diff_pair *pair, const struct diff_rules *rules);

/* Do two texts have the same normal form? NULL is equal to NULL only; what does not parse is compared as it is. */
bool diff_same_sql(const char *a, const char *b);

/* --- totals --- */

enum { DIFF_STEPS = 6, DIFF_MAX_SIGNALS = 1024 };
extern const double diff_steps[DIFF_STEPS]; /* upper bounds of |change of p_correct|; the last is 1 */

struct diff_tally {            /* candidates on which a signal ... */
    uint64_t gained, lost;     /* fires now; does not any more */
    uint64_t blinded, sighted; /* cannot look any more; can now */
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
    uint64_t measured, right[2], better, worse; /* better, worse: where both sides are known */
    uint64_t unknown[2];                        /* measured, and neither right nor wrong */
    uint64_t no_gold, gold_failed;              /* pairs that could not be measured */
    uint64_t bad_requests;                      /* lines of the log that are none */
};

void diff_totals_init(struct diff_totals *totals);
void diff_totals_free(struct diff_totals *totals);

/* Count a pair that has been compared and measured. */
void diff_count(struct diff_totals *totals, const struct diff_pair *pair);

/* --- diff_gold.c: which answers are right --- */

struct diff_gold;

/* Measure by execution on these databases, or by normal form when NULL. `databases` must outlive it. */
struct diff_gold *diff_gold_new(const struct worker_databases *databases);
void diff_gold_free(struct diff_gold *gold);

/* Fill pair->right; what cannot be measured stays DIFF_UNKNOWN and is counted, and where the gold query is why, `err`
 * says what is wrong with it. `db` and `sql` are the gold's; either
 * may be NULL. An answer that was not given is wrong, as in `assay eval`; by normal form another text than gold's is
 * neither right nor wrong. */
enum err_code diff_measure(struct diff_gold *gold, struct diff_pair *pair, const char *db, const char *sql,
                           struct diff_totals *totals, struct err *err);

/* --- diff_files.c: all of it --- */

struct diff_files {
    const char *names[2];                     /* A, B; one of them may be "-" or a pipe */
    const char *log;                          /* where gold comes from, in place of the verdicts; NULL: none */
    const struct worker_databases *databases; /* where gold is run; NULL: it is held against answers by normal form */
    struct diff_rules rules;
    uint64_t most;                                         /* verdicts of a side; more end it. 0: any number */
    void (*pair)(void *ctx, const struct diff_pair *pair); /* one that changed */
    /* An id that one side lacks (`only`), or has again; `side` is the one that has it. */
    void (*lone)(void *ctx, const char *id, unsigned side, uint64_t line, bool only);
    void (*left_out)(void *ctx, const char *text); /* a line that is no verdict, gold that cannot be run. May be NULL */
    void *ctx;
};

/* Compare, and count into `totals` (of diff_totals_init). Errors: a file cannot be read, was changed meanwhile, or is
 * no text; both are pipes; more than `most` verdicts. */
enum err_code diff_files(const struct diff_files *asked, struct diff_totals *totals, struct err *err);

#endif
