/* Opens a run: a file of verdicts from `assay replay --out`, one verdict for each line. The index of the run is a
 * second file in the same folder.
 *
 * DESIGN. The index, PATH.index, is a SQLite file with one row for each verdict. A row has the values to filter, sort
 * and count by, and the position of its line in PATH. The verdict itself is read from PATH. One pass builds the index
 * in constant memory. The same pass counts the summary (distributions, reliability, risk against coverage), which is
 * stored as JSON, so opening is cheap.
 *
 * An index matches a file by its size, time of change and a digest of its head and tail. Any other index is rebuilt
 * under a temporary name, so no reader sees an incomplete index. Rejected: extending an old index when a file has
 * grown. It would save a minute, but every count would need two implementations.
 *
 * Verdict files are untrusted. A line that is not a verdict, or has more than RUN_LINE_BYTES, is counted and skipped.
 * Names beyond RUN_SIGNALS and RUN_NAMES are counted together as RUN_OTHERS.
 */
#ifndef ASSAY_EVAL_RUNS_RUN_INDEX_H
#define ASSAY_EVAL_RUNS_RUN_INDEX_H

#include "worker/worker.h"

#include <jansson.h>
#include <math.h>

enum {
    RUN_INDEX_VERSION = 1,
    RUN_LINE_BYTES = 1 << 20, /* longest line of a verdict; jansson uses up to a hundred times as much memory */
    RUN_SIGNALS = 64,         /* maximum number of signal names; the last is RUN_OTHERS */
    RUN_NAMES = 65536,        /* maximum number of databases, and of reasons */
    RUN_NAME_BYTES = 256,     /* length of a name or an id; longer ones are cut */
    RUN_QUESTION_BYTES = 1024,
    RUN_PAGE = 1000 /* maximum number of verdicts in one answer */
};
#define RUN_OTHERS "(others)"

struct run_progress {
    uint64_t bytes, size; /* bytes read; size of the file */
    uint64_t verdicts;
};

struct run_index_build {
    const char *path; /* a regular file */
    const char
        /* the judged query log; supplies questions, and gold queries that the verdicts lack. NULL if there is none */
        *log;
    const struct worker_databases
        *databases; /* databases on which answers are compared with gold by execution; NULL disables this */
    /* Called periodically. Returns false to stop with ERR_CANCELLED. May be NULL. */
    bool (*progress)(void *ctx, const struct run_progress *progress);
    void *ctx;
};

/* Builds the index of a file and replaces the old one. Errors: ERR_IO, ERR_ENCODING (not text), ERR_MALFORMED (no line
 * is a verdict), ERR_CANCELLED. Thread: any; concurrent builds are safe, and the last one remains. */
enum err_code run_index_build(const struct run_index_build *build, struct err *err);

struct run_index;

/* Opens the index of a file. Returns ERR_OK and sets *out to NULL if no index matches the file. Returns ERR_IO if the
 * file itself is unreadable. Close with run_index_close. Thread: one at a time. */
enum err_code run_index_open(const char *path, struct run_index **out, struct err *err);
void run_index_close(struct run_index *run);

/* Opens the index. Builds it first if none matches, or if it lacks the requested labels or questions. */
enum err_code run_index_take(const struct run_index_build *build, struct run_index **out, struct err *err);

/* True if the file and the index are still those that were opened. Other processes may replace both. */
bool run_index_is_current(const struct run_index *run);

uint64_t run_index_verdicts(const struct run_index *run);

/* Returns the summary (docs/runs.md). Owned by the run. */
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
int run_sort_by_name(const char *name); /* returns -1 if there is none */

struct run_filter {
    int status;                       /* enum msg_status; -1 for any */
    const char *db, *reason, *signal; /* NULL for any */
    const char *text;    /* text in the id or the question, ignoring the case of ASCII letters; NULL for any */
    double p_from, p_to; /* both inclusive; NAN for any, including no P */
    int right;           /* 1, 0; -1 for any */
    enum run_sort sort;
    uint64_t offset;
    uint32_t limit; /* at most RUN_PAGE */
    bool sql;       /* include the answers' SQL, read from the file */
};
#define RUN_FILTER_ALL                                                                                                 \
    ((struct run_filter){.status = -1, .right = -1, .p_from = (double)NAN, .p_to = (double)NAN, .limit = RUN_PAGE})

/* Returns {"total": N, "verdicts": [...]}, or NULL with `err` set. Release with json_decref. */
json_t *run_index_query(struct run_index *run, const struct run_filter *filter, struct err *err);

/* Returns the n-th verdict of the file, from 1, unchanged. Release with json_decref. Returns NULL with `err` set:
 * ERR_REFUSED if there is none; ERR_IO or ERR_MALFORMED if the file has changed. */
json_t *run_index_verdict(struct run_index *run, uint64_t number, struct err *err);

/* Returns a report, or NULL with `err` set. Release with json_decref. Its members:
 * - "name", "summary"
 * - "all": true if the rows are all verdicts
 * - "rows": at most `rows` (up to RUN_PAGE), the most informative verdicts
 * - "verdicts": these in full, by number, up to RUN_REPORT_BYTES of lines
 */
enum { RUN_REPORT_BYTES = 16 << 20 };
json_t *run_index_report(struct run_index *run, const char *name, uint32_t rows, struct err *err);

#endif
