/* A run: a file of verdicts as `assay replay --out` writes it, one a line, and an index of it that is kept beside it.
 *
 * DESIGN. The index, PATH.index, is a SQLite file of our own with a row a verdict: what is filtered, sorted and counted by,
 * and where its line stands in PATH. The verdict itself is read from there. One pass makes it, in flat memory whatever the
 * lines hold; the summary (distributions, reliability, risk against coverage) is counted in the same pass and kept as JSON,
 * so opening costs nothing. An index fits a file by its size, its time of change and a digest of its head and tail; any
 * other is made anew, under another name first, so that nobody reads half of one. Rejected: to go on where an old index
 * ends when a file has grown. It saves a minute, and every count would then have two ways to come about.
 *
 * Verdict files are hostile: a line that is no verdict is counted and left out, so is one of more than RUN_LINE_BYTES;
 * names past their bounds are counted together.
 */
#ifndef ASSAY_EVAL_RUNS_RUN_INDEX_H
#define ASSAY_EVAL_RUNS_RUN_INDEX_H

#include "worker/worker.h"

#include <jansson.h>
#include <math.h>

enum {
    RUN_INDEX_VERSION = 1,
    RUN_LINE_BYTES = 1 << 20, /* of a verdict; jansson takes up to a hundred times that */
    RUN_SIGNALS = 64,         /* names of signals; the last is RUN_OTHERS */
    RUN_NAMES = 65536,        /* databases; reasons */
    RUN_NAME_BYTES = 256,     /* of a name or an id; more are cut */
    RUN_QUESTION_BYTES = 1024,
    RUN_PAGE = 1000 /* most verdicts of one answer */
};
#define RUN_OTHERS "(others)"

struct run_progress {
    uint64_t bytes, size; /* read; of the file */
    uint64_t verdicts;
};

struct run_index_build {
    const char *path; /* a regular file */
    const char
        *log; /* the query log that was judged, for questions and, where the verdicts have none, gold; NULL: none */
    const struct worker_databases
        *databases; /* where answers are held against gold, by execution; NULL: they are not */
    /* Told now and then. False: stop, which is ERR_CANCELLED. May be NULL. */
    bool (*progress)(void *ctx, const struct run_progress *progress);
    void *ctx;
};

/* Make the index of a file, in place of the one that is there. ERR_IO, ERR_ENCODING (no text at all), ERR_MALFORMED (no
 * line of it is a verdict), ERR_CANCELLED. Thread: any; two at a time are two times the work, and the later one stays. */
enum err_code run_index_build(const struct run_index_build *build, struct err *err);

struct run_index;

/* Open the index of a file. ERR_OK and *out NULL: there is none that fits the file as it is now. ERR_IO: the file itself
 * cannot be read. The caller owes run_index_close. Thread: one at a time. */
enum err_code run_index_open(const char *path, struct run_index **out, struct err *err);
void run_index_close(struct run_index *run);

/* Open it, made anew first where none fits, or where what is asked for (labels, questions) is not in it. */
enum err_code run_index_take(const struct run_index_build *build, struct run_index **out, struct err *err);

/* Are the file and the index beside it still those that it was opened of? Both may be replaced by others meanwhile. */
bool run_index_is_current(const struct run_index *run);

uint64_t run_index_verdicts(const struct run_index *run);

/* The summary (docs/runs.md). Owned by the run. */
const json_t *run_index_summary(const struct run_index *run);

#define RUN_SORTS(X)                                                                                                   \
    X(NUMBER, "number", "number")                                                                                      \
    X(SUREST, "-p", "p DESC, number")                                                                                  \
    X(UNSUREST, "p", "p IS NULL, p, number")                                                                           \
    X(SLOWEST, "-ms", "ms DESC, number")                                                                               \
    X(QUICKEST, "ms", "ms, number")                                                                                    \
    X(TELLING, "telling",                                                                                              \
      "CASE WHEN right = 0 THEN 0 WHEN status = 0 THEN 1 ELSE 2 END, CASE WHEN right = 0 THEN -p ELSE "                \
      "coalesce(abs(p - threshold), 2) END, number")

enum run_sort {
#define X(id, name, sql) RUN_BY_##id,
    RUN_SORTS(X)
#undef X
        RUN_SORT_COUNT
};
int run_sort_by_name(const char *name); /* -1: there is none */

struct run_filter {
    int status;                       /* enum msg_status; -1: any */
    const char *db, *reason, *signal; /* NULL: any */
    const char *text;                 /* in the id or the question, without case of ASCII letters; NULL */
    double p_from, p_to;              /* both inclusive; NAN: any, no P too */
    int right;                        /* 1, 0; -1: any */
    enum run_sort sort;
    uint64_t offset;
    uint32_t limit; /* at most RUN_PAGE */
    bool sql;       /* with the answers' SQL, read from the file */
};
#define RUN_FILTER_ALL                                                                                                 \
    ((struct run_filter){.status = -1, .right = -1, .p_from = (double)NAN, .p_to = (double)NAN, .limit = RUN_PAGE})

/* {"total": N, "verdicts": [...]}; the caller owes json_decref. NULL with `err` set. */
json_t *run_index_query(struct run_index *run, const struct run_filter *filter, struct err *err);

/* The n-th verdict of the file, from 1, as it stands there. The caller owes json_decref. NULL with `err`: ERR_REFUSED where
 * there is none; ERR_IO, ERR_MALFORMED where the file has changed. */
json_t *run_index_verdict(struct run_index *run, uint64_t number, struct err *err);

/* {"name", "summary", "all": are these all verdicts?, "rows": at most so many (up to RUN_PAGE), the most telling ones,
 * "verdicts": these in full, by number, as far as RUN_REPORT_BYTES of lines go}; the caller owes json_decref. NULL with
 * `err` set. */
enum { RUN_REPORT_BYTES = 16 << 20 };
json_t *run_index_report(struct run_index *run, const char *name, uint32_t rows, struct err *err);

#endif
